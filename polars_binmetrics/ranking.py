"""
Where rows are ranked: one sort of packed keys, and the counts at every score that follow.

Segment, model, score and label of a row go into one whole number, so that the order of the numbers
is that of the scores within segments and models. Where the number changes by more than the label, a
score ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import NamedTuple

import polars as pl

from polars_binmetrics.columns import Clean, Rows
from polars_binmetrics.state import (
    BELOW,
    SIDES,
    SIZES,
    TOTALS,
    Sweep,
    below,
    from_ends,
    levels,
    over_groups,
    reaching,
    rolled_up,
    totals,
)

#: A number is ``group * GROUP + HALF + 2 * order(score) + label``; `order` is Int64.
HALF, GROUP = 2**64, 2**65
LOWEST, HIGHEST = -(2**63), 2**63 - 1

#: Three counts below 2^42 are added as one number, much faster where segments are many.
PLACE = 2**42

KEY = pl.col("key")


def ranked(rows: Clean, *, rollup: bool) -> Sweep:
    """Count the rows at every score; with `rollup` those of each total, too."""
    by = [*rows.keys.values(), *levels(rollup), "model"]
    groups = _groups(rows, rollup=rollup).sort(by).with_row_index("group").cache()
    keys = _keys(rows, groups, rollup=rollup)
    # A number below all scores of a group gives it a bin below them, and counts for nothing.
    bottoms = groups.select(key=pl.col("group").cast(pl.Int128) * GROUP)
    if rows.weighted:
        bottoms = bottoms.with_columns(weight=0.0)
    ends = _ends(pl.concat([keys, bottoms]).sort("key"), weighted=rows.weighted)
    score = pl.when(KEY & _int(GROUP - 1) != 0).then(_score(KEY))
    bins = ends.select("group", score.alias("threshold"), *SIDES)
    return Sweep(from_ends(bins, weighted=rows.weighted), groups, by, rows.weighted)


def _ends(ordered: pl.LazyFrame, *, weighted: bool) -> pl.LazyFrame:
    """The last number of each score, with the running sums up to it: [key, group, *SIDES]."""
    group = (KEY // GROUP).cast(pl.UInt32).alias("group")
    positive = KEY & _int(1) == 1
    last = ((KEY ^ KEY.shift(-1)) > 1).fill_null(True)
    if weighted:
        weights = {"positives": positive, "negatives": ~positive}
        sums = {
            side: (of.cast(pl.Float64) * pl.col("weight")).cum_sum() for side, of in weights.items()
        }
        grouped = ordered.with_columns(group).set_sorted("group")
        return grouped.with_columns(**over_groups(sums)).filter(last)
    positives = positive.cast(pl.Int64).cum_sum()
    # What is no positive, nor the number below a group's scores, is a negative.
    negatives = pl.col("row").cast(pl.Int64) - pl.col("group") - pl.col("positives")
    counted = ordered.with_row_index("row").with_columns(positives=positives).filter(last)
    return counted.with_columns(group).with_columns(negatives=negatives)


def order(score: pl.Expr) -> pl.Expr:
    """Int64 numbers in the order of the scores, -0.0 being 0.0 and NaN above all."""
    one_of_each = pl.when(score == 0).then(0.0).when(score.is_nan()).then(nan).otherwise(score)
    return _flipped(one_of_each.reinterpret(dtype=pl.Int64))


def packed(middle: pl.Expr, rows: Rows) -> pl.Expr:
    """The numbers of rows in a group with this `middle`, where the score 0 would be."""
    twice = order(rows.score).cast(pl.Int128) * 2
    return middle + twice + rows.positive.cast(pl.Int128)


def middle(group: pl.Expr) -> pl.Expr:
    """The middle of the numbers of a group."""
    return group.cast(pl.Int128) * GROUP + HALF


def with_middle(
    frame: pl.LazyFrame, first: pl.LazyFrame, keys: list[str], *, name: str = "middle"
) -> tuple[pl.LazyFrame, pl.Expr]:
    """Rows beside the middle of the first group of their segment, ``[*keys, group]``."""
    if not keys:
        return frame, middle(pl.lit(0))
    beside = first.select(*keys, middle(pl.col("group")).alias(name))
    joined = frame.join(beside, on=keys, how="left", nulls_equal=True, maintain_order="none")
    return joined, pl.col(name)


def _flipped(bits: pl.Expr) -> pl.Expr:
    """The bits of a negative number grow with its size; turn these around, or back."""
    return pl.when(bits < 0).then(bits ^ pl.lit(HIGHEST, pl.Int64)).otherwise(bits)


def _score(key: pl.Expr) -> pl.Expr:
    ordered = (key & _int(GROUP - 1)) // 2 + LOWEST
    return _flipped(ordered.cast(pl.Int64)).reinterpret(dtype=pl.Float64)


def _groups(rows: Clean, *, rollup: bool) -> pl.LazyFrame:
    """Segments, totals and models with the number of their rows: [*by, *SIZES]."""
    keys = list(rows.keys.values())
    sums: dict[str, pl.Expr] = {}
    blocks: list[dict[str, pl.Expr]] = []
    for i, model in enumerate(rows.models):
        one = rows.of(model)
        missing, faulty = one.score.is_null(), one.score.is_nan()
        sums[f"faulty {i}"] = faulty.any()
        if rows.weighted:
            sums[f"missing {i}"] = missing.cast(pl.Int64).sum()
            sums[f"positive {i}"] = one.total(~missing & one.positive)
            sums[f"negative {i}"] = one.total(~missing & ~one.positive)
            sizes = [pl.col(f"{size} {i}") for size in ("missing", "positive", "negative")]
        else:
            place = pl.when(missing).then(_int(PLACE**2)).when(one.positive).then(_int(PLACE))
            sums[f"all {i}"] = place.otherwise(_int(1)).sum()
            total = pl.col(f"all {i}")
            sizes = [total // PLACE**2, total // PLACE % PLACE, total % PLACE]
            sizes = [size.cast(pl.Int64) for size in sizes]
        blocks.append(
            {"model": pl.lit(model), "n_faulty": pl.col(f"faulty {i}").cast(pl.Int64)}
            | dict(zip(("n_missing", *TOTALS), sizes, strict=True))
        )
    finest = rows.reduce(sums, blocks)
    if not rollup:
        return finest
    by = [*keys, *levels(rollup), "model"]
    rolled = rolled_up(finest, keys, rows.models, apart=["model"], sums=SIZES)
    return rolled.group_by(by).agg(pl.col(SIZES).sum())


def _keys(rows: Clean, groups: pl.LazyFrame, *, rollup: bool) -> pl.LazyFrame:
    """The numbers of all models, segments and totals, one below the other: [key(, weight)]."""
    keys = list(rows.keys.values())
    models = sorted(rows.models)
    frame = rows.frame
    numbers: dict[str, pl.Expr] = {}
    for level in range(0 if rollup else len(keys), len(keys) + 1):
        # The groups of a segment stand together, a model after the other.
        first = groups.filter(model=models[0], **({"level": level} if rollup else {}))
        frame, base = with_middle(frame, first, keys[:level], name=f"{level}")
        for i, model in enumerate(models):
            numbers[f"{level} {i}"] = packed(base + i * GROUP if i else base, rows.of(model))
    weight = ["weight"] if rows.weighted else []
    table = frame.select(*weight, **numbers)
    if len(numbers) > 1:
        table = table.unpivot(list(numbers), index=weight, value_name="key")
    else:
        table = table.rename(dict.fromkeys(numbers, "key"))
    return table.select("key", *weight).filter(KEY.is_not_null())


def _int(value: int) -> pl.Expr:
    return pl.lit(value, pl.Int128)


class Steps(NamedTuple):
    """
    The steps of a ROC curve, from the lowest score up, as expressions.

    A step is a score: the rows that have it, those below it and those that reach it. The first
    one lies below all scores and is empty; its score is null. What lies below is counted from
    any start, which is what lies below the first.
    """

    beside: dict[str, pl.Expr] | None
    score: pl.Expr
    positives: pl.Expr
    negatives: pl.Expr
    positives_below: pl.Expr
    negatives_below: pl.Expr
    tp: pl.Expr
    fp: pl.Expr
    n_positive: pl.Expr
    n_negative: pl.Expr

    def each(self, value: pl.Expr) -> pl.Expr:
        """
        A value of each step.

        In a frame it becomes a column `beside` the others: Polars aggregates a group after the
        other, but computes columns in parallel, and what two of them share once.
        """
        if self.beside is None:
            return value
        name = f"value {len(self.beside)}"
        self.beside[name] = value
        return pl.col(name)


FIELDS = [*SIDES, *BELOW, "tp", "fp", *TOTALS]


def columns(beside: dict[str, pl.Expr]) -> Steps:
    """The steps as the bins of a sweep."""
    return Steps(beside, pl.col("threshold"), *map(pl.col, FIELDS))


def fields() -> Steps:
    """The steps as what `steps` lists."""
    return Steps(None, *map(pl.element().struct.field, ["score", *FIELDS]))


def steps(rows: Rows) -> pl.Expr:
    """The steps of the rows of one model: a list of structs, for use in an aggregation."""
    field, each = pl.element().struct.field, pl.element()
    given = {} if rows.weight is None else {"weight": rows.weight}
    table = (
        # pl.struct would put all columns of a multi-column score into one struct.
        rows.score.cast(pl.Struct({"score": pl.Float64}), strict=False)
        .struct.with_fields(positive=rows.positive, **given)
        .implode()
        .list.eval(each.filter(field("score").is_not_null()))
        .list.eval(each.sort_by(field("score")))
    )
    sides = {"positives": field("positive"), "negatives": ~field("positive")}
    for side, rows_of in sides.items():
        weighed = rows_of.cast(pl.Float64)
        sides[side] = (weighed if rows.weight is None else weighed * field("weight")).cum_sum()
    last = (field("score") != field("score").shift(-1)).fill_null(True)
    table = table.list.eval(row({"score": field("score"), **sides}).filter(last))
    # A null index gives the step below all scores.
    table = table.list.eval(each.gather(pl.int_range(0, pl.len() + 1).shift(1)))
    gained = {side: field(side).fill_null(0) for side in SIDES}
    gained = {side: total - total.shift(1, fill_value=0) for side, total in gained.items()}
    table = table.list.eval(row({"score": field("score"), **gained}))
    return climbing(table)


def climbing(table: pl.Expr) -> pl.Expr:
    """The steps, from a list of the rows that have each score."""
    field, each = pl.element().struct.field, pl.element()
    for columns in (reaching(field) | below(field), totals(field)):
        table = table.list.eval(each.struct.with_fields(**columns))
    return table


def row(fields: Mapping[str, pl.Expr]) -> pl.Expr:
    """The struct of these fields."""
    return pl.struct([expr.alias(name) for name, expr in fields.items()])
