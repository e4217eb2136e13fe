"""
Where rows are counted at many thresholds: one group-by or one sort, then a small table.

At fixed thresholds, rows are counted per segment, model and bin; where the data set the thresholds,
they are ranked, and the counts at every score are added up between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import polars as pl

from polars_binmetrics.bins import reached
from polars_binmetrics.columns import Clean
from polars_binmetrics.ranking import ranked
from polars_binmetrics.state import SIDES, Sweep, from_bins, levels, rolled_up
from polars_binmetrics.thresholds import EveryScore, Quantiles, Thresholds

PLACE, THRESHOLD = pl.col("place"), pl.col("threshold")


def sweep(rows: Clean, thresholds: Thresholds, *, strict: bool, rollup: bool) -> Sweep:
    """Count the rows between thresholds; with `rollup` those of each total, too."""
    if isinstance(thresholds, list):
        return _at_fixed(rows, thresholds, strict=strict, rollup=rollup)
    scores = ranked(rows, rollup=rollup)
    if isinstance(thresholds, EveryScore) and not (strict or thresholds.midpoints):
        return scores
    scores = scores._replace(state=scores.state.cache())
    cuts = limits(scores, thresholds, finest=len(rows.keys) if rollup else None)
    return scores.over(cut(scores, cuts, strict=strict))


def limits(scores: Sweep, thresholds: Thresholds, *, finest: int | None) -> pl.LazyFrame:
    """The thresholds of each group; `finest` is the level of no totals, if there are some."""
    if isinstance(thresholds, Quantiles):
        return _quantiles(scores, thresholds, finest=finest)
    if isinstance(thresholds, list):
        numbers = pl.lit(thresholds, dtype=pl.List(pl.Float64))
        return scores.groups.select("group", numbers.alias("threshold")).explode(
            "threshold", empty_as_null=False
        )
    if thresholds.midpoints:
        return _midpoints(scores.state)
    return scores.state.filter(THRESHOLD.is_not_nan()).select("group", "threshold")


def _at_fixed(rows: Clean, thresholds: list[float], *, strict: bool, rollup: bool) -> Sweep:
    finest = _counted_by_bin(rows, thresholds, strict=strict)
    return from_places(finest, rows, thresholds, rollup=rollup)


def from_places(
    finest: pl.LazyFrame, rows: Clean, thresholds: list[float], *, rollup: bool
) -> Sweep:
    """
    The sweep of rows counted by place, ``[*keys, model, place, rows, *SIDES]``.

    A place is the number of thresholds reached; null for missing rows, and one more than there
    are thresholds for rows at fault.
    """
    finest = finest.cache()
    keys = list(rows.keys.values())
    by = [*keys, *levels(rollup), "model"]
    counted = finest
    if rollup or not keys:
        counted = rolled_up(
            finest, keys, rows.models, apart=["model", "place"], sums=["rows", *SIDES]
        ).cache()
    used, faulty = PLACE.is_not_null(), pl.col("place") > len(thresholds)
    groups = (
        counted.group_by(by)
        .agg(
            n_missing=pl.when(~used).then("rows").otherwise(0).sum(),
            n_positive=pl.when(used).then("positives").otherwise(0).sum(),
            n_negative=pl.when(used).then("negatives").otherwise(0).sum(),
            n_faulty=pl.when(faulty).then("rows").otherwise(0).sum(),
        )
        .sort(by)
        .with_row_index("group")
        .cache()
    )
    numbered = (
        counted.join(groups, on=by, nulls_equal=True)
        .select("group", "place", *SIDES)
        .filter(PLACE.is_not_null())
    )
    bins = _on_grid(numbered, groups, thresholds)
    return Sweep(from_bins(bins, weighted=rows.weighted), groups, by, rows.weighted)


def _counted_by_bin(rows: Clean, thresholds: list[float], *, strict: bool) -> pl.LazyFrame:
    """
    Count the rows per segment, model and bin among fixed thresholds.

    With a group-by a model, the streaming engine would keep all rows for those that come later.
    """
    size = len(thresholds) + 3
    scores = {f"place {i}": score for i, score in enumerate(rows.models.values())}
    # The place tells the model, too: whole numbers are grouped faster than names.
    codes = [pl.col(place).fill_null(size - 1) + i * size for i, place in enumerate(scores)]
    frame = reached(rows.frame, scores, thresholds, strict=strict).with_columns(codes)
    index = [*rows.keys.values(), "positive", *(["weight"] if rows.weighted else [])]
    of = rows.of(next(iter(rows.models)))
    sums = {
        # Not len(), which ends at 2^32.
        "rows": of.positive.is_not_null().cast(pl.Int64).sum(),
        "positives": of.total(of.positive),
    }
    if rows.weighted:
        sums["negatives"] = of.total(~of.positive)
    counted = (
        frame.select(*index, *scores)
        .unpivot(list(scores), index=index, value_name="place")
        .group_by(*rows.keys.values(), "place")
        .agg(**sums)
    )
    if not rows.weighted:
        counted = counted.with_columns(negatives=pl.col("rows") - pl.col("positives"))
    models = pl.lit(pl.Series(list(rows.models), dtype=pl.String))
    place = PLACE % size
    return counted.with_columns(
        models.gather(PLACE // size).alias("model"), pl.when(place < size - 1).then(place)
    )


def _on_grid(numbered: pl.LazyFrame, groups: pl.LazyFrame, thresholds: list[float]) -> pl.LazyFrame:
    """The state on fixed thresholds, with every bin in every group."""
    bins = [None, *thresholds, nan]
    schema = {"place": pl.UInt32, "threshold": pl.Float64}
    grid = pl.LazyFrame({"place": range(len(bins)), "threshold": bins}, schema=schema)
    # One whole number is joined and sorted faster than two columns.
    position = pl.col("group").cast(pl.Int64) * len(bins) + PLACE
    return (
        groups.select("group")
        .join(grid, how="cross")
        .with_columns(position=position)
        .join(numbered.select(*SIDES, position=position), on="position", how="left")
        .sort("position")
        .filter(
            pl.col("threshold").is_not_nan().fill_null(True) | pl.col("positives").is_not_null()
        )
        .select("group", "threshold", pl.col(SIDES).fill_null(0))
    )


def _quantiles(scores: Sweep, spec: Quantiles, *, finest: int | None) -> pl.LazyFrame:
    """For each group, the scores at which the share of rows first reaches 0, 1 / (n - 1), ..."""
    pool = {"overall": [], "model": ["model"], "segment": ["group"]}[spec.per]
    rows = scores.state.filter(THRESHOLD.is_not_nan())
    if spec.per != "segment":
        # Totals would count a row of the finest segments again.
        groups = scores.groups if finest is None else scores.groups.filter(level=finest)
        rows = rows.join(groups.select("group", "model"), on="group")
    weight = pl.col("weight").cum_sum()
    level = weight * (spec.n - 1) // weight.last()
    # The last share is 1 by itself; a rounded product might miss it.
    level = pl.when(weight == weight.last()).then(spec.n - 1).otherwise(level)
    cuts = (
        rows.with_columns(weight=pl.sum_horizontal(SIDES), all=True)
        .group_by(*pool, "all", "threshold")
        .agg(pl.col("weight").sum())
        .sort(*pool, "threshold")
        .with_columns(level=level.over(*pool, "all"))
        .with_columns(before=pl.col("level").shift(1, fill_value=-1).over(*pool, "all"))
        .filter(pl.col("level") > pl.col("before"))
    )
    groups = scores.groups.with_columns(all=True)
    return groups.join(cuts, on=[*pool, "all"]).select("group", "threshold")


def _midpoints(state: pl.LazyFrame) -> pl.LazyFrame:
    """The points half-way between neighbouring scores, and one beyond each end."""
    scores = state.filter(THRESHOLD.is_not_nan()).select("group", "threshold")
    before = THRESHOLD.shift(1)
    middle = before / 2 + THRESHOLD / 2
    # Between two neighbouring numbers there is none.
    between = pl.when((before < middle) & (middle < THRESHOLD)).then(middle).otherwise(THRESHOLD)
    between = pl.when(before.is_null()).then(-inf).otherwise(between)
    last = scores.select("group").unique().with_columns(threshold=inf)
    return pl.concat([scores.select("group", between.over("group").alias("threshold")), last])


def cut(
    scores: Sweep, cuts: pl.LazyFrame, *, strict: bool, sums: Sequence[str] = SIDES
) -> pl.LazyFrame:
    """The state at every score, added up between the thresholds `cuts` of each group."""
    faulty = scores.state.filter(THRESHOLD.is_nan()).select("group", "threshold", *sums)
    marks = pl.concat([scores.groups.select("group"), cuts], how="diagonal")
    marks = marks.with_columns(place="threshold")
    rows = scores.state.filter(THRESHOLD.is_not_nan()).select("group", "threshold", *sums)
    # A mark stands before the rows of its own score, which reach it; if strict, after them.
    marked = THRESHOLD.is_not_null()
    lined_up = (
        pl.concat([rows.rename({"threshold": "place"}), marks], how="diagonal")
        .sort("group", "place", marked, descending=[False, False, not strict])
        .with_columns(THRESHOLD.forward_fill().over("group"))
    )
    state = lined_up.group_by("group", "threshold").agg(pl.col(sums).sum())
    return pl.concat([state.select("group", "threshold", *sums), faulty]).sort("group", "threshold")
