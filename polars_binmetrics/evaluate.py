"""The frame verbs: counts, rates, and both with all else in `evaluate`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import polars as pl
from polars.exceptions import DuplicateError

from polars_binmetrics import probability, ranking
from polars_binmetrics import rates as count_metrics
from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean
from polars_binmetrics.counts import CELLS, tally
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.metric import AnyMetric, CountMetric, Metric, RowMetric
from polars_binmetrics.thresholds import IntoThresholds, threshold_list

IntoMetric: TypeAlias = str | Metric[...]

#: Every metric, under each of its names.
METRICS: dict[str, AnyMetric] = {
    name: getattr(module, name)
    for module in (count_metrics, ranking, probability)
    for name in module.__all__
}
POSITION = ["model", "threshold"]
COUNTS = [*POSITION, *CELLS]
SIZES = [count_metrics.n, count_metrics.n_positive, count_metrics.n_negative]
OUTPUT = [*COUNTS, *(metric.name for metric in SIZES), "n_missing"]
#: The metrics whose column is there without being asked for.
BASE = [METRICS[name] for name in OUTPUT if name in METRICS]


def counts(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds = 0.5,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
) -> Frame:
    """
    Count true and false positives and negatives per segment, model and threshold.

    Parameters
    ----------
    scores
        A score column a model: names, expressions or selectors. Numeric or Boolean; compared
        as Float64.
    label
        The outcome: Boolean, or a number that is 0 or 1, unless `positive` is given.
    thresholds
        A number or several. A row is called positive when ``score >= threshold``.
    by
        Segments: names, expressions or selectors. A null key is a segment of its own.
    weight
        Weight of each row, at least 0. It makes the counts Float64 sums of weights.
    positive
        The value of `label` that counts as positive; any other value is then negative.
    strict
        Call a row positive only when ``score > threshold``.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn]``, sorted by all but the counts; counts are
        Int64, or Float64 with weights. Rows with a null score, label or weight are not counted.
        A segment and model with a NaN score, a label that is neither 0 nor 1, or a weight that
        is negative, NaN or infinite has null counts.

    Raises
    ------
    ColumnNotFoundError, SchemaError, DuplicateError, TypeError, ValueError
        When the call is made, naming the argument.

    Notes
    -----
    One group-by, four sums per model and threshold; the rows are read once.

    Examples
    --------
    >>> df = pl.DataFrame(
    ...     {"y": [0, 0, 1, 1], "a": [0.1, 0.6, 0.4, 0.8], "b": [0.2, 0.3, 0.7, 0.9]}
    ... )
    >>> df.binmetrics.counts(["a", "b"], "y")
    shape: (2, 6)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┐
    │ model ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- │
    │ str   ┆ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╡
    │ a     ┆ 0.5       ┆ 1   ┆ 1   ┆ 1   ┆ 1   │
    │ b     ┆ 0.5       ┆ 2   ┆ 0   ┆ 0   ┆ 2   │
    └───────┴───────────┴─────┴─────┴─────┴─────┘
    """
    rows = clean(
        self.frame.lazy(), scores, label, by=by, weight=weight, positive=positive, taken=COUNTS
    )
    table = tally(rows, threshold_list(thresholds), strict=strict)
    return like(self.frame, table.sort(*rows.keys, *POSITION))


def rates(self: FrameFace[Frame], *metrics: IntoMetric | Iterable[IntoMetric]) -> Frame:
    """
    Add metrics of the four counts to a counts frame, a column a metric.

    Parameters
    ----------
    *metrics
        Names or metric objects, as in ``rates("recall", bm.fbeta(2.0))``.

    Returns
    -------
    DataFrame or LazyFrame
        The frame with the metrics, Float64, appended; null where a metric is undefined.

    Raises
    ------
    ValueError, TypeError
        When a metric is unknown, is not one of the counts, or lacks a parameter.
    DuplicateError
        When the frame has a column of the metric's name already.

    Notes
    -----
    Needs the columns `tp`, `fp`, `fn`, `tn`, and `threshold` for `net_benefit`. Costs nothing
    but arithmetic on the counts.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [30, 0], "fp": [10, 0], "fn": [20, 50], "tn": [40, 50]})
    >>> counts.binmetrics.rates("recall", "precision")
    shape: (2, 6)
    ┌─────┬─────┬─────┬─────┬────────┬───────────┐
    │ tp  ┆ fp  ┆ fn  ┆ tn  ┆ recall ┆ precision │
    │ --- ┆ --- ┆ --- ┆ --- ┆ ---    ┆ ---       │
    │ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64    ┆ f64       │
    ╞═════╪═════╪═════╪═════╪════════╪═══════════╡
    │ 30  ┆ 10  ┆ 20  ┆ 40  ┆ 0.6    ┆ 0.75      │
    │ 0   ┆ 0   ┆ 50  ┆ 50  ┆ 0.0    ┆ null      │
    └─────┴─────┴─────┴─────┴────────┴───────────┘
    """
    frame = self.frame.lazy()
    taken = frame.collect_schema()
    chosen: list[CountMetric[...]] = []
    for metric in find(each for group in metrics for each in _listed(group)):
        if isinstance(metric, RowMetric):
            raise ValueError(
                f"`metrics`: {metric.name!r} is not of the counts; use `evaluate` on the rows"
            )
        if metric.name not in taken:
            chosen.append(metric)
        elif metric not in BASE:
            raise DuplicateError(f"`metrics`: the frame has a column {metric.name!r} already")
    return like(self.frame, _with_rates(frame, chosen))


def evaluate(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    metrics: IntoMetric | Iterable[IntoMetric],
    thresholds: IntoThresholds = 0.5,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
) -> Frame:
    """
    Compute metrics per segment, model and threshold.

    Parameters
    ----------
    scores
        A score column a model: names, expressions or selectors. Numeric or Boolean; compared
        as Float64.
    label
        The outcome: Boolean, or a number that is 0 or 1, unless `positive` is given.
    metrics
        Names or metric objects, as in ``["recall", bm.fbeta(2.0), "roc_auc"]``.
    thresholds
        A number or several. A row is called positive when ``score >= threshold``.
    by
        Segments: names, expressions or selectors. A null key is a segment of its own.
    weight
        Weight of each row, at least 0. It makes the counts Float64 sums of weights.
    positive
        The value of `label` that counts as positive; any other value is then negative.
    strict
        Call a row positive only when ``score > threshold``.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, n, n_positive, n_negative, n_missing,
        *metrics]``, sorted by segment, model and threshold. `n_missing` counts the rows left
        out because their score, label or weight is null. Metrics are Float64 and null where
        undefined; one that takes no threshold is repeated at each. A segment and model with a
        NaN score, a label that is neither 0 nor 1, or a weight that is negative, NaN or
        infinite has null counts and metrics.

    Raises
    ------
    ColumnNotFoundError, SchemaError, DuplicateError, TypeError, ValueError
        When the call is made, naming the argument.

    Notes
    -----
    One plan, which reads the rows once: a group-by with four sums per model and threshold,
    and, if asked for, a second one with the metrics that take no threshold. All metrics of the
    counts together cost next to nothing beside the counts. The streaming engine runs all of it
    but the ranking for `roc_auc`, which holds keys, scores and labels in memory.

    Examples
    --------
    >>> df = pl.DataFrame(
    ...     {
    ...         "region": ["north", "north", "south", "south", "south"],
    ...         "y": [0, 1, 0, 1, 1],
    ...         "score": [0.1, 0.6, 0.7, 0.8, 0.2],
    ...     }
    ... )
    >>> table = df.binmetrics.evaluate("score", "y", metrics=["recall", "roc_auc"], by="region")
    >>> table.select("region", "model", "threshold", "n", "recall", "roc_auc")
    shape: (2, 6)
    ┌────────┬───────┬───────────┬─────┬────────┬─────────┐
    │ region ┆ model ┆ threshold ┆ n   ┆ recall ┆ roc_auc │
    │ ---    ┆ ---   ┆ ---       ┆ --- ┆ ---    ┆ ---     │
    │ str    ┆ str   ┆ f64       ┆ i64 ┆ f64    ┆ f64     │
    ╞════════╪═══════╪═══════════╪═════╪════════╪═════════╡
    │ north  ┆ score ┆ 0.5       ┆ 2   ┆ 1.0    ┆ 1.0     │
    │ south  ┆ score ┆ 0.5       ┆ 3   ┆ 0.5    ┆ 0.5     │
    └────────┴───────┴───────────┴─────┴────────┴─────────┘
    """
    chosen = [metric for metric in find(metrics) if metric not in BASE]
    names = [metric.name for metric in chosen]
    for name in names:
        if name in OUTPUT:
            raise DuplicateError(f"`metrics`: the output has a column {name!r} of its own")
    rows = clean(
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=[*OUTPUT, *names],
    )
    of_counts = [metric for metric in chosen if isinstance(metric, CountMetric)]
    of_rows = [metric for metric in chosen if isinstance(metric, RowMetric)]
    if of_rows:
        # Two aggregations of one frame: only a cache has both engines read it once.
        rows = rows._replace(frame=rows.frame.cache())
    table = tally(rows, threshold_list(thresholds), strict=strict, missing=True)
    table = _with_rates(table, [*SIZES, *of_counts])
    if of_rows:
        keys = [*rows.keys, "model"]
        table = table.join(_summaries(rows, of_rows), on=keys, how="left", nulls_equal=True)
    return like(self.frame, table.select(*rows.keys, *OUTPUT, *names).sort(*rows.keys, *POSITION))


def find(metrics: IntoMetric | Iterable[IntoMetric]) -> list[AnyMetric]:
    """Metrics by name or as objects, each name once."""
    found: dict[str, AnyMetric] = {}
    for given in _listed(metrics):
        metric = named(given) if isinstance(given, str) else given
        if not isinstance(metric, CountMetric | RowMetric):
            raise TypeError(f"`metrics` should be names or metrics, got {type(given).__name__}")
        try:
            metric.signature().bind(**metric.parameters)
        except TypeError as error:
            raise TypeError(f"`metrics`: {metric.name!r}: {error}") from None
        if metric.name in found:
            raise DuplicateError(
                f"`metrics`: {metric.name!r} is there twice; rename one,"
                f" for example bm.{metric.name}(...).alias('other')"
            )
        found[metric.name] = metric
    return list(found.values())


def _listed(metrics: IntoMetric | Iterable[IntoMetric]) -> Iterable[IntoMetric]:
    if isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        return [metrics]
    return metrics


def named(name: str) -> AnyMetric:
    """The metric of this name."""
    if name in METRICS:
        return METRICS[name]
    near = difflib.get_close_matches(name, METRICS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(METRICS))}"
    raise ValueError(f"`metrics`: there is no metric {name!r}; {hint}")


def _with_rates(frame: pl.LazyFrame, metrics: Sequence[CountMetric[...]]) -> pl.LazyFrame:
    return frame.with_columns(metric.expr().alias(metric.name) for metric in metrics)


def _summaries(rows: Clean, metrics: Sequence[RowMetric]) -> pl.LazyFrame:
    """The metrics that take no threshold: [*by, model, *metrics]."""
    aggregations = {
        f"{i} {j}": metric.expr(rows.of(model))
        for i, model in enumerate(rows.models)
        for j, metric in enumerate(metrics)
    }
    blocks = [
        {"model": pl.lit(model)}
        | {metric.name: pl.col(f"{i} {j}") for j, metric in enumerate(metrics)}
        for i, model in enumerate(rows.models)
    ]
    return rows.reduce(aggregations, blocks)
