"""Where a table of results is filled: a row a segment, model and threshold, a column a metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

import polars as pl
from polars.exceptions import DuplicateError

from polars_binmetrics.columns import Clean, Rows
from polars_binmetrics.counts import CELLS
from polars_binmetrics.hull import hull_of_sweep
from polars_binmetrics.intervals import Interval
from polars_binmetrics.metric import AnyMetric, CountMetric, RankMetric, RowMetric
from polars_binmetrics.ranking import FIELDS, columns, ranked
from polars_binmetrics.resampling import Bootstrap
from polars_binmetrics.state import SIDES, TOTALS, Sweep, from_bins, sized, sound
from polars_binmetrics.sweep import sweep
from polars_binmetrics.thresholds import Thresholds


def _effective(rows: Rows) -> pl.Expr:
    """By what to scale weights so that their sum is Kish's effective sample size."""
    used = pl.when(rows.score.is_not_null()).then(rows.weight)
    return used.sum() / (used * used).sum()


EFFECTIVE: RowMetric[[]] = RowMetric(
    "effective size", _effective, (0, inf), None, _effective.__doc__ or ""
)


def filled(
    rows: Clean,
    metrics: Sequence[AnyMetric],
    thresholds: Thresholds | None,
    *,
    strict: bool,
    rollup: bool,
    interval: Interval | None,
) -> tuple[list[str], pl.LazyFrame]:
    """
    The columns that make a group, and the table of all groups.

    ``[*by, threshold, *CELLS, *SIZES, n, *metrics]``, and what belongs to the intervals. Without
    thresholds there are no counts.
    """
    counted = [metric for metric in metrics if isinstance(metric, CountMetric)]
    of_scores = [metric for metric in metrics if isinstance(metric, RowMetric)]
    ranking = [metric for metric in metrics if isinstance(metric, RankMetric)]
    effective = None
    if interval:
        of_scores += [spread for metric in of_scores if (spread := metric.spread())]
    if interval and rows.weighted:
        refuse_weights(interval, "weights")
        if any(metric.spread() for metric in ranking):
            raise ValueError("`interval`: DeLong's interval takes no weights")
        effective = pl.col(EFFECTIVE.name)
        of_scores.append(EFFECTIVE)
    ranks = ranked(rows, rollup=rollup)
    if thresholds is None:
        if counted:
            raise ValueError(f"`thresholds` can't be None: {counted[0].name!r} takes one")
        by, table = ranks.by, sized(ranks.groups)
    else:
        swept = sweep(rows, thresholds, strict=strict, rollup=rollup)
        by, table = swept.by, with_rates(sized(swept.counts()), counted)
    summaries = [of_rows(rows, of_scores, rollup=rollup)] if of_scores else []
    if ranking:
        one_group = not rows.keys and len(rows.models) == 1
        summaries.append(of_ranks(ranks, ranking, interval=interval, one_group=one_group))
    for summary in summaries:
        table = table.join(summary, on=by, how="left", nulls_equal=True, maintain_order="left")
    return by, with_ends(table, metrics, interval, effective)


def with_rates(frame: pl.LazyFrame, metrics: Iterable[CountMetric[...]]) -> pl.LazyFrame:
    """A counts frame with a column a metric."""
    return frame.with_columns(metric.expr().alias(metric.name) for metric in metrics)


def refuse_weights(interval: Interval, given: str) -> None:
    """Refuse a bootstrap of weights."""
    if isinstance(interval, Bootstrap):
        raise ValueError(f"`interval`: the bootstrap draws whole rows, so it takes no {given}")


def names_of(metrics: Iterable[AnyMetric], interval: Interval | None) -> list[str]:
    """The columns of the metrics and of the ends of their intervals."""
    ends = ["", "_low", "_high"] if interval else [""]
    names = [metric.name + end for metric in metrics for end in ends]
    for name in names:
        if names.count(name) > 1:
            raise DuplicateError(f"`metrics`: two columns would be called {name!r}; rename one")
    return names


def with_ends(
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


def of_rows(rows: Clean, metrics: Sequence[RowMetric[...]], *, rollup: bool) -> pl.LazyFrame:
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


def of_ranks(
    scores: Sweep,
    metrics: Sequence[RankMetric[...]],
    *,
    interval: Interval | None = None,
    one_group: bool = False,
) -> pl.LazyFrame:
    """
    The metrics of the ranks, and what belongs to their intervals: ``[*by, *metrics, ...]``.

    Those of totals are ranked over their rows.
    """
    spreads = [spread for metric in metrics if interval and (spread := metric.spread())]
    table = _of_steps(scores, [*metrics, *spreads], one_group=one_group)
    if isinstance(interval, Bootstrap):
        redrawn = _redrawn(scores, metrics, interval)
        table = table.join(redrawn, on="group", how="left", maintain_order="left")
    return table.drop("group")


def _of_steps(
    scores: Sweep, metrics: Sequence[RankMetric[...]], *, one_group: bool
) -> pl.LazyFrame:
    """The metrics of the ranks: [group, *by, *metrics]."""
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
    return table.select("group", *scores.by, sound(*(metric.name for metric in metrics)))


def _redrawn(
    scores: Sweep, metrics: Sequence[RankMetric[...]], interval: Bootstrap
) -> pl.LazyFrame:
    """The intervals of the metrics of the ranks by bootstrap: [group, both ends of each]."""

    def values(state: pl.DataFrame) -> pl.DataFrame:
        sizes = {size: pl.col(side).sum() for size, side in zip(TOTALS, SIDES, strict=True)}
        groups = (
            state.lazy().group_by("group").agg(**sizes, n_missing=pl.lit(0), n_faulty=pl.lit(0))
        )
        drawn = from_bins(state.lazy(), weighted=False)
        draws = Sweep(drawn, groups.sort("group"), [], weighted=False)
        table = _of_steps(draws, metrics, one_group=False)
        return table.drop("group").collect()

    names = [metric.name for metric in metrics]
    bins = pl.struct("threshold", *SIDES)
    redrawn = scores.state.set_sorted("group").group_by("group").agg(bins.alias("bins"))
    drawn = interval.of_bins(pl.col("bins"), names, values)
    fields = {f"{name} redrawn": pl.col("bins").struct.field(name) for name in names}
    return redrawn.with_columns(drawn).select("group", **fields)
