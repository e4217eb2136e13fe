"""Where two values of a metric are held against each other: their difference and ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import inf
from operator import add
from typing import NamedTuple, TypeAlias

import polars as pl

from polars_binmetrics.counts import CELLS, Cells
from polars_binmetrics.dual import Dual, Number
from polars_binmetrics.intervals import UNKNOWN, Bounds, normal, of_score, trials_of
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.ranking import row

#: Columns of counts, and the cell that their rows are in, of one confusion matrix and of the other.
Joint: TypeAlias = Mapping[str, tuple[str | None, str | None]]

VALUES = ["value", "other"]
#: What follows from two values and their spreads.
RESULTS = [
    "ratio",
    "ratio_low",
    "ratio_high",
    "standard_error",
    "z",
    "difference",
    "low",
    "high",
    "p_value",
]
#: How far the values may be off, and together; null where that is not known.
SPREADS = ["variance", "other_variance", "covariance"]


class Sides(NamedTuple):
    """A metric of the counts of two confusion matrices that may have rows in common."""

    values: tuple[pl.Expr, pl.Expr]
    counts: Mapping[str, pl.Expr]
    slopes: tuple[Mapping[str, Number], Mapping[str, Number]]
    proportion: bool

    def spreads(self) -> dict[str, pl.Expr]:
        """The delta method's variances and covariance."""
        pairs = ((0, 0), (1, 1), (0, 1))
        return dict(zip(SPREADS, (self._product(*pair) for pair in pairs), strict=True))

    def _product(self, one: int, other: int) -> pl.Expr:
        left, right = self.slopes[one], self.slopes[other]
        shared = [name for name in self.counts if name in left and name in right]
        terms = (self.counts[name] * left[name] * right[name] for name in shared)
        return reduce(add, terms, pl.lit(0.0))

    def trials(self) -> tuple[pl.Expr, pl.Expr]:
        """The trials of either one; null of what is no proportion."""
        if not self.proportion:
            return UNKNOWN, UNKNOWN
        one, other = (trials_of(list(slopes.values())) for slopes in self.slopes)
        return one, other

    def same_trials(self) -> bool:
        """Whether both are proportions of the same rows, as of all positives."""
        return self.proportion and self.slopes[0].keys() == self.slopes[1].keys()


def sides(metric: CountMetric[...], joint: Joint, thresholds: Sequence[pl.Expr]) -> Sides:
    """The metric of either matrix."""
    counts = {name: pl.col(name).cast(pl.Float64) for name in joint}
    values: list[pl.Expr] = []
    slopes: list[Mapping[str, Number]] = []
    for side, threshold in enumerate(thresholds):
        columns = {cell: [name for name in joint if joint[name][side] == cell] for cell in CELLS}
        sums = {cell: reduce(add, map(pl.col, names)) for cell, names in columns.items()}
        values.append(metric.expr(Cells(**sums, threshold=threshold)))
        duals = {
            cell: Dual(sums[cell].cast(pl.Float64), dict.fromkeys(names, 1.0))
            for cell, names in columns.items()
        }
        slopes.append({} if metric.additive else metric.slopes(duals, threshold))
    one, other = values
    return Sides((one, other), counts, (slopes[0], slopes[1]), metric.drawn is of_score)


def a_row_a_metric(
    table: pl.LazyFrame, kept: Sequence[str], estimates: Mapping[str, Mapping[str, pl.Expr]]
) -> pl.LazyFrame:
    """The estimates of each metric one below the other, beside some columns of the table."""
    blocks = {name: row(estimate) for name, estimate in estimates.items()}
    return (
        table.with_columns(**blocks)
        .select(*kept, pl.concat_list(list(blocks)).alias("block"))
        .explode("block", empty_as_null=False)
        .unnest("block")
    )


def known(figures: Sequence[str]) -> list[pl.Expr]:
    """The figures, null for 0/0."""
    return [pl.when(pl.col(name).is_not_nan()).then(pl.col(name)) for name in figures]


def held_against(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add the difference and the ratio of the values, and their standard errors."""
    value, other = map(pl.col, VALUES)
    table = table.with_columns(
        _spread(pl.col(spread), pl.col(name) * pl.col(name)).alias(spread)
        for spread, name in zip(SPREADS, VALUES, strict=False)
    )
    variance, other_variance, covariance = map(pl.col, SPREADS)
    spread = variance + other_variance - covariance * 2
    relative = variance / (value * value) + other_variance / (other * other)
    relative -= covariance / (value * other) * 2
    return table.with_columns(
        difference=value - other,
        # A value may be -0.0, which would make inf -inf.
        ratio=value / pl.when(other == 0).then(0.0).otherwise(other),
        standard_error=_spread(spread, variance + other_variance, 1e-13).sqrt(),
        relative_error=relative.clip(0).sqrt(),
    )


def _spread(variance: pl.Expr, scale: pl.Expr, rounding: float = 1e-24) -> pl.Expr:
    """A variance; 0 where rounding leaves as much, or less than nothing."""
    nothing = variance.is_not_nan() & (variance <= scale * rounding)
    return pl.when(nothing).then(0.0).otherwise(variance)


def z_score(variance: pl.Expr) -> pl.Expr:
    """The difference over the root of its variance; 0 where neither is there."""
    difference = pl.col("difference")
    known = pl.when(variance > 0).then(difference / variance.sqrt())
    return known.when((variance == 0) & (difference == 0)).then(0.0)


def of_difference(level: float) -> Bounds:
    """Both ends of the interval of the difference."""
    reach = pl.col("standard_error") * normal(level)
    return pl.col("difference") - reach, pl.col("difference") + reach


def of_ratio(level: float) -> Bounds:
    """Both ends of the interval of the ratio, by its logarithm; null unless above 0 and finite."""
    ratio, factor = pl.col("ratio"), (pl.col("relative_error") * normal(level)).exp()
    known = pl.when((ratio > 0) & (ratio < inf))
    return known.then(ratio / factor), known.then(ratio * factor)
