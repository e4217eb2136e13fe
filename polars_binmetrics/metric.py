"""What a metric is: a formula with a name, a range and a best value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from importlib import import_module
from math import inf
from operator import add
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeAlias

import polars as pl

from polars_binmetrics.columns import Rows
from polars_binmetrics.counts import CELLS, COLUMNS, Cells
from polars_binmetrics.dual import Dual, Number
from polars_binmetrics.hull import hull_of_list
from polars_binmetrics.intervals import (
    UNKNOWN,
    Bounds,
    Draw,
    Estimate,
    Interval,
    of_slopes,
    trials_of,
)
from polars_binmetrics.placements import variance
from polars_binmetrics.ranking import Steps, columns, fields, steps
from polars_binmetrics.resampling import Bootstrap

P = ParamSpec("P")


@cache
def _signature(formula: Callable[..., pl.Expr]) -> inspect.Signature:
    """The parameters of a formula after the counts or the rows."""
    _, *parameters = inspect.signature(formula).parameters.values()
    return inspect.Signature(parameters)


@dataclass(frozen=True, repr=False)
class Metric(Generic[P]):
    """
    A metric as a value.

    Call a metric to set its parameters, as in ``bm.fbeta(2.0)``; the call gives a new metric.

    Attributes
    ----------
    name : str
        The column that the metric fills.
    formula : callable
        Computes the metric from the counts or the rows, and the parameters. It begins with a
        column, not with a number: the first column in an expression names the result.
    range : tuple of float
        The least and the greatest value.
    best : float or None
        The value that a perfect classifier tends to; None where no value is better.
    doc : str
        What `help` shows.
    draw : callable
        Draws its interval from what is estimated.
    parameters : mapping
        The parameters that were set.
    """

    name: str
    formula: Callable[..., pl.Expr]
    range: tuple[float, float]
    best: float | None
    doc: str = field(compare=False)
    draw: Draw = of_slopes
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.doc)

    def __reduce__(self) -> tuple[object, ...]:
        # The name of the formula leads to the metric that was declared on it.
        declared = (self.formula.__module__, self.formula.__name__)
        return _restore, (*declared, self.name, self.doc, dict(self.parameters))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Self:
        return replace(self, parameters=self.signature().bind(*args, **kwargs).arguments)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"<metric {self.name}({parameters})>" if parameters else f"<metric {self.name}>"

    def alias(self, name: str) -> Self:
        """
        Give the column that the metric fills another name.

        Examples
        --------
        >>> bm.fbeta(2.0).alias("f2")
        <metric f2(beta=2.0)>
        """
        return replace(self, name=name)

    def synonym(self, name: str) -> Self:
        """The same metric under another of the names that the field has for it."""
        return replace(self, name=name, doc=f"{self.doc}\nSynonym of `{self.name}`.\n")

    def signature(self) -> inspect.Signature:
        """The parameters of the metric."""
        return _signature(self.formula)

    def spread(self) -> RowMetric[...] | RankMetric[...] | None:
        """The variance of the metric, as a metric; None if it is not computed from rows."""
        return None

    def ends(self, interval: Interval, effective: pl.Expr | None) -> pl.Expr:
        """Both ends of its interval, from the columns of a result; null if it has none."""
        spread = self.spread()
        if spread is None or isinstance(interval, Bootstrap):
            return pl.struct(low=UNKNOWN, high=UNKNOWN)
        value = pl.col(self.name)
        estimate = Estimate(value, pl.col(spread.name), trials=value)
        return self.within(interval.bounds(estimate, self.draw))

    def within(self, bounds: Bounds) -> pl.Expr:
        """Both ends of an interval, which do not leave the range; null where they are not known."""
        low, high = (pl.when(bound.is_not_nan()).then(bound.clip(*self.range)) for bound in bounds)
        return pl.struct(low=low, high=high)

    def apply(self, argument: Cells | Rows | Steps) -> pl.Expr:
        """Apply the formula."""
        return self.formula(argument, **self.parameters)


@dataclass(frozen=True, repr=False)
class CountMetric(Metric[P]):
    """
    A metric of the four counts.

    Its formula is arithmetic, whatever the counts are; 0/0 is looked after in one place.
    """

    additive: bool = False

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Self:
        metric = super().__call__(*args, **kwargs)
        metric.expr()  # A parameter out of range is refused here, not where the metric is used.
        return metric

    def expr(self, cells: Cells = COLUMNS) -> pl.Expr:
        """The metric over four counts, by default the columns of a counts frame."""
        if self.additive:
            # Int64 at least, because a sum of UInt32 wraps; Float64 stays.
            return self.apply(Cells(*(cell + pl.lit(0, pl.Int64) for cell in cells)))
        # Float64 before the formula, because a product of two counts overflows Int64.
        value = self.apply(Cells(*(cell.cast(pl.Float64) for cell in cells)))
        # The counts are finite, so NaN comes of 0/0 alone. fill_nan would compute it thrice.
        return pl.when(value.is_not_nan()).then(value)

    def slopes(self, cells: Mapping[str, Dual], threshold: pl.Expr) -> Mapping[str, Number]:
        """How fast the metric grows with what the four counts are made of."""
        duals: Any = cells
        number: Any = self.apply(Cells(**duals, threshold=threshold))
        slopes: Mapping[str, Number] = number.slopes
        return slopes

    def estimate(self) -> Estimate:
        """The metric over the columns of a counts frame, with what its interval needs."""
        counts = {cell: pl.col(cell).cast(pl.Float64) for cell in CELLS}
        duals = {cell: Dual(count, {cell: 1.0}) for cell, count in counts.items()}
        number = self.slopes(duals, COLUMNS.threshold)
        slopes = {cell: number.get(cell, pl.lit(0.0)) for cell in CELLS}
        # A metric is the same for twice the rows, so this is the variance for a fixed number.
        terms = [count * slopes[cell] * slopes[cell] for cell, count in counts.items()]
        return Estimate(self.expr(), reduce(add, terms), trials_of(list(slopes.values())))

    def ends(self, interval: Interval, effective: pl.Expr | None) -> pl.Expr:
        """Both ends of its interval, from the columns of a counts frame; null for a count."""
        if self.additive:
            return super().ends(interval, effective)
        if isinstance(interval, Bootstrap):
            return interval.of_counts(self.expr())
        estimate = self.estimate()
        if effective is not None:
            estimate = estimate._replace(
                variance=estimate.variance / effective, trials=estimate.trials * effective
            )
        return self.within(interval.bounds(estimate, self.drawn))

    @property
    def drawn(self) -> Draw:
        """How its interval is drawn, with its parameters."""
        # At another prevalence than the data's a share is no proportion of what was counted.
        return self.draw if self.parameters.get("prevalence") is None else of_slopes

    def of_counts(
        self, *, tp: float, fp: float, fn: float, tn: float, threshold: float | None = None
    ) -> float | None:
        """
        Compute the metric from four numbers.

        Parameters
        ----------
        tp, fp, fn, tn
            Counts, or sums of weights.
        threshold
            The threshold of the counts; only `net_benefit` asks for it.

        Returns
        -------
        float or None
            None where the metric is undefined.

        Examples
        --------
        >>> bm.recall.of_counts(tp=30, fp=10, fn=20, tn=40)
        0.6
        """
        counts = {"tp": [tp], "fp": [fp], "fn": [fn], "tn": [tn], "threshold": [threshold]}
        value: float | None = pl.DataFrame(counts).select(self.expr()).item()
        return value


def mean(rows: Rows, values: pl.Expr) -> pl.Expr:
    """The mean of a value of each row."""
    n = rows.total(rows.score.is_not_null())
    if rows.weight is not None:
        # A row of no weight has no part in the mean, even where its value is infinite.
        values = pl.when(rows.weight > 0).then(values * rows.weight).otherwise(rows.score * 0)
    return pl.when(n > 0).then(values.sum() / n.cast(pl.Float64))


def variance_of_mean(rows: Rows, values: pl.Expr) -> pl.Expr:
    """The variance of the mean of a value of each row; of weighted rows, Kish's."""
    if rows.weight is None:
        return values.var() / rows.total(values.is_not_null()).cast(pl.Float64)
    weight = pl.when(values.is_not_null()).then(rows.weight)
    effective = weight.sum() * weight.sum() / (weight * weight).sum()
    average = mean(rows, values)
    # Of equal values, rounding may leave less than nothing.
    spread = (mean(rows, values * values) - average * average).clip(lower_bound=0)
    return spread / (effective - 1)


@dataclass(frozen=True, repr=False)
class RowMetric(Metric[P]):
    """
    A metric of scores and labels that takes no threshold.

    Its formula is an aggregation of rows; or, with a `reduction`, a value of each row.
    """

    reduction: Callable[[Rows, pl.Expr], pl.Expr] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Self:
        metric = super().__call__(*args, **kwargs)
        score = pl.col("score")
        metric.expr(Rows(score, score > 0, None))
        return metric

    def expr(self, rows: Rows) -> pl.Expr:
        """The metric as an aggregation; null where a row is at fault, and for 0/0."""
        value = self.apply(rows)
        if self.reduction is not None:
            value = self.reduction(rows, value)
        return pl.when(~rows.faulty() & value.is_not_nan()).then(value)

    def spread(self) -> RowMetric[...] | None:
        """The variance of a mean, as a metric; None if it is none."""
        if self.reduction is not mean:
            return None
        return replace(self, name=f"{self.name} variance", reduction=variance_of_mean)

    def spread_of_difference(self, one: Rows, other: Rows) -> pl.Expr:
        """The variance of the difference of two means over the same rows."""
        return variance_of_mean(one, self.apply(one) - self.apply(other))


@dataclass(frozen=True, repr=False)
class RankMetric(Metric[P]):
    """
    A metric of the steps of a ROC curve, or of those of its convex hull.

    Its formula is an aggregation of steps, whatever these are; 0/0 is looked after in one place.
    What `then` makes of the number, with the same parameters, is the metric, if it is given: it
    may name the number often, which is computed once. A formula that makes a `listed` table of
    the steps streams in a group-by alone. A metric that is 1 less `loss` times the share of pairs
    in which the positive does not score higher has DeLong's variance.
    """

    hull: bool = False
    listed: bool = False
    then: Callable[..., pl.Expr] | None = None
    loss: float | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Self:
        metric = super().__call__(*args, **kwargs)
        metric.of_steps(columns({}))
        return metric

    def of_steps(self, steps: Steps) -> pl.Expr:
        """The number as an aggregation of steps of which none is at fault."""
        return self.apply(steps)

    def finish(self, value: pl.Expr) -> pl.Expr:
        """The metric, from the number; null for 0/0."""
        number = pl.when(value.is_not_nan()).then(value)
        return number if self.then is None else self.then(number, **self.parameters)

    def spread(self) -> RankMetric[...] | None:
        """The variance of the metric, as a metric; None if it has none in closed form."""
        if self.loss is None:
            return None
        name = f"{self.name} variance"
        return replace(self, name=name, formula=variance, parameters={"loss": self.loss}, loss=None)

    def ends(self, interval: Interval, effective: pl.Expr | None) -> pl.Expr:
        """Both ends of its interval, from the columns of a result; null if it has none."""
        if isinstance(interval, Bootstrap):
            return pl.col(f"{self.name} redrawn")
        return super().ends(interval, effective)

    def expr(self, rows: Rows) -> pl.Expr:
        """The metric as an aggregation of rows."""
        table = steps(rows)
        if self.hull:
            table = hull_of_list(table)
        number = table.list.eval(self.of_steps(fields()))
        metric = number.list.eval(self.finish(pl.element())).list.first()
        return pl.when(~rows.faulty()).then(metric)


AnyMetric: TypeAlias = CountMetric[...] | RowMetric[...] | RankMetric[...]
CountFormula: TypeAlias = Callable[Concatenate[Cells, P], pl.Expr]
RowFormula: TypeAlias = Callable[Concatenate[Rows, P], pl.Expr]
RankFormula: TypeAlias = Callable[Concatenate[Steps, P], pl.Expr]


def rate(
    *, range: tuple[float, float] = (0, 1), best: float | None, draw: Draw = of_slopes
) -> Callable[[CountFormula[P]], CountMetric[P]]:
    """Declare a metric of the counts: name and docstring are the formula's."""

    def declare(formula: CountFormula[P]) -> CountMetric[P]:
        doc = _describe(formula, range, best)
        return CountMetric(formula.__name__, formula, range, best, doc, draw)

    return declare


def count(formula: CountFormula[[]]) -> CountMetric[[]]:
    """Declare a sum of counts, which adds over rows."""
    doc = _describe(formula, (0, inf), None)
    return CountMetric(formula.__name__, formula, (0, inf), None, doc, additive=True)


def row_metric(
    *,
    range: tuple[float, float] = (0, 1),
    best: float | None,
    reduction: Callable[[Rows, pl.Expr], pl.Expr] | None = None,
) -> Callable[[RowFormula[P]], RowMetric[P]]:
    """Declare a metric of the rows: name and docstring are the formula's."""

    def declare(formula: RowFormula[P]) -> RowMetric[P]:
        doc = _describe(formula, range, best)
        return RowMetric(formula.__name__, formula, range, best, doc, reduction=reduction)

    return declare


def rank_metric(
    *,
    range: tuple[float, float] = (0, 1),
    best: float | None,
    hull: bool = False,
    listed: bool = False,
    then: Callable[..., pl.Expr] | None = None,
    loss: float | None = None,
    draw: Draw = of_slopes,
) -> Callable[[RankFormula[P]], RankMetric[P]]:
    """Declare a metric of the steps of a ROC curve: name and docstring are the formula's."""

    def declare(formula: RankFormula[P]) -> RankMetric[P]:
        doc = _describe(formula, range, best)
        return RankMetric(
            formula.__name__,
            formula,
            range,
            best,
            doc,
            draw,
            hull=hull,
            listed=listed,
            then=then,
            loss=loss,
        )

    return declare


def _describe(
    formula: Callable[..., pl.Expr], range: tuple[float, float], best: float | None
) -> str:
    """The docstring of a formula, the range and the best value after its first line."""
    summary, _, rest = inspect.cleandoc(formula.__doc__ or "").partition("\n")
    bounds = f"Range {range[0]:g} to {range[1]:g}"
    bounds += "." if best is None else f", best {best:g}."
    return f"{summary}\n\n{bounds}\n{rest}\n"


def _restore(
    module: str, formula: str, name: str, doc: str, parameters: Mapping[str, Any]
) -> Metric[...]:
    declared: Metric[...] = getattr(import_module(module), formula)
    return replace(declared, name=name, doc=doc, parameters=parameters)
