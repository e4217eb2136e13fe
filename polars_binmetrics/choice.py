"""Where a threshold is chosen: criteria, and the counts at the threshold that meets one best."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from numbers import Real
from typing import TypeAlias

import polars as pl
from polars.exceptions import DuplicateError

from polars_binmetrics.columns import IntoColumn, IntoColumns, clean
from polars_binmetrics.counts import CELLS
from polars_binmetrics.evaluate import COUNTS
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.registry import IntoMetric, find, named, of_counts
from polars_binmetrics.sweep import sweep
from polars_binmetrics.table import with_rates
from polars_binmetrics.thresholds import IntoThresholds, every_score, thresholds_of
from polars_binmetrics.wording import documented

__all__ = ["at_least", "at_most", "maximum", "minimum"]

#: Values nearer to the best one than this, or this share of it, are a tie: the last digits of a
#: rate are rounding, and those of a sum of weights differ from run to run.
TIE = 1e-12


@dataclass(frozen=True)
class Constraint:
    """The values of a metric that are allowed."""

    metric: CountMetric[...]
    least: float
    greatest: float


@dataclass(frozen=True)
class Criterion:
    """What to make as large or as small as can be: a metric, or the threshold itself if None."""

    metric: CountMetric[...] | None
    sign: int
    constraints: tuple[Constraint, ...]


IntoCriterion: TypeAlias = IntoMetric | Criterion


def maximum(metric: IntoMetric, *constraints: Constraint) -> Criterion:
    """
    The criterion that makes a metric as large as the constraints allow.

    Parameters
    ----------
    metric
        A metric of the counts, by name or as an object; or ``"threshold"`` itself.
    *constraints
        Made by `at_least` and `at_most`.

    Returns
    -------
    Criterion
        For `best_threshold`.

    Raises
    ------
    TypeError, ValueError
        When the metric is unknown, is not one of the counts or lacks a parameter.

    Examples
    --------
    The highest TPR at an FPR of 0.1 or less, and the highest threshold that finds 90 %:

    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> few_alarms = bm.maximum("tpr", bm.at_most("fpr", 0.1))
    >>> df.binmetrics.best_threshold("score", "y", criterion=few_alarms)
    shape: (1, 8)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┬─────┬─────┐
    │ model ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ tpr ┆ fpr │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ --- ┆ --- │
    │ str   ┆ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64 ┆ f64 │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╪═════╪═════╡
    │ score ┆ 0.8       ┆ 1   ┆ 0   ┆ 1   ┆ 2   ┆ 0.5 ┆ 0.0 │
    └───────┴───────────┴─────┴─────┴─────┴─────┴─────┴─────┘
    >>> most_found = bm.maximum("threshold", bm.at_least("tpr", 0.9))
    >>> df.binmetrics.best_threshold("score", "y", criterion=most_found)["threshold"].item()
    0.4
    """
    return _criterion(metric, 1, constraints)


def minimum(metric: IntoMetric, *constraints: Constraint) -> Criterion:
    """
    The criterion that makes a metric as small as the constraints allow.

    Parameters
    ----------
    metric
        A metric of the counts, by name or as an object; or ``"threshold"`` itself.
    *constraints
        Made by `at_least` and `at_most`.

    Returns
    -------
    Criterion
        For `best_threshold`.

    Raises
    ------
    TypeError, ValueError
        When the metric is unknown, is not one of the counts or lacks a parameter.

    Examples
    --------
    Least expected cost, a miss costing as much as five false alarms:

    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> cheapest = bm.minimum(bm.expected_cost(fp=1, fn=5))
    >>> df.binmetrics.best_threshold("score", "y", criterion=cheapest)
    shape: (1, 7)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┬───────────────┐
    │ model ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ expected_cost │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---           │
    │ str   ┆ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64           │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╪═══════════════╡
    │ score ┆ 0.4       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 0.25          │
    └───────┴───────────┴─────┴─────┴─────┴─────┴───────────────┘
    """
    return _criterion(metric, -1, constraints)


def at_least(metric: IntoMetric, value: float) -> Constraint:
    """
    The constraint that a metric is at least `value`.

    Parameters
    ----------
    metric
        A metric of the counts, by name or as an object.
    value
        The least value allowed.

    Returns
    -------
    Constraint
        For `maximum` and `minimum`.

    Raises
    ------
    TypeError, ValueError
        When the metric is unknown, is not one of the counts or lacks a parameter, or when
        `value` is no number.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> precise = bm.maximum("recall", bm.at_least("precision", 0.6))
    >>> df.binmetrics.best_threshold("score", "y", criterion=precise)["threshold"].item()
    0.4
    """
    return Constraint(_metric(metric), _value(value), inf)


def at_most(metric: IntoMetric, value: float) -> Constraint:
    """
    The constraint that a metric is at most `value`.

    Parameters
    ----------
    metric
        A metric of the counts, by name or as an object.
    value
        The greatest value allowed.

    Returns
    -------
    Constraint
        For `maximum` and `minimum`.

    Raises
    ------
    TypeError, ValueError
        When the metric is unknown, is not one of the counts or lacks a parameter, or when
        `value` is no number.

    Examples
    --------
    The lowest threshold that calls no more than half of the rows positive:

    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> capacity = bm.minimum("threshold", bm.at_most("predicted_positive_rate", 0.5))
    >>> df.binmetrics.best_threshold("score", "y", criterion=capacity)["threshold"].item()
    0.6
    """
    return Constraint(_metric(metric), -inf, _value(value))


@documented(
    criterion="A metric of the counts, by name or as an object, to bring to its best value; or"
    " `maximum` or `minimum`, with constraints.",
)
def best_threshold(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    criterion: IntoCriterion,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    Choose the best threshold per segment and model.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, *metrics]``, one row a segment and model,
        sorted; the metrics are those of the criterion. Of tied thresholds the highest, which
        calls the fewest rows positive; values within 1e-12 of each other, or within that share
        where greater than 1, are a tie. All but segment and model is null where no threshold
        qualifies or the criterion is undefined at each.

    Notes
    -----
    The cost of `counts` at these thresholds.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.best_threshold("score", "y", criterion="youden_j")
    shape: (1, 7)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┬──────────┐
    │ model ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ youden_j │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---      │
    │ str   ┆ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64      │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╪══════════╡
    │ score ┆ 0.8       ┆ 1   ┆ 0   ┆ 1   ┆ 2   ┆ 0.5      │
    └───────┴───────────┴─────┴─────┴─────┴─────┴──────────┘
    """
    wanted = criterion if isinstance(criterion, Criterion) else _best_of(criterion)
    metrics = _metrics(wanted)
    rows = clean(
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=[*COUNTS, *metrics],
    )
    candidates = thresholds_of("thresholds", every_score() if thresholds is None else thresholds)
    swept = sweep(rows, candidates, strict=strict, rollup=rollup)
    table = with_rates(swept.counts(), metrics.values())
    threshold = pl.col("threshold")
    allowed = [
        pl.col(each.metric.name).is_between(each.least, each.greatest)
        for each in wanted.constraints
    ]
    value = wanted.sign * (threshold if wanted.metric is None else pl.col(wanted.metric.name))
    value = pl.when(*allowed).then(value) if allowed else value
    top = value.max().over("group")
    tied = value == top
    if wanted.metric is not None:
        tied |= value >= top - TIE * pl.max_horizontal(top.abs(), 1)
    best = table.filter(tied).filter(threshold == threshold.max().over("group"))
    best = best.select("group", threshold, *CELLS, *metrics)
    result = swept.groups.join(best, on="group", how="left", maintain_order="left")
    return like(self.frame, rows.named(result.select(*swept.by, threshold, *CELLS, *metrics)))


def _criterion(metric: IntoMetric, sign: int, constraints: tuple[Constraint, ...]) -> Criterion:
    for each in constraints:
        if not isinstance(each, Constraint):
            raise TypeError(
                f"`constraints` should be made by at_least and at_most, got {type(each).__name__}"
            )
    return Criterion(None if metric == "threshold" else _metric(metric), sign, constraints)


def _best_of(criterion: IntoMetric) -> Criterion:
    """The criterion that brings a metric to its best value."""
    metric = _metric(criterion, argument="criterion")
    if metric.best not in metric.range:
        raise ValueError(
            f"`criterion`: no value of {metric.name!r} is best; say bm.maximum or bm.minimum"
        )
    return Criterion(metric, 1 if metric.best == max(metric.range) else -1, ())


def _metrics(criterion: Criterion) -> dict[str, CountMetric[...]]:
    """The metrics of a criterion by the column that each fills, but for the counts' own."""
    found: dict[str, CountMetric[...]] = {}
    targets = [] if criterion.metric is None else [criterion.metric]
    for metric in [*targets, *(each.metric for each in criterion.constraints)]:
        if found.setdefault(metric.name, metric) != metric:
            raise DuplicateError(
                f"`criterion`: two metrics are called {metric.name!r}; rename one,"
                f" for example bm.{metric.name}(...).alias('other')"
            )
        if metric.name in COUNTS and metric != named(metric.name):
            raise DuplicateError(f"`criterion`: the output has a column {metric.name!r} of its own")
    return {name: metric for name, metric in found.items() if name not in CELLS}


def _metric(metric: IntoMetric, *, argument: str = "metric") -> CountMetric[...]:
    (found,) = find([metric], argument=argument)
    return of_counts(found, argument=argument)


def _value(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or isnan(value):
        raise TypeError(f"`value` should be a number, got {value!r}")
    return float(value)
