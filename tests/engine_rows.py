"""Rows on which engines tend to disagree, and what Polars counts among them."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

import polars_binmetrics as bm

NAN = math.nan
SCORES = [0.0, -0.0, 0.1, 0.25, 0.5, 0.7499999999999999, 0.75, 1.0, -3.0, 1e300, -1e300, 5e-324]
ODD = [*SCORES, math.inf, -math.inf, NAN, None]
#: Every odd score beside every label, in segments that have each of them or not.
ROWS = pl.DataFrame(
    [
        (segment, score, ODD[-1 - i % len(ODD)], label, weight)
        for i, (score, label, weight, segment) in enumerate(
            product(ODD, [0, 1, None], [1.0, 0.25, None], ["north", None])
        )
    ],
    schema={
        "segment": pl.String,
        "a": pl.Float64,
        "B b": pl.Float64,
        "y": pl.Int64,
        "w": pl.Float64,
    },
    orient="row",
)
#: One label that is neither, a weight that is none, and a segment with nothing but missing rows.
FAULTS = pl.DataFrame(
    {
        "segment": ["south", "south", "west", "west", "empty"],
        "a": [0.5, 0.1, 0.5, 0.2, None],
        "B b": [0.5, None, 0.25, NAN, None],
        "y": [2, 1, 1, 0, 1],
        "w": [1.0, 1.0, -1.0, math.inf, 1.0],
    },
    schema=ROWS.schema,
)
DATA = pl.concat([ROWS, FAULTS])
ASKED: dict[str, dict[str, Any]] = {
    "segments": {"by": "segment"},
    "all rows": {},
    "one threshold": {"by": "segment", "bins": 0.7},
    "a wide grid": {"by": ["segment"], "bins": bm.dyadic(1, -4, 4)},
    "totals": {"by": "segment", "rollup": True},
    "weights": {"by": "segment", "weight": "w"},
    "positive": {"by": "segment", "positive": 2},
    "two keys": {"by": ["segment", "y"]},
}


def agrees(frame: object, asked: dict[str, Any]) -> None:
    """Whether the state of the rows in another engine is that of Polars."""
    ask = {"scores": ["a", "B b"], "label": "y", "bins": bm.dyadic(3)} | asked
    there = bm.histogram(frame, **ask)
    # Sums of these weights are exact, so they are the same in any order.
    assert_frame_equal(there, DATA.binmetrics.histogram(**ask), check_exact=True)
