"""
Where a ROC curve gets its convex hull, in a fixed number of steps of a plan.

Counted below the thresholds, negatives to the right and positives up, the hull runs under the
curve from corner to corner. A round finds the point farthest below each chord, which is a corner,
and drops the points that no chord has above them. A corner may still lie in a triangle on each
chord, and a round leaves a quarter of the area of these at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from polars_binmetrics.ranking import climbing, row
from polars_binmetrics.state import SIDES, Sweep, over_groups

#: Points of counts are on a grid: when less than half a cell of it is left, all corners are found.
#: 32 rounds are enough for 2^32 positives and as many negatives; 20 leave 1e-12 of the area, and a
#: longer expression takes Polars longer to read than to compute.
ROUNDS_OF_FRAME, ROUNDS_OF_LIST = 32, 20
#: Looking at neighbours alone first drops most of the points.
SHORT_ROUNDS = 6

Field = Callable[[str], pl.Expr]


def hull_of_sweep(scores: Sweep) -> Sweep:
    """The sweep whose bins are the stretches of the hull."""
    last = (pl.col("group") != pl.col("group").shift(-1)).fill_null(True)
    state = scores.state.set_sorted("group").select(
        "group",
        pl.col(SIDES).cast(pl.Float64),
        score="threshold",
        end=pl.col("threshold").is_null() | last,
    )
    table = state.set_sorted("group").select("group", "end", **over_groups(_points(pl.col)))
    for keep, columns in _rounds(pl.col, ROUNDS_OF_FRAME):
        table = table.filter(keep).with_columns(**columns)
    hull = table.set_sorted("group").select("group", **over_groups(_steps(pl.col)))
    dtype = pl.Float64 if scores.weighted else pl.Int64
    return scores.over(hull.select("group", pl.col(SIDES).cast(dtype), threshold="score"))


def hull_of_list(steps: pl.Expr) -> pl.Expr:
    """The steps of the hull of a list of steps."""
    field = pl.element().struct.field
    last = pl.int_range(pl.len()) == pl.len() - 1
    table = steps.list.eval(row({"end": field("score").is_null() | last, **_points(field)}))
    names = ["end", *_points(field)]
    for keep, columns in _rounds(field, ROUNDS_OF_LIST):
        columns = {name: field(name) for name in names} | columns
        table = table.list.eval(row(columns).filter(keep))
        names = list(columns)
    return climbing(table.list.eval(row(_steps(field))))


def _points(field: Field) -> dict[str, pl.Expr]:
    """The points at the ends of the steps, and the score above each."""
    return {
        "x": field("negatives").cum_sum(),
        "y": field("positives").cum_sum(),
        "above": field("score").shift(-1),
    }


def _steps(field: Field) -> dict[str, pl.Expr]:
    """The steps that end at the points; each begins at the score above the point before."""
    gained = {
        side: field(axis) - field(axis).shift(1, fill_value=0)
        for side, axis in zip(SIDES, ("y", "x"), strict=True)
    }
    return {"score": field("above").shift(1), **gained}


def _rounds(field: Field, rounds: int) -> Iterator[tuple[pl.Expr, dict[str, pl.Expr]]]:
    """Which points to keep, and what to add to these."""
    x, y, end = field("x"), field("y"), field("end")
    bends = (y - y.shift(1)) * (x.shift(-1) - x) < (y.shift(-1) - y) * (x - x.shift(1))
    # Steps of no weight repeat a point, and the two would hide that they are a corner.
    yield end | (x != x.shift(1)) | (y != y.shift(1)), {}
    for _ in range(SHORT_ROUNDS):
        yield end | bends, {}
    yield end | bends, {"corner": end}
    corner, depth = field("corner"), field("depth")

    def of_chord(axis: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        ends = pl.when(corner).then(axis)
        return ends.forward_fill(), ends.backward_fill()

    (x0, x1), (y0, y1) = of_chord(x), of_chord(y)
    below_chord = (x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)
    deepest = depth == depth.max().over(field("chord"))
    for _ in range(rounds):
        yield end | True, {"chord": corner.cum_sum(), "depth": below_chord}
        yield corner | (depth > 0), {"corner": corner | (deepest & (depth > 0))}
    # Of corners in line, the outer ones make the hull.
    yield end | bends, {}
