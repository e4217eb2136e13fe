"""The frame verbs: counts, rates, and both with all else in `evaluate`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from math import inf
from typing import TypeAlias

import polars as pl
from polars.exceptions import DuplicateError

from polars_binmetrics import areas, probability
from polars_binmetrics import rates as count_metrics
from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, Rows, clean
from polars_binmetrics.counts import CELLS, COLUMNS, Cells
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.hull import hull_of_sweep
from polars_binmetrics.intervals import Interval, IntoInterval, interval_of
from polars_binmetrics.metric import AnyMetric, CountMetric, Metric, RankMetric, RowMetric
from polars_binmetrics.ranking import FIELDS, columns, ranked
from polars_binmetrics.resampling import Bootstrap
from polars_binmetrics.state import SIDES, TOTALS, Sweep, levels, sized, sound
from polars_binmetrics.sweep import sweep
from polars_binmetrics.thresholds import IntoThresholds, thresholds_of
from polars_binmetrics.wording import documented


def _scale(rows: Rows) -> pl.Expr:
    used = pl.when(rows.score.is_not_null()).then(rows.weight)
    return used.sum() / (used * used).sum()


IntoMetric: TypeAlias = str | Metric[...]

#: Every metric, under each of its names.
METRICS: dict[str, AnyMetric] = {
    name: getattr(module, name)
    for module in (count_metrics, areas, probability)
    for name in module.__all__
}
POSITION = ["model", "threshold"]
COUNTS = [*POSITION, *CELLS]
OUTPUT = [*COUNTS, "n", "n_positive", "n_negative", "n_missing"]
#: By which to scale weights so that their sum is Kish's effective sample size.
EFFECTIVE: RowMetric[[]] = RowMetric("effective size", _scale, (0, inf), None, "")
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
        taken=[*COUNTS, *levels(rollup)],
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
        if metric.name not in taken:
            chosen.append(of_counts(metric))
        elif metric not in BASE:
            raise DuplicateError(f"`metrics`: the frame has a column {metric.name!r} already")
    drawn = None if interval is None else interval_of(interval)
    if drawn and any(taken[cell].is_float() for cell in CELLS if cell in taken):
        _refuse_weights(drawn, "counts that are sums of weights")
    names = _with_ends(chosen, drawn)
    for name in names:
        if name in taken:
            raise DuplicateError(f"`metrics`: the frame has a column {name!r} already")
    # Counts can be edited; what is less than none has no rate.
    sane = {name: pl.when(pl.col(name) >= 0).then(pl.col(name)) for name in CELLS}
    cells = Cells(**sane, threshold=COLUMNS.threshold)
    table = frame.with_columns(metric.expr(cells).alias(metric.name) for metric in chosen)
    return like(self.frame, _drawn(table, chosen, drawn).select(*taken, *names))


@documented(
    metrics="Names or metric objects, as in ``['recall', bm.fbeta(2.0), 'roc_auc']``.",
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

        An interval is Wilson's for proportions, DeLong's for `roc_auc` and `gini`, of the
        logarithm for likelihood and odds ratios, and the delta method's for all other metrics of
        the counts, cut at the range of the metric; null for the rest. The rows are taken as
        drawn independently; weights, as in Kish's effective sample size ``(sum of w)^2 / sum of
        w^2``, by which all counts of a segment are scaled. The delta method gives an interval of
        no width where all counts that matter are 0, as for `f1` of 1.

    Notes
    -----
    One plan, which reads the rows once: the group-by of `counts` and, if asked for, a group-by
    for the metrics of probabilities and one sort a model for all those of ranks, over again for
    each level with `rollup`. All metrics of the counts together cost next to nothing beside the
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
    names = _with_ends(chosen, drawn)
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
        taken=[*OUTPUT, *levels(rollup), *names],
    )
    counted = [metric for metric in chosen if isinstance(metric, CountMetric)]
    of_rows = [metric for metric in chosen if isinstance(metric, RowMetric)]
    of_ranks = [metric for metric in chosen if isinstance(metric, RankMetric)]
    if drawn and rows.weighted:
        _refuse_weights(drawn, "weights")
        if any(metric.spread() for metric in of_ranks):
            raise ValueError("`interval`: DeLong's interval takes no weights")
        of_rows = [*of_rows, EFFECTIVE]
    ranks = ranked(rows, rollup=rollup)
    if thresholds is None:
        if counted:
            raise ValueError(f"`thresholds` can't be None: {counted[0].name!r} takes one")
        shown = OUTPUT[len(COUNTS) :]
        groups, table = ranks.by, sized(ranks.groups)
    else:
        shown = OUTPUT[1:]
        spec = thresholds_of("thresholds", thresholds)
        swept = sweep(rows, spec, strict=strict, rollup=rollup)
        groups, table = swept.by, with_rates(sized(swept.counts()), counted)
    summaries = [_of_rows(rows, of_rows, rollup=rollup)] if of_rows else []
    one_group = not rows.keys and len(rows.models) == 1
    if of_ranks and isinstance(drawn, Bootstrap):
        summaries.append(_redrawn(ranks, of_ranks, drawn))
    elif of_ranks and drawn:
        of_ranks += [spread for metric in of_ranks if (spread := metric.spread())]
    summaries += [_of_ranks(ranks, of_ranks, one_group=one_group)] if of_ranks else []
    for summary in summaries:
        table = table.join(summary, on=groups, how="left", nulls_equal=True, maintain_order="left")
    effective = pl.col(EFFECTIVE.name) if drawn and rows.weighted else None
    table = _drawn(table, chosen, drawn, effective)
    return like(self.frame, rows.named(table.select(*groups, *shown, *names)))


def find(
    metrics: IntoMetric | Iterable[IntoMetric], *, argument: str = "metrics"
) -> list[AnyMetric]:
    """Metrics by name or as objects, each name once."""
    found: dict[str, AnyMetric] = {}
    for given in _listed(metrics):
        metric = named(given, argument=argument) if isinstance(given, str) else given
        if not isinstance(metric, CountMetric | RowMetric | RankMetric):
            got = type(given).__name__
            raise TypeError(f"`{argument}` should be names or metrics, got {got}")
        try:
            metric.signature().bind(**metric.parameters)
        except TypeError as error:
            raise TypeError(f"`{argument}`: {metric.name!r}: {error}") from None
        if metric.name in found:
            raise DuplicateError(
                f"`{argument}`: {metric.name!r} is there twice; rename one,"
                f" for example bm.{metric.name}(...).alias('other')"
            )
        found[metric.name] = metric
    return list(found.values())


def _listed(metrics: IntoMetric | Iterable[IntoMetric]) -> Iterable[IntoMetric]:
    if isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable):
        return [metrics]
    return metrics


def named(name: str, *, argument: str = "metrics") -> AnyMetric:
    """The metric of this name."""
    if name in METRICS:
        return METRICS[name]
    near = difflib.get_close_matches(name, METRICS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(METRICS))}"
    raise ValueError(f"`{argument}`: there is no metric {name!r}; {hint}")


def of_counts(metric: AnyMetric, *, argument: str = "metrics") -> CountMetric[...]:
    """The metric, which is one of the counts."""
    if not isinstance(metric, CountMetric):
        raise ValueError(
            f"`{argument}`: {metric.name!r} is not of the counts; use `evaluate` on the rows"
        )
    return metric


def with_rates(frame: pl.LazyFrame, metrics: Iterable[CountMetric[...]]) -> pl.LazyFrame:
    """A counts frame with a column a metric."""
    return frame.with_columns(metric.expr().alias(metric.name) for metric in metrics)


def _refuse_weights(interval: Interval, given: str) -> None:
    if isinstance(interval, Bootstrap):
        raise ValueError(f"`interval`: the bootstrap draws whole rows, so it takes no {given}")


def _with_ends(metrics: Iterable[AnyMetric], interval: Interval | None) -> list[str]:
    """The columns of the metrics and of the ends of their intervals."""
    ends = ["", "_low", "_high"] if interval else [""]
    names = [metric.name + end for metric in metrics for end in ends]
    for name in names:
        if names.count(name) > 1:
            raise DuplicateError(f"`metrics`: two columns would be called {name!r}; rename one")
    return names


def _drawn(
    table: pl.LazyFrame,
    metrics: Iterable[AnyMetric],
    interval: Interval | None,
    effective: pl.Expr | None = None,
) -> pl.LazyFrame:
    """A table of metrics with the ends of their intervals."""
    if interval is None:
        return table
    ends: dict[str, pl.Expr] = {}
    fields: dict[str, pl.Expr] = {}
    for metric in metrics:
        both = f"{metric.name} ends"
        ends[both] = pl.when(pl.col(metric.name).is_not_null()).then(
            metric.ends(interval, effective)
        )
        for end in ("low", "high"):
            fields[f"{metric.name}_{end}"] = pl.col(both).struct.field(end)
    return table.with_columns(**ends).with_columns(**fields)


def _of_rows(rows: Clean, metrics: Sequence[RowMetric[...]], *, rollup: bool) -> pl.LazyFrame:
    """The metrics of the rows: [*by, model, *metrics]; of totals, over their rows."""
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
    if not rollup:
        return rows.reduce(aggregations, blocks)
    keys = list(rows.keys.items())
    totals = [
        rows._replace(keys=dict(keys[:level]))
        .reduce(aggregations, blocks)
        .with_columns(level=pl.lit(level, pl.Int64))
        for level in range(len(keys) + 1)
    ]
    return pl.concat(totals, how="diagonal")


def _of_ranks(
    scores: Sweep, metrics: Sequence[RankMetric[...]], *, one_group: bool
) -> pl.LazyFrame:
    """The metrics of the ranks: [*by, model, *metrics]; of totals, ranked over their rows."""
    kinds = {(metric.hull, metric.listed) for metric in metrics}
    if len(kinds) > 1:  # Else what no metric asks for is not computed.
        scores = scores._replace(state=scores.state.cache())
    table = scores.groups
    for hull, listed in sorted(kinds):
        chosen = [each for each in metrics if (each.hull, each.listed) == (hull, listed)]
        bins = hull_of_sweep(scores) if hull else scores
        beside: dict[str, pl.Expr] = {}
        values = {metric.name: metric.of_steps(columns(beside)) for metric in chosen}
        asked = {name for each in (beside | values).values() for name in each.meta.root_names()}
        # A join is made even if nothing is asked of it.
        steps = bins.counted() if asked & {*CELLS, *TOTALS} else bins.state
        steps = steps.with_columns(pl.col(asked & {*FIELDS}).cast(pl.Float64))
        steps = steps.with_columns(**beside)
        if one_group and not listed:  # A group by itself would be gathered first.
            reduced = steps.select(group=pl.lit(0, pl.UInt32), **values).head(1)
        else:
            reduced = steps.set_sorted("group").group_by("group").agg(**values)
        finished = [metric.finish(pl.col(metric.name)).alias(metric.name) for metric in chosen]
        table = table.join(
            reduced.with_columns(finished), on="group", how="left", maintain_order="left"
        )
    return table.select(*scores.by, sound(*(metric.name for metric in metrics)))


def _redrawn(
    scores: Sweep, metrics: Sequence[RankMetric[...]], interval: Bootstrap
) -> pl.LazyFrame:
    """The intervals of the metrics of the ranks by bootstrap: [*by, model, both ends of each]."""

    def values(state: pl.DataFrame) -> pl.DataFrame:
        sizes = {size: pl.col(side).sum() for size, side in zip(TOTALS, SIDES, strict=True)}
        groups = (
            state.lazy().group_by("group").agg(**sizes, n_missing=pl.lit(0), n_faulty=pl.lit(0))
        )
        draws = Sweep(state.lazy(), groups.sort("group"), ["group"], weighted=False)
        table = _of_ranks(draws.over(draws.state), metrics, one_group=False)
        return table.drop("group").collect()

    names = [metric.name for metric in metrics]
    bins = pl.struct("threshold", *SIDES)
    redrawn = scores.state.set_sorted("group").group_by("group").agg(bins.alias("bins"))
    redrawn = redrawn.with_columns(interval.of_bins(pl.col("bins"), names, values))
    fields = {f"{name} redrawn": pl.col("bins").struct.field(name) for name in names}
    table = scores.groups.join(redrawn, on="group", how="left", maintain_order="left")
    return table.select(*scores.by, **fields)
