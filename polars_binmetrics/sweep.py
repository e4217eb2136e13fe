"""
Where rows are counted at many thresholds: one group-by, then arithmetic on a small table.

Rows are counted per segment, model and place. The place of a row is its bin among fixed
thresholds, or its score where the data set the thresholds; null where it is missing. Segment and
model are then one number, the group, and of the counts come the state and, summed up along the
thresholds, the counts at each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, nan
from typing import NamedTuple

import polars as pl

from polars_binmetrics.bins import reached
from polars_binmetrics.columns import Clean
from polars_binmetrics.counts import CELLS
from polars_binmetrics.thresholds import EveryScore, Quantiles, Thresholds

#: What a state holds of each bin.
SIDES = ["positives", "negatives"]
PLACE = pl.col("place")
USED = PLACE.is_not_nan()  # Which null isn't either.


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
        joined = table.join(self.groups, on="group", how="left", maintain_order="left")
        return joined.select(*self.by, "n_missing", pl.exclude("group", "n_missing", *self.by))


def levels(rollup: bool) -> list[str]:
    """The column that tells the totals of a rolled-up table."""
    return ["level"] if rollup else []


def sweep(rows: Clean, thresholds: Thresholds, *, strict: bool, rollup: bool) -> Sweep:
    """Count the rows between thresholds; with `rollup` those of each total, too."""
    if isinstance(thresholds, list):
        finest = _counted_by_bin(rows, thresholds, strict=strict).cache()
    else:
        finest = _counted_by_score(rows).cache()
    keys = list(rows.keys.values())
    by = [*keys, *levels(rollup), "model"]
    counted = _rolled_up(finest, keys) if rollup else finest
    if rollup or not keys:  # All rows together are a segment, even if there is none.
        whole = pl.LazyFrame({"model": list(rows.models)})
        whole = whole.with_columns(pl.lit(0, pl.Int64).alias(name) for name in levels(rollup))
        counted = pl.concat([counted, whole], how="diagonal")
        counted = counted.with_columns(pl.col("rows", *SIDES).fill_null(0)).cache()
    missing = pl.when(PLACE.is_null()).then("rows").otherwise(0).sum()
    groups = counted.group_by(by).agg(n_missing=missing).sort(by).with_row_index("group").cache()
    numbered = (
        counted.join(groups, on=by, nulls_equal=True)
        .select("group", "place", *SIDES)
        .filter(PLACE.is_not_null())
    )
    if isinstance(thresholds, list):
        state = _on_grid(numbered, groups, thresholds)
    elif isinstance(thresholds, EveryScore) and not (strict or thresholds.midpoints):
        state = _at_each_score(numbered, groups)
    else:
        numbered = numbered.cache()
        if isinstance(thresholds, Quantiles):
            cuts = _quantiles(finest, numbered, groups, thresholds)
        elif thresholds.midpoints:
            cuts = _midpoints(numbered)
        else:
            cuts = numbered.filter(USED).select("group", "place")
        state = _cut(numbered, cuts, groups, strict=strict)
    return Sweep(state, groups, by)


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


def _counted_by_bin(rows: Clean, thresholds: list[float], *, strict: bool) -> pl.LazyFrame:
    """Count the rows per segment, model and bin among fixed thresholds."""
    size = len(thresholds) + 3
    scores = {f"place {i}": score for i, score in enumerate(rows.models.values())}
    # The place tells the model, too: whole numbers are grouped faster than names.
    codes = [pl.col(place).fill_null(size - 1) + i * size for i, place in enumerate(scores)]
    frame = reached(rows.frame, scores, thresholds, strict=strict).with_columns(codes)
    models = pl.lit(pl.Series(list(rows.models), dtype=pl.String))
    place = PLACE % size
    return _tally(rows, frame, scores, ["place"]).with_columns(
        models.gather(PLACE // size).alias("model"), pl.when(place < size - 1).then(place)
    )


def _counted_by_score(rows: Clean) -> pl.LazyFrame:
    """Count the rows per segment, model and score."""
    scores = rows.models.values()
    # -0.0 and 0.0 are one score; adding 0.0 would be optimised away.
    zeroed = {each: pl.when(pl.col(each) == 0).then(0.0).otherwise(each) for each in scores}
    counted = _tally(rows, rows.frame.with_columns(**zeroed), scores, ["model", "place"])
    return counted.with_columns(pl.col("model").str.strip_prefix("score "))


def _tally(
    rows: Clean, frame: pl.LazyFrame, places: Iterable[str], by: Sequence[str]
) -> pl.LazyFrame:
    """
    Count the rows per segment and place, the places of all models one below the other.

    With a group-by a model, the streaming engine would keep all rows for those that come later.
    """
    keys = list(rows.keys.values())
    index = [*keys, "positive", *(["weight"] if rows.weighted else [])]
    of = rows.of(next(iter(rows.models)))
    sums = {
        # Not len(), which ends at 2^32.
        "rows": of.positive.is_not_null().cast(pl.Int64).sum(),
        "positives": of.total(of.positive),
    }
    if rows.weighted:
        sums["negatives"] = of.total(~of.positive)
    counted = (
        frame.select(*index, *places)
        .unpivot(list(places), index=index, variable_name="model", value_name="place")
        .group_by(*keys, *by)
        .agg(**sums)
    )
    if rows.weighted:
        return counted
    return counted.with_columns(negatives=pl.col("rows") - pl.col("positives"))


def _rolled_up(counted: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Add the totals over the last keys, all the way to the grand total."""
    totals = [
        counted.group_by(*keys[:level], "model", "place")
        .agg(pl.col("rows", *SIDES).sum())
        .with_columns(level=pl.lit(level, pl.Int64))
        for level in range(len(keys))
    ]
    finest = counted.with_columns(level=pl.lit(len(keys), pl.Int64))
    return pl.concat([finest, *totals], how="diagonal")


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


def _at_each_score(numbered: pl.LazyFrame, groups: pl.LazyFrame) -> pl.LazyFrame:
    """The state with every score as a threshold: the counts as they are."""
    state = pl.concat([groups.select("group"), numbered], how="diagonal")
    return state.sort("group", PLACE).select(
        "group", PLACE.alias("threshold"), pl.col(SIDES).fill_null(0)
    )


def _quantiles(
    finest: pl.LazyFrame, numbered: pl.LazyFrame, groups: pl.LazyFrame, spec: Quantiles
) -> pl.LazyFrame:
    """For each group, the scores at which the share of rows first reaches 0, 1 / (n - 1), ..."""
    pool = {"overall": [], "model": ["model"], "segment": ["group"]}[spec.per]
    # Totals would count a row of the finest segments again.
    rows = numbered if spec.per == "segment" else finest
    weight = pl.col("weight").cum_sum()
    level = weight * (spec.n - 1) // weight.last()
    # The last share is 1 by itself; a rounded product might miss it.
    level = pl.when(weight == weight.last()).then(spec.n - 1).otherwise(level)
    cuts = (
        rows.filter(USED)
        .with_columns(weight=pl.sum_horizontal(SIDES), all=True)
        .group_by(*pool, "all", "place")
        .agg(pl.col("weight").sum())
        .sort(*pool, "place")
        .with_columns(level=level.over(*pool, "all"))
        .with_columns(before=pl.col("level").shift(1, fill_value=-1).over(*pool, "all"))
        .filter(pl.col("level") > pl.col("before"))
    )
    return groups.with_columns(all=True).join(cuts, on=[*pool, "all"]).select("group", "place")


def _midpoints(numbered: pl.LazyFrame) -> pl.LazyFrame:
    """The points half-way between neighbouring scores, and one beyond each end."""
    scores = numbered.filter(USED).select("group", "place").sort("group", "place")
    before = PLACE.shift(1)
    middle = before / 2 + PLACE / 2
    # Between two neighbouring numbers there is none.
    between = pl.when((before < middle) & (middle < PLACE)).then(middle).otherwise(PLACE)
    between = pl.when(before.is_null()).then(-inf).otherwise(between)
    last = scores.select("group").unique().with_columns(place=inf)
    return pl.concat([scores.select("group", between.over("group").alias("place")), last])


def _cut(
    numbered: pl.LazyFrame, cuts: pl.LazyFrame, groups: pl.LazyFrame, *, strict: bool
) -> pl.LazyFrame:
    """The state on the thresholds `cuts` of each group."""
    faulty = numbered.filter(PLACE.is_nan()).rename({"place": "threshold"})
    marks = pl.concat([groups.select("group"), cuts], how="diagonal").with_columns(threshold=PLACE)
    # A mark stands before the rows of its own score, which reach it; if strict, after them.
    marked = pl.col("threshold").is_not_null()
    lined_up = (
        pl.concat([numbered.filter(USED), marks], how="diagonal")
        .sort("group", PLACE, marked, descending=[False, False, not strict])
        .with_columns(pl.col("threshold").forward_fill().over("group"))
    )
    state = lined_up.group_by("group", "threshold").agg(pl.col(SIDES).sum())
    return pl.concat([state, faulty], how="diagonal").sort("group", "threshold")
