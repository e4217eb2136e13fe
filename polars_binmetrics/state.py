"""What follows from a state: rows counted between thresholds, and the counts at each of them."""

from __future__ import annotations

from collections.abc import Callable
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
    kept in a bin at NaN. The groups are ``[*by, group, *SIZES]``.

    What lies below is summed from group to group, unless weighted: whole numbers lose nothing,
    and a sum over all rows needs no window.
    """

    state: pl.LazyFrame
    groups: pl.LazyFrame
    by: list[str]
    weighted: bool

    def over(self, state: pl.LazyFrame) -> Sweep:
        """The same groups with other bins, ``[group, threshold, *SIDES]``."""
        columns = over_groups(below(pl.col)) if self.weighted else below(pl.col)
        return self._replace(state=state.set_sorted("group").with_columns(**columns))

    def ending(self, ends: pl.LazyFrame) -> Sweep:
        """
        The same groups with other bins, from their ends: [group, threshold, *SIDES].

        The sides are running sums up to the end of a bin, as those of `BELOW`.
        """
        before = [pl.col(side).shift(1, fill_value=0) for side in SIDES]
        if self.weighted:
            first = pl.col("threshold").is_null()
            before = [pl.when(first).then(0.0).otherwise(total) for total in before]
        return self._replace(
            state=ends.select(
                "group",
                "threshold",
                *(pl.col(side) - total for side, total in zip(SIDES, before, strict=True)),
                **dict(zip(BELOW, before, strict=True)),
            )
        )

    def counted(self) -> pl.LazyFrame:
        """The bins beside their groups, with the counts at each: [*groups, *state, *CELLS]."""
        state, groups = self.state.set_sorted("group"), self.groups
        missed = zip(("fn", "tn"), BELOW, strict=True)
        if self.weighted:
            # Sums, not differences, which would lose digits.
            groups = groups.drop(TOTALS)
            for columns in (reaching(pl.col), totals(pl.col)):
                state = state.with_columns(**over_groups(columns))
            counts = {cell: pl.col(name) for cell, name in missed}
        else:
            starts = [pl.col(size).cum_sum() - pl.col(size) for size in TOTALS]
            groups = groups.with_columns(fn=starts[0], tn=starts[1])
            counts = {cell: pl.col(name) - pl.col(cell) for cell, name in missed}
            counts |= {
                cell: pl.col(total) - counts[other]
                for cell, total, other in zip(("tp", "fp"), TOTALS, ("fn", "tn"), strict=True)
            }
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


def levels(rollup: bool) -> list[str]:
    """The column that tells the totals of a rolled-up table."""
    return ["level"] if rollup else []


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
