"""Small random data in which ties, nulls and segments of one class are common."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, sqrt

import polars as pl
from hypothesis import strategies as st

SCORES = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
SCHEMA = {
    "segment": pl.String,
    "a": pl.Float64,
    "b": pl.Float64,
    "y": pl.Boolean,
    "w": pl.Float64,
    "copies": pl.Int64,
}


def score(null: bool) -> st.SearchStrategy[float | None]:
    return st.sampled_from([*SCORES, None] if null else SCORES)


def frames(*, null: bool = True) -> st.SearchStrategy[pl.DataFrame]:
    """Frames of up to 25 rows: two scores, a label, weights, repeat counts, a segment."""
    row = st.tuples(
        st.sampled_from(["north", "south", "west", None]),
        score(null),
        score(null),
        st.sampled_from([True, False, None] if null else [True, False]),
        st.sampled_from([0.0, 0.25, 1.0, 2.5, None] if null else [0.0, 0.25, 1.0, 2.5]),
        st.integers(0, 3),
    )
    return st.lists(row, max_size=25).map(
        lambda rows: pl.DataFrame(rows, schema=SCHEMA, orient="row")
    )


def tally(
    rows: list[tuple[float | None, bool | None]], threshold: float = 0.5
) -> tuple[int, int, int, int]:
    """tp, fp, fn, tn, counted one row at a time."""
    used = [(s >= threshold, y) for s, y in rows if s is not None and y is not None]
    return (
        used.count((True, True)),
        used.count((True, False)),
        used.count((False, True)),
        used.count((False, False)),
    )


def auc(rows: list[tuple[float, bool, Fraction]]) -> Fraction | None:
    """AUC from all pairs of a positive and a negative."""
    pairs = [
        (v * w, Fraction(2 if s > t else 1 if s == t else 0, 2))
        for s, y, v in rows
        if y
        for t, z, w in rows
        if not z
    ]
    weight = sum((w for w, _ in pairs), Fraction(0))
    return sum((w * won for w, won in pairs), Fraction(0)) / weight if weight else None


def two_sided(z: float) -> float:
    """How often a standard normal number is as far from 0."""
    return erfc(abs(z) / sqrt(2))


def losses(rows: list[tuple[float, bool]]) -> list[Fraction]:
    """For each row the share of the other class that it loses to, ties by half."""

    def lost(s: float, y: bool, t: float) -> Fraction:
        return Fraction(1, 2) if s == t else Fraction(int((s < t) is y))

    sizes = {side: sum(z is not side for _, z in rows) for side in (True, False)}
    return [
        sum((lost(s, y, t) for t, z in rows if z is not y), Fraction(0)) / sizes[y] for s, y in rows
    ]
