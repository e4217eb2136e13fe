"""The frame verbs: counts, rates, and both with all else in `evaluate`."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from polars.exceptions import ColumnNotFoundError, DuplicateError

from polars_binmetrics import areas, histograms
from polars_binmetrics.columns import IntoColumn, IntoColumns, clean
from polars_binmetrics.counts import CELLS, COLUMNS, Cells
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.intervals import IntoInterval, interval_of
from polars_binmetrics.registry import METRICS, IntoMetric, find, listed, of_counts
from polars_binmetrics.sweep import sweep
from polars_binmetrics.table import filled, names_of, refuse_weights, with_ends
from polars_binmetrics.thresholds import EveryScore, IntoThresholds, thresholds_of
from polars_binmetrics.wording import documented

POSITION = ["model", "threshold"]
COUNTS = [*POSITION, *CELLS]
OUTPUT = [*COUNTS, "n", "n_positive", "n_negative", "n_missing"]
#: The metrics whose column is there without being asked for.
BASE = [METRICS[name] for name in OUTPUT if name in METRICS]


@documented(
    thresholds="A number, several, `uniform`, `dyadic`, `quantiles` or `every_score`. A row is"
    " called positive when ``score >= threshold``.",
)
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
    rollup: bool = False,
) -> Frame:
    """
    Count true and false positives and negatives per segment, model and threshold.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn]``, sorted by all but the counts; counts are
        Int64, or Float64 with weights. Rows with a null score, label or weight are not counted.
        A segment and model with a NaN score, a label that is neither 0 nor 1, or a weight that
        is negative, NaN or infinite has null counts.

    Notes
    -----
    One group-by of the rows, read once, whatever the number of models and thresholds: each
    score finds its bin among the thresholds, exactly. Memory grows with segments times models
    times thresholds, not with the rows. With `quantiles` and `every_score` the bins are the
    distinct scores.

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
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=COUNTS,
    )
    swept = sweep(rows, thresholds_of("thresholds", thresholds), strict=strict, rollup=rollup)
    return like(self.frame, rows.named(swept.counts().select(*swept.by, "threshold", *CELLS)))


def rates(
    self: FrameFace[Frame],
    *metrics: IntoMetric | Iterable[IntoMetric],
    interval: IntoInterval | None = None,
) -> Frame:
    """
    Add metrics of the four counts to a counts frame, a column a metric.

    Parameters
    ----------
    *metrics
        Names or metric objects, as in ``rates("recall", bm.fbeta(2.0))``.
    interval
        A level, or what `wilson`, `delong`, `bootstrap` and the like make: adds `<metric>_low` and
        `<metric>_high` after each metric, as `evaluate` does. Counts that are sums of weights
        are taken as they are.

    Returns
    -------
    DataFrame or LazyFrame
        The frame with the metrics, Float64, appended; null where a metric is undefined.

    Raises
    ------
    ColumnNotFoundError
        When the frame has no counts.
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
    for cell in CELLS:
        if cell not in taken:
            raise ColumnNotFoundError(
                f"the frame has no counts: no column {cell!r}, only {', '.join(taken)}; `counts`"
                " gives them of rows, `cumulate` of a histogram"
            )
    found = find(each for group in metrics for each in listed(group))
    chosen = [of_counts(each) for each in found if each.name not in taken or each not in BASE]
    drawn = None if interval is None else interval_of(interval)
    if drawn and any(taken[cell].is_float() for cell in CELLS if cell in taken):
        refuse_weights(drawn, "counts that are sums of weights")
    names = names_of(chosen, drawn)
    for name in names:
        if name in taken:
            raise DuplicateError(f"`metrics`: the frame has a column {name!r} already")
    # Counts can be edited; what is less than none has no rate.
    sane = {name: pl.when(pl.col(name) >= 0).then(pl.col(name)) for name in CELLS}
    cells = Cells(**sane, threshold=COLUMNS.threshold)
    table = frame.with_columns(metric.expr(cells).alias(metric.name) for metric in chosen)
    return like(self.frame, with_ends(table, chosen, drawn).select(*taken, *names))


@documented(
    thresholds="A number, several, `uniform`, `dyadic`, `quantiles` or `every_score`. A row is"
    " called positive when ``score >= threshold``. None if all metrics are such that take no"
    " threshold: then there is no column `threshold`, and no count.",
    interval="A level, as 0.95, or what `wilson`, `delong`, `bootstrap` and the like make: adds"
    " `<metric>_low` and `<metric>_high` after each metric.",
)
def evaluate(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    metrics: IntoMetric | Iterable[IntoMetric],
    thresholds: IntoThresholds | None = 0.5,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
    interval: IntoInterval | None = None,
) -> Frame:
    """
    Compute metrics per segment, model and threshold.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, n, n_positive, n_negative, n_missing,
        *metrics]``, sorted by segment, model and threshold. `n_missing` counts the rows left
        out because their score, label or weight is null. Metrics are Float64 and null where
        undefined; one that takes no threshold is repeated at each. A segment and model with a
        NaN score, a label that is neither 0 nor 1, or a weight that is negative, NaN or
        infinite has null counts and metrics.

        An interval is Wilson's for proportions, DeLong's for `roc_auc` and `gini`, that of a mean
        for `brier` and `log_loss`, of the logarithm for likelihood and odds ratios, and the delta
        method's for all other metrics of the counts, cut at the range of the metric; null for the
        rest. The rows are taken as
        drawn independently; weights, as in Kish's effective sample size ``(sum of w)^2 / sum of
        w^2``, by which all counts of a segment are scaled. Where nothing was called wrong, as for
        an `f1` of 1, the interval of the delta method has no width.

    Notes
    -----
    One plan, which reads the rows once: the group-by of `counts` and, if asked for, a group-by
    for the metrics of probabilities and one sort for those of ranks, over again for each level with
    `rollup`. All metrics of the counts together cost next to nothing beside the
    counts. With a metric that takes no threshold, the streaming engine keeps keys, scores and
    labels in memory.

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
    drawn = None if interval is None else interval_of(interval)
    names = names_of(chosen, drawn)
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
    spec = None if thresholds is None else thresholds_of("thresholds", thresholds)
    groups, table = filled(rows, chosen, spec, strict=strict, rollup=rollup, interval=drawn)
    shown = OUTPUT[len(COUNTS) if thresholds is None else 1 :]
    return like(self.frame, rows.named(table.select(*groups, *shown, *names)))


def of_state(
    state: pl.DataFrame,
    metrics: IntoMetric | Iterable[IntoMetric],
    *,
    thresholds: IntoThresholds,
    interval: IntoInterval | None,
) -> pl.DataFrame:
    """
    Metrics of the counts, in the order asked for, and `roc_auc` with its bounds, of a histogram.

    The thresholds are among those of the histogram, `every_score` all of them. What a state does
    not know is `n_missing`.
    """
    face = FrameFace(state)
    if interval is not None and state.schema["positives"].is_float():
        raise ValueError("`interval` takes no states of sums of weights")
    for name in ("n", "n_positive", "n_negative"):
        if name in state.columns:
            raise DuplicateError(f"the output has a column {name!r} of its own; rename the key")
    chosen = find(metrics)
    rated = [metric for metric in chosen if metric not in (*BASE, areas.roc_auc)]
    table = histograms.cumulate(face)
    spec = thresholds_of("thresholds", thresholds)
    if isinstance(spec, list):
        grid: list[float] = table["threshold"].unique().to_list()
        lacking = sorted(set(spec).difference(grid))
        if grid and lacking:
            near = min((abs(each - lacking[0]), each) for each in grid)[1]
            raise ValueError(
                f"`thresholds`: {lacking[0]} is none of the state's; the nearest is {near}"
            )
        table = table.filter(pl.col("threshold").is_in(spec))
    elif spec != EveryScore(midpoints=False):
        raise ValueError("`thresholds` of a state should be numbers, or every_score()")
    sizes = [METRICS[name] for name in ("n", "n_positive", "n_negative")]
    table = rates(FrameFace(table), sizes)
    table = rates(FrameFace(table), rated, interval=interval)
    if areas.roc_auc in chosen:
        area = histograms.roc_auc(face, interval=interval)
        by = [name for name in area.columns if name in state.columns]
        table = table.join(area, on=by, how="left", nulls_equal=True, maintain_order="left")
    return table
