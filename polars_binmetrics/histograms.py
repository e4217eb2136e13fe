"""The mergeable state: rows between thresholds, which add over days, files and machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import cast, overload

import polars as pl
import polars.selectors as cs
from polars.exceptions import ColumnNotFoundError, DuplicateError, SchemaError

from polars_binmetrics import areas
from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean
from polars_binmetrics.counts import CELLS
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.intervals import Interval, IntoInterval, interval_of
from polars_binmetrics.metric import RankMetric
from polars_binmetrics.refusals import in_order, stopped
from polars_binmetrics.state import BELOW, SIDES, TOTALS, Sweep, from_bins
from polars_binmetrics.sweep import sweep
from polars_binmetrics.table import of_ranks, with_ends
from polars_binmetrics.thresholds import IntoThresholds, thresholds_of
from polars_binmetrics.wording import documented

__all__ = ["merge_histograms"]

STATE = ["model", "threshold", *SIDES]
ENDS = ["roc_auc_low", "roc_auc_high"]
BOUNDS = ["roc_auc", "roc_auc_lower", "roc_auc_upper"]
OTHER_GRIDS = "the states are over different grids"
SEVERAL = "a segment and model has a threshold twice; add histograms with merge_histograms first"


@documented(
    bins="The thresholds between the bins: a number, several, `uniform`, `dyadic`, `quantiles` or"
    " `every_score`. Only states over the same numbers can be merged.",
)
def histogram(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    bins: IntoThresholds,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> Frame:
    """
    Count positives and negatives between thresholds: a state to store and to merge.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, positives, negatives]``, sorted by all but the last two, which
        are Int64, or Float64 with weights. A bin holds the rows with
        ``threshold <= score < next threshold``; the bin with a null threshold those below all
        thresholds. Every group has every bin, so no row used is lost. Rows with a null score,
        label or weight are left out. Rows with a NaN score, a label that is neither 0 nor 1, or
        a weight that is negative, NaN or infinite are in a bin of their own, threshold NaN,
        where such a weight is taken as 1.

    Notes
    -----
    One group-by of the rows, whatever the number of bins, in memory that grows with segments
    times models times bins and not with the rows.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.histogram("score", "y", bins=[0.2, 0.5])
    shape: (3, 4)
    ┌───────┬───────────┬───────────┬───────────┐
    │ model ┆ threshold ┆ positives ┆ negatives │
    │ ---   ┆ ---       ┆ ---       ┆ ---       │
    │ str   ┆ f64       ┆ i64       ┆ i64       │
    ╞═══════╪═══════════╪═══════════╪═══════════╡
    │ score ┆ null      ┆ 0         ┆ 1         │
    │ score ┆ 0.2       ┆ 1         ┆ 0         │
    │ score ┆ 0.5       ┆ 1         ┆ 1         │
    └───────┴───────────┴───────────┴───────────┘
    """
    rows = clean(
        self.frame.lazy(),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=STATE,
    )
    swept = sweep(rows, thresholds_of("bins", bins), strict=False, rollup=rollup)
    return like(self.frame, state_of(rows, swept))


def cumulate(self: FrameFace[Frame]) -> Frame:
    """
    Turn a histogram into the counts at each of its thresholds.

    Returns
    -------
    DataFrame or LazyFrame
        The counts frame that `counts` gives at these thresholds: the columns of the histogram
        with tp, fp, fn and tn in place of positives and negatives. Null for a group with a bin
        at NaN, or with a number that is null, negative, NaN or infinite.

    Raises
    ------
    ColumnNotFoundError, DuplicateError
        When the frame is no histogram, or has a column called like a count.
    InvalidOperationError
        When a segment and model has a threshold twice; of a lazy frame, when it is collected.

    Notes
    -----
    Four running sums over the bins; no row is read again.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.histogram("score", "y", bins=[0.2, 0.5]).binmetrics.cumulate()
    shape: (2, 6)
    ┌───────┬───────────┬─────┬─────┬─────┬─────┐
    │ model ┆ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  │
    │ ---   ┆ ---       ┆ --- ┆ --- ┆ --- ┆ --- │
    │ str   ┆ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 │
    ╞═══════╪═══════════╪═════╪═════╪═════╪═════╡
    │ score ┆ 0.2       ┆ 2   ┆ 1   ┆ 0   ┆ 1   │
    │ score ┆ 0.5       ┆ 1   ┆ 1   ┆ 1   ┆ 1   │
    └───────┴───────────┴─────┴─────┴─────┴─────┘
    """
    state = self.frame.lazy()
    by = _groups(state, CELLS)
    swept = _swept(state, by)
    counts = swept.counts().select(*swept.by, "threshold", *CELLS)
    return like(self.frame, counts.rename(dict(zip(swept.by, by, strict=True))))


def roc_auc(self: FrameFace[Frame], *, interval: IntoInterval | None = None) -> Frame:
    """
    Compute the area under the ROC curve of a histogram, and the bounds that it can't leave.

    ``P(S+ > S-) + P(S+ = S-) / 2``, where rows of one bin count as equal. The bounds are those
    of the rows: were all pairs within a bin lost, and were they all won.

    Parameters
    ----------
    interval
        A level, or what `delong` or `bootstrap` makes: adds `roc_auc_low` and `roc_auc_high`,
        the ends of a confidence interval of the area of a histogram over these bins.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, roc_auc, roc_auc_lower, roc_auc_upper]``, Float64 from 0 to 1, sorted;
        null with one class only, and where `cumulate` gives null.

    Raises
    ------
    ColumnNotFoundError, DuplicateError
        When the frame is no histogram, or has a column called like one of the results.
    TypeError, ValueError
        When `interval` is none, or asked of sums of weights.
    InvalidOperationError
        When a segment and model has a threshold twice; of a lazy frame, when it is collected.

    Notes
    -----
    Sums over the bins; no row is read again. With `every_score` as bins all three are the area
    itself. The cost of an interval does not depend on the rows behind the bins.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.histogram("score", "y", bins=[0.2, 0.5]).binmetrics.roc_auc()
    shape: (1, 4)
    ┌───────┬─────────┬───────────────┬───────────────┐
    │ model ┆ roc_auc ┆ roc_auc_lower ┆ roc_auc_upper │
    │ ---   ┆ ---     ┆ ---           ┆ ---           │
    │ str   ┆ f64     ┆ f64           ┆ f64           │
    ╞═══════╪═════════╪═══════════════╪═══════════════╡
    │ score ┆ 0.625   ┆ 0.5           ┆ 0.75          │
    └───────┴─────────┴───────────────┴───────────────┘
    """
    frame = self.frame.lazy()
    by = _groups(frame, [*BOUNDS, *(ENDS if interval is not None else [])])
    positives, negatives = (pl.col(side).cast(pl.Float64) for side in SIDES)
    unless_faulty = pl.when(sound_bin().all().over(by))
    below = negatives.cum_sum().shift(1, fill_value=0).over(by)
    terms = [
        positives * negatives,
        positives * below,
        # The same sum for all pairs, so that a perfect order gives exactly 1.
        positives * negatives.sum().over(by),
    ]
    tied, won, pairs = (pl.col(name).sum() for name in BOUNDS)
    shares = [(won + tied / 2) / pairs, won / pairs, (won + tied) / pairs]
    table = (
        single(frame)
        # The terms stand under the names of the results, which no other column has.
        .select(
            *by,
            **{name: unless_faulty.then(term) for name, term in zip(BOUNDS, terms, strict=True)},
        )
        .group_by(by)
        .agg(
            **{
                name: pl.when(pairs > 0).then(area)
                for name, area in zip(BOUNDS, shares, strict=True)
            }
        )
    )
    table = table.sort(by)
    if interval is not None:
        ends = _ends(frame, by, interval_of(interval))
        table = table.join(ends, on=by, how="left", nulls_equal=True, maintain_order="left")
    return like(self.frame, table)


def _ends(histogram: pl.LazyFrame, by: Sequence[str], interval: Interval) -> pl.LazyFrame:
    """The ends of the interval of the area: [*by, *ENDS]."""
    schema = histogram.collect_schema()
    if any(schema[side].is_float() for side in SIDES):
        raise ValueError("`interval` takes no histograms of sums of weights")
    swept = _swept(histogram, by)
    table = of_ranks(swept, [areas.roc_auc], interval=interval)
    table = with_ends(table, [areas.roc_auc], interval).select(*swept.by, *ENDS)
    return table.rename(dict(zip(swept.by, by, strict=True)))


def ranks_of(curve: pl.LazyFrame, by: Sequence[str], metric: RankMetric[[]]) -> pl.LazyFrame:
    """
    A metric of the ranks from the counts along a curve: [*by, metric].

    The curve is sorted, and begins in each group where all rows are called positive. Rows between
    two points count as tied.
    """
    weighted = curve.collect_schema()["tp"].is_float()
    group, sides = pl.col("group"), dict(zip(SIDES, ("tp", "fp"), strict=True))
    begins = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(1)) for key in by)
    counted = curve.with_columns(group=begins.cast(pl.Int64).cum_sum()).cache()
    goes_on = group == group.shift(-1)
    bins = counted.select(
        "group",
        "threshold",
        **{
            side: (
                pl.col(cell) - pl.when(goes_on).then(pl.col(cell).shift(-1)).otherwise(0)
            ).fill_null(0)
            for side, cell in sides.items()
        },
    )
    totals = dict(zip(TOTALS, sides.values(), strict=True))
    groups = (
        counted.group_by("group")
        .agg(
            pl.col(by).first(),
            n_missing=pl.lit(0),
            n_faulty=pl.col("tp").is_null().sum(),
            **{total: pl.col(cell).first().fill_null(0) for total, cell in totals.items()},
        )
        .sort("group")
    )
    swept = Sweep(from_bins(bins, weighted=weighted), groups, [*by], weighted)
    return of_ranks(swept, [metric])


def _swept(histogram: pl.LazyFrame, by: Sequence[str]) -> Sweep:
    """The sweep that the bins are of."""
    weighted = histogram.collect_schema()["positives"].is_float()
    # The frame's own columns may be called as anything.
    keys = [f"key {name}" for name in by]
    renamed = single(histogram).rename(dict(zip(by, keys, strict=True))).cache()
    groups = (
        renamed.group_by(keys)
        .agg(
            n_missing=pl.lit(0),
            n_positive=pl.col("positives").sum(),
            n_negative=pl.col("negatives").sum(),
            n_faulty=(~sound_bin()).sum(),
        )
        .sort(keys)
        .with_row_index("group")
        .cache()
    )
    numbers = groups.select(*keys, "group")
    bins = renamed.join(numbers, on=keys, nulls_equal=True, maintain_order="left").select(
        "group", "threshold", *SIDES
    )
    return Sweep(from_bins(bins, weighted=weighted), groups, keys, weighted)


def _sums(schema: pl.Schema) -> pl.Expr:
    """The sides as they are counted, of which a sum does not wrap."""
    return pl.col(SIDES).cast(_kind(schema))


def _kind(schema: pl.Schema) -> type[pl.DataType]:
    return pl.Float64 if schema["positives"].is_float() else pl.Int64


@overload
def merge_histograms(frames: Iterable[pl.DataFrame]) -> pl.DataFrame: ...
@overload
def merge_histograms(frames: Iterable[pl.LazyFrame]) -> pl.LazyFrame: ...
def merge_histograms(
    frames: Iterable[pl.DataFrame] | Iterable[pl.LazyFrame],
) -> pl.DataFrame | pl.LazyFrame:
    """
    Add histograms over the same grid: those of many days, files or machines.

    Parameters
    ----------
    frames
        Histograms, all eager or all lazy, with the same columns and over the same thresholds.
        Segments and models need not be the same. A frame may itself be several histograms,
        one below the other, as a scan of many files gives them.

    Returns
    -------
    DataFrame or LazyFrame
        The histogram of all their rows, sorted. The order of the frames does not matter.

    Raises
    ------
    TypeError, ValueError
        When there is no frame, or one that is none, or some are eager and some lazy.
    ColumnNotFoundError, SchemaError
        When the columns of a frame are not those of a histogram, or not those of the first.
    InvalidOperationError
        When thresholds differ; of lazy frames, when they are collected. Histograms over
        `every_score` or `quantiles` seldom have thresholds in common.

    Notes
    -----
    One group-by of the bins. Whole numbers add exactly; sums of weights to rounding.

    Examples
    --------
    >>> monday = pl.DataFrame({"y": [0, 1], "score": [0.1, 0.4]})
    >>> tuesday = pl.DataFrame({"y": [0, 1], "score": [0.6, 0.8]})
    >>> bm.merge_histograms(
    ...     day.binmetrics.histogram("score", "y", bins=[0.2, 0.5]) for day in (monday, tuesday)
    ... )
    shape: (3, 4)
    ┌───────┬───────────┬───────────┬───────────┐
    │ model ┆ threshold ┆ positives ┆ negatives │
    │ ---   ┆ ---       ┆ ---       ┆ ---       │
    │ str   ┆ f64       ┆ i64       ┆ i64       │
    ╞═══════╪═══════════╪═══════════╪═══════════╡
    │ score ┆ null      ┆ 0         ┆ 1         │
    │ score ┆ 0.2       ┆ 1         ┆ 0         │
    │ score ┆ 0.5       ┆ 1         ┆ 1         │
    └───────┴───────────┴───────────┴───────────┘
    """
    if isinstance(frames, pl.DataFrame | pl.LazyFrame):
        raise TypeError(f"`frames` should be several frames, got {type(frames).__name__}")
    given: list[pl.DataFrame | pl.LazyFrame] = list(frames)
    if not given:
        raise ValueError("`frames` should hold at least one histogram, got none")
    for frame in given:
        if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
            raise TypeError(f"`frames` should be frames, got {type(frame).__name__}")
        if isinstance(frame, pl.LazyFrame) != isinstance(given[0], pl.LazyFrame):
            raise TypeError("`frames` should be all DataFrames or all LazyFrames, got both")
    states = [frame.lazy() for frame in given]
    by = _groups(states[0], [])
    schema = states[0].collect_schema()
    for i, state in enumerate(states[1:], start=1):
        if dict(other := state.collect_schema()) != dict(schema):
            raise SchemaError(
                f"`frames`: the first has columns {_described(schema)}; number {i + 1} has"
                f" {_described(other)}"
            )
    pieces = " ".join(schema)  # Longer than any name, so no key has it.
    merged = (
        pl.concat([state.select(schema.names()) for state in states])
        .with_columns(_sums(schema))
        .group_by(*by, "threshold")
        .agg(
            # What one of them does not know, the sum does not.
            *(pl.when(pl.col(side).null_count() == 0).then(pl.col(side).sum()) for side in SIDES),
            pl.len().alias(pieces),
        )
    )
    # Each histogram has every bin in each of its groups. So a threshold that comes less often
    # than the bin below them all is missing somewhere.
    threshold, often = pl.col("threshold"), pl.col(pieces)
    lacking = often.sum().over(threshold) != often.filter(threshold.is_null()).sum()
    refused = (lacking & threshold.is_not_nan().fill_null(True)).any()
    refusal = stopped(refused, OTHER_GRIDS, _kind(schema))
    merged = merged.with_columns(pl.coalesce(refusal, "positives").alias("positives"))
    merged = merged.select(*by, "threshold", *SIDES).sort(*by, "threshold")
    return like(given[0], merged)


def ordered(state: Frame) -> Frame:
    """A histogram with its columns in their order; anything else is refused."""
    by = _groups(state.lazy(), [])
    # Names, not patterns of names.
    return cast(Frame, state.select(map(cs.by_name, (*by, "threshold", *SIDES))))


def single(state: pl.LazyFrame) -> pl.LazyFrame:
    """A histogram in its order; several in one frame are refused when it is collected."""
    by = _groups(state, [])
    bins = ordered(state).with_columns(_sums(state.collect_schema()))
    return in_order(bins, by, "threshold", why=SEVERAL, held="positives")


def state_of(rows: Clean, swept: Sweep) -> pl.LazyFrame:
    """The histogram of rows that were counted."""
    return rows.named(swept.labelled(swept.state.drop(BELOW)))


def sound_bin() -> pl.Expr:
    """Whether the rows of a bin are sound, and their number is one."""
    numbers = pl.all_horizontal(pl.col(SIDES).is_between(0, inf, closed="left").fill_null(False))
    return numbers & pl.col("threshold").is_not_nan().fill_null(True)


def _groups(state: pl.LazyFrame, added: Iterable[str]) -> list[str]:
    """The columns of a histogram that make a group."""
    schema = state.collect_schema()
    columns = schema.names()
    for name in STATE:
        if name not in columns:
            raise ColumnNotFoundError(
                f"the frame is no histogram: it has no column {name!r}, only {_listed(columns)}"
            )
    for name in ("threshold", *SIDES):
        if not schema[name].is_numeric() or (name == "threshold" and schema[name].is_decimal()):
            raise SchemaError(f"the frame is no histogram: its {name!r} is {schema[name]}")
    by = [*(name for name in columns if name not in STATE), "model"]
    for name in added:
        if name in by:
            raise DuplicateError(f"the frame has a column {name!r} already; rename it")
    return by


def _described(schema: pl.Schema) -> str:
    return ", ".join(f"{name} {dtype}" for name, dtype in schema.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
