"""What follows from a state: rows counted between thresholds, and the counts at each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import polars as pl

from polars_binmetrics.counts import CELLS

#: What a state holds of each bin, and of the bins below it.
SIDES = ["positives", "negatives"]
BELOW = ["positives_below", "negatives_below"]
#: What is known of a group.
SIZES = ["n_missing", "n_positive", "n_negative", "n_faulty"]
TOTALS = ["n_positive", "n_negative"]


class Sweep(NamedTuple):
    """
    A state and its groups, both sorted.

    The state, ``[group, threshold, *SIDES, *BELOW]``, has a row a bin. A bin reaches from its
    threshold up to the next one; the bin below them all has a null threshold. Faulty rows are
    kept in a bin at NaN. The groups are ``[*by, group, *SIZES]``; `n_faulty` is 0 where no row is
    at fault.

    What lies below is summed from group to group, unless weighted: whole numbers lose nothing,
    and a sum over all rows needs no window.
    """

    state: pl.LazyFrame
    groups: pl.LazyFrame
    by: list[str]
    weighted: bool

    def over(self, bins: pl.LazyFrame) -> Sweep:
        """The same groups with other bins, ``[group, threshold, *SIDES]``."""
        return self._replace(state=from_bins(bins, weighted=self.weighted))

    def counted(self) -> pl.LazyFrame:
        """The bins beside their groups, with the counts at each: [*groups, *state, *CELLS]."""
        state, groups = self.state.set_sorted("group"), self.groups
        if self.weighted:
            # Sums, not differences, which would lose digits.
            groups = groups.drop(TOTALS)
            for columns in (reaching(pl.col), totals(pl.col)):
                state = state.with_columns(**over_groups(columns))
            fn, tn = map(pl.col, BELOW)
            counts = {"fn": fn, "tn": tn}
        else:
            before = (pl.col(TOTALS).cum_sum() - pl.col(TOTALS)).name.suffix(" before")
            groups = groups.with_columns(before)
            fn, tn = (
                pl.col(below) - pl.col(f"{total} before")
                for below, total in zip(BELOW, TOTALS, strict=True)
            )
            tp, fp = (pl.col(total) - low for total, low in zip(TOTALS, (fn, tn), strict=True))
            counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
            # Polars divides by the one number of a single group as by its rounded inverse.
            counts |= {"n_positive": tp + fn, "n_negative": fp + tn}
        joined = state.join(groups, on="group", how="left", maintain_order="left")
        return joined.with_columns(**counts).set_sorted("group")

    def counts(self) -> pl.LazyFrame:
        """The counts at the thresholds: [*by, group, *SIZES, threshold, *CELLS]."""
        table = self.counted().filter(pl.col("threshold").is_not_nan())
        return table.select(*self.by, "group", *SIZES, "threshold", sound(*CELLS))

    def labelled(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """A table of groups with the columns that make a group."""
        groups = self.groups.select("group", *self.by)
        joined = table.join(groups, on="group", how="left", maintain_order="left")
        return joined.select(*self.by, pl.exclude("group", *self.by))


def from_bins(bins: pl.LazyFrame, *, weighted: bool) -> pl.LazyFrame:
    """The state of sorted bins, ``[group, threshold, *SIDES]``."""
    columns = over_groups(below(pl.col)) if weighted else below(pl.col)
    return bins.set_sorted("group").with_columns(**columns)


def from_ends(ends: pl.LazyFrame, *, weighted: bool) -> pl.LazyFrame:
    """
    The state of sorted bins from their ends, ``[group, threshold, *SIDES]``.

    The sides are running sums up to the end of a bin, as those of `BELOW`.
    """
    before = [pl.col(side).shift(1, fill_value=0) for side in SIDES]
    if weighted:
        first = pl.col("threshold").is_null()
        before = [pl.when(first).then(0.0).otherwise(total) for total in before]
    return ends.select(
        "group",
        "threshold",
        *(pl.col(side) - total for side, total in zip(SIDES, before, strict=True)),
        **dict(zip(BELOW, before, strict=True)),
    )


def levels(rollup: bool) -> list[str]:
    """The column that tells the totals of a rolled-up table."""
    return ["level"] if rollup else []


def rolled_up(
    finest: pl.LazyFrame,
    keys: Sequence[str],
    models: Iterable[str],
    *,
    apart: Sequence[str],
    sums: Sequence[str],
) -> pl.LazyFrame:
    """
    Add the totals over the last keys, told by the column `level`, each apart by some columns.

    All rows together are a segment, even if there is none.
    """
    above = [
        finest.group_by(*keys[:level], *apart)
        .agg(pl.col(sums).sum())
        .with_columns(level=pl.lit(level, pl.Int64))
        for level in range(len(keys))
    ]
    none = pl.LazyFrame({"model": list(models)}).with_columns(level=pl.lit(0, pl.Int64))
    finest = finest.with_columns(level=pl.lit(len(keys), pl.Int64))
    table = pl.concat([finest, *above, none], how="diagonal")
    return table.with_columns(pl.col(sums).fill_null(0))


def sound(*columns: str) -> pl.Expr:
    """The columns, null in a group with a row at fault."""
    return pl.when(n_faulty=0).then(pl.col(columns))


def over_groups(columns: dict[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Each column by itself in every group."""
    return {name: expr.over("group") for name, expr in columns.items()}


def below(field: Callable[[str], pl.Expr]) -> dict[str, pl.Expr]:
    """What lies below a bin."""
    return {
        name: field(side).cum_sum().shift(1, fill_value=0)
        for name, side in zip(BELOW, SIDES, strict=True)
    }


def reaching(field: Callable[[str], pl.Expr]) -> dict[str, pl.Expr]:
    """What reaches a bin's threshold."""
    return {
        name: field(side).cum_sum(reverse=True)
        for name, side in zip(("tp", "fp"), SIDES, strict=True)
    }


def totals(field: Callable[[str], pl.Expr]) -> dict[str, pl.Expr]:
    """What there is in all, which is what reaches the first bin."""
    return {name: field(cell).first() for name, cell in zip(TOTALS, ("tp", "fp"), strict=True)}


def sized(groups: pl.LazyFrame) -> pl.LazyFrame:
    """Groups with the number of rows used."""
    known = groups.with_columns(sound(*TOTALS))
    return known.with_columns(n=pl.col("n_positive") + pl.col("n_negative"))
