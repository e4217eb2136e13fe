"""What follows from a state: rows counted between thresholds, and their running sums."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import polars as pl

from polars_binmetrics.counts import CELLS

#: What a state holds of each bin.
SIDES = ["positives", "negatives"]


class Sweep(NamedTuple):
    """
    A state and its groups, both sorted.

    The state, ``[group, threshold, positives, negatives]``, has a row a bin. A bin reaches from
    its threshold up to the next one; the bin below them all has a null threshold. Faulty rows
    are kept in a bin at NaN. The groups are ``[*by, group, n_missing]``.
    """

    state: pl.LazyFrame
    groups: pl.LazyFrame
    by: list[str]

    def counts(self) -> pl.LazyFrame:
        """The counts at the thresholds of each group: [*by, n_missing, threshold, *CELLS]."""
        return self.labelled(cumulated(self.state, ["group"]))

    def labelled(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """A table of groups with the columns that make a group."""
        groups = self.groups.select("group", "n_missing", *self.by)
        joined = table.join(groups, on="group", how="left", maintain_order="left")
        return joined.select(*self.by, "n_missing", pl.exclude("group", "n_missing", *self.by))


def levels(rollup: bool) -> list[str]:
    """The column that tells the totals of a rolled-up table."""
    return ["level"] if rollup else []


def cumulated(state: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Counts at the thresholds of a sorted state; null where a bin is at fault."""
    unless_faulty = pl.when(sound().all())
    counts = {
        "tp": pl.col("positives").cum_sum(reverse=True),
        "fp": pl.col("negatives").cum_sum(reverse=True),
        # Sums, not differences, which would lose digits of weights.
        "fn": pl.col("positives").cum_sum().shift(1, fill_value=0),
        "tn": pl.col("negatives").cum_sum().shift(1, fill_value=0),
    }
    counted = [unless_faulty.then(counts[cell]).over(by).alias(cell) for cell in CELLS]
    threshold = pl.col("threshold")
    return state.select(*by, threshold, *counted).filter(threshold.is_not_nan())


def sound() -> pl.Expr:
    """Whether the rows of a bin are sound, and their number is one."""
    numbers = pl.all_horizontal(pl.col(SIDES).is_between(0, inf, closed="left").fill_null(False))
    return numbers & pl.col("threshold").is_not_nan().fill_null(True)
