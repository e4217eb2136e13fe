"""Whatever the thresholds, a count at one is that of `score >= threshold`, row by row."""

from __future__ import annotations

import math
from itertools import pairwise
from math import inf, nextafter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.rows import frames

CELLS = ["tp", "fp", "fn", "tn"]
#: Numbers at which a map of scores onto cells could go wrong.
CORNERS = [
    *[0.0, -0.0, 0.1, 0.29, 0.3, 0.5, 1 / 3, 1.0, -1.0, 7.0],
    *[5e-324, 1e-310, 2.3e-308, 1e-9, 1e16, 1e300, -1e300, 1.7976931348623157e308],
    *[inf, -inf, nextafter(0.3, 1), nextafter(0.3, 0), nextafter(1, 0), nextafter(1, 2)],
]
NUMBERS = st.sampled_from(CORNERS) | st.floats(allow_nan=False) | st.floats(0, 1)
LABELS = st.sampled_from([True, False])


def by_boolean_sums(
    frame: pl.DataFrame, score: str, thresholds: list[float], *, strict: bool
) -> list[tuple[float, ...]]:
    """The counts at each threshold, by one comparison of each row with it."""
    s, y = frame[score].cast(pl.Float64).to_numpy(), frame["y"].to_numpy()
    rows = []
    for t in thresholds:
        called = s > t if strict else s >= t
        cells = [called & y, called & ~y, ~called & y, ~called & ~y]
        rows.append((t, *(int(cell.sum()) for cell in cells)))
    return rows


def swept(frame: pl.DataFrame, thresholds: Any, *, strict: bool) -> list[tuple[float, ...]]:
    table = frame.binmetrics.counts("s", "y", thresholds=thresholds, strict=strict)
    return table.select("threshold", *CELLS).rows()


@given(
    rows=st.lists(st.tuples(NUMBERS, LABELS), max_size=30),
    thresholds=st.lists(NUMBERS, min_size=1, max_size=30),
    strict=st.booleans(),
    dtype=st.sampled_from([pl.Float64, pl.Float32]),
)
@example(
    rows=[(0.29, True)], thresholds=[i / 100 for i in range(101)], strict=False, dtype=pl.Float64
)
@example(rows=[(inf, True), (-inf, False)], thresholds=[-inf, inf], strict=True, dtype=pl.Float64)
@example(rows=[(1e308, True)], thresholds=[-1.7e308, 0.0, 1.7e308], strict=False, dtype=pl.Float64)
@example(rows=[(5e-324, True)], thresholds=[0.0, 5e-324, 1e-323], strict=False, dtype=pl.Float64)
def test_a_sweep_is_one_boolean_sum_per_threshold(
    rows: list[tuple[float, bool]], thresholds: list[float], strict: bool, dtype: Any
) -> None:
    frame = pl.DataFrame(rows, schema={"s": pl.Float64, "y": pl.Boolean}, orient="row")
    frame = frame.with_columns(pl.col("s").cast(dtype))
    expected = by_boolean_sums(frame, "s", sorted({t + 0.0 for t in thresholds}), strict=strict)
    assert swept(frame, thresholds, strict=strict) == expected


@given(
    base=st.floats(-1e6, 1e6),
    steps=st.lists(st.integers(-5, 5), min_size=1, max_size=20),
    strict=st.booleans(),
)
def test_thresholds_one_ulp_apart_are_told_apart(
    base: float, steps: list[int], strict: bool
) -> None:
    neighbours = []
    for step in steps:
        value = base
        for _ in range(abs(step)):
            value = nextafter(value, math.copysign(inf, step))
        neighbours.append(value)
    # A far one forces many thresholds into one cell.
    thresholds = [*neighbours, 1e9]
    frame = pl.DataFrame({"s": neighbours, "y": [i % 2 == 0 for i in range(len(steps))]})
    expected = by_boolean_sums(frame, "s", sorted({t + 0.0 for t in thresholds}), strict=strict)
    assert swept(frame, thresholds, strict=strict) == expected


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "thresholds",
    [
        bm.uniform(2),
        bm.uniform(101),
        bm.uniform(1001),
        bm.dyadic(8),
        np.geomspace(1e-12, 1, 300).tolist(),
        np.concatenate([np.linspace(0, 1e-9, 500), [0.5, 1e12]]).tolist(),
        np.random.default_rng(0).normal(size=3_000).tolist(),
        [0.5],
        [-inf, 0.5, inf],
    ],
    ids=lambda thresholds: f"{len(thresholds)} from {thresholds[0]:g} to {thresholds[-1]:g}",
)
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int16])
def test_sweeps_over_long_grids(thresholds: list[float], dtype: Any, strict: bool) -> None:
    rng = np.random.default_rng(1)
    drawn = np.concatenate([rng.random(300), rng.choice(thresholds, 300), rng.normal(size=100)])
    scores = pl.Series(drawn).replace([inf, -inf], [3.0, -3.0]).clip(-3, 3).cast(dtype)
    frame = pl.DataFrame({"s": scores, "y": rng.random(700) < 0.4})
    expected = by_boolean_sums(frame, "s", sorted(thresholds), strict=strict)
    assert swept(frame, thresholds, strict=strict) == expected


def test_integers_beyond_the_exact_ones_are_compared_as_float64() -> None:
    big = 2**53 + 1
    frame = pl.DataFrame({"s": [big, -big, 2**62], "y": [True, False, True]})
    assert swept(frame, [2.0**53], strict=False) == [(2.0**53, 2, 0, 0, 1)]


@given(frame=frames(), strict=st.booleans())
def test_at_every_score_the_counts_are_those_of_the_scores_given(
    frame: pl.DataFrame, strict: bool
) -> None:
    for segment, rows in frame.group_by("segment"):
        used = rows.drop_nulls(["a", "y"])
        given = sorted(set(used["a"].to_list()))
        table = frame.binmetrics.counts(
            "a", "y", by="segment", thresholds=bm.every_score(), strict=strict
        ).filter(pl.col("segment").eq_missing(pl.lit(segment[0])))
        expected = by_boolean_sums(used, "a", given, strict=strict)
        assert table.select("threshold", *CELLS).rows() == expected


@given(rows=st.lists(st.tuples(NUMBERS, LABELS), min_size=1, max_size=20), strict=st.booleans())
@example(rows=[(1.0, True), (nextafter(1, 2), False)], strict=False)
@example(rows=[(-inf, True), (inf, False)], strict=False)
@example(rows=[(-1.7e308, True), (1.7e308, False)], strict=True)
def test_midpoints_lie_between_neighbours_and_beyond_both_ends(
    rows: list[tuple[float, bool]], strict: bool
) -> None:
    frame = pl.DataFrame(rows, schema={"s": pl.Float64, "y": pl.Boolean}, orient="row")
    table = swept(frame, bm.every_score(midpoints=True), strict=strict)
    thresholds = [row[0] for row in table]
    scores = sorted(set(frame["s"].to_list()))
    assert thresholds[0] == -inf
    assert thresholds[-1] == inf
    for low, high in pairwise(scores):
        assert any(low < t <= high for t in thresholds)
    assert table == by_boolean_sums(frame, "s", thresholds, strict=strict)


def test_where_there_is_no_midpoint_the_higher_score_stands_for_it() -> None:
    frame = pl.DataFrame({"s": [1.0, nextafter(1, 2), 2.0], "y": [True, False, True]})
    table = swept(frame, bm.every_score(midpoints=True), strict=False)
    assert [row[0] for row in table] == [-inf, nextafter(1, 2), (nextafter(1, 2) + 2) / 2, inf]


@pytest.mark.parametrize("n", [2, 3, 5, 11, 101])
@pytest.mark.parametrize("weight", [None, "w"])
def test_quantiles_are_those_of_numpy(n: int, weight: str | None) -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "g": rng.choice(["a", "b"], 500),
            "p": rng.integers(0, 60, 500) / 60,
            "q": rng.normal(size=500),
            "y": rng.random(500) < 0.5,
            "w": rng.integers(1, 5, 500).astype(float),
        }
    )

    def expected(values: pl.DataFrame, column: str) -> list[float]:
        return sorted(
            set(
                np.quantile(
                    values[column].to_numpy(),
                    [i / (n - 1) for i in range(n)],
                    method="inverted_cdf",
                    weights=None if weight is None else values["w"].to_numpy(),
                ).tolist()
            )
        )

    def given(per: Any, **row: str) -> list[float]:
        table = frame.binmetrics.counts(
            ["p", "q"], "y", thresholds=bm.quantiles(n, per=per), by="g", weight=weight
        )
        return table.filter(**row)["threshold"].to_list()

    for model in ("p", "q"):
        for segment in ("a", "b"):
            assert given("model", g=segment, model=model) == expected(frame, model)
            rows = frame.filter(g=segment)
            assert given("segment", g=segment, model=model) == expected(rows, model)
    both = pl.concat([frame.select("w", s="p"), frame.select("w", s="q")])
    for segment in ("a", "b"):
        assert given("overall", g=segment, model="p") == expected(both, "s")


@given(frame=frames(), strict=st.booleans())
@pytest.mark.parametrize("per", ["model", "segment", "overall"])
def test_at_quantiles_the_counts_are_those_of_the_quantiles_given(
    per: Any, frame: pl.DataFrame, strict: bool
) -> None:
    table = frame.binmetrics.counts(
        ["a", "b"], "y", by="segment", thresholds=bm.quantiles(4, per=per), strict=strict
    )
    for (segment, model), rows in table.group_by("segment", "model"):
        own = frame.filter(pl.col("segment").eq_missing(pl.lit(segment))).drop_nulls([model, "y"])
        given = rows.sort("threshold")["threshold"].to_list()
        expected = by_boolean_sums(own, model, given, strict=strict)
        assert rows.sort("threshold").select("threshold", *CELLS).rows() == expected


def test_a_quantile_is_never_lost_to_rounding() -> None:
    # 0.29 * 100 is 28.999999999999996: the 29th row of 100 must still be the quantile 0.29.
    frame = pl.DataFrame({"s": [i / 1 for i in range(1, 101)], "y": [True] * 100})
    table = frame.binmetrics.counts("s", "y", thresholds=bm.quantiles(101))
    assert table["threshold"].to_list() == [float(i) for i in range(1, 101)]


def test_a_faulty_row_makes_no_threshold_and_its_segment_null() -> None:
    frame = pl.DataFrame({"g": ["a", "a", "b"], "s": [0.2, math.nan, 0.7], "y": [1, 0, 1]})
    for spec in (bm.every_score(), bm.quantiles(2), bm.every_score(midpoints=True), [0.5]):
        table = frame.binmetrics.counts("s", "y", by="g", thresholds=spec)
        assert table["threshold"].is_not_nan().all()
        assert table.filter(g="a")["tp"].null_count() == table.filter(g="a").height > 0
        assert table.filter(g="b")["tp"].null_count() == 0


def test_minus_zero_and_zero_are_one_score() -> None:
    frame = pl.DataFrame({"s": [-0.0, 0.0, 1.0], "y": [True, False, True]})
    table = frame.binmetrics.counts("s", "y", thresholds=bm.every_score())
    assert str(table["threshold"].to_list()) == "[0.0, 1.0]"


def test_uniform_thresholds_are_rounded_once() -> None:
    assert bm.uniform(101) == [float(f"{i / 100:.2f}") for i in range(101)]
    assert bm.uniform(3, -1, 1) == [-1.0, 0.0, 1.0]
    assert bm.uniform(3, -1.7e308, 1.7e308) == [-1.7e308, 0.0, 1.7e308]


def test_dyadic_grids_nest() -> None:
    assert bm.dyadic(1) == [0.0, 0.5, 1.0]
    assert bm.dyadic(10) == [i / 1024 for i in range(1025)]
    assert set(bm.dyadic(3, -4, 4)) < set(bm.dyadic(5, -4, 4))


@pytest.mark.parametrize(
    "thresholds",
    [0.5, (0.2, 0.5), np.array([0.2, 0.5]), pl.Series([0.2, 0.5]), range(2), bm.uniform(3)],
    ids=str,
)
def test_thresholds_may_be_any_numbers(thresholds: Any) -> None:
    frame = pl.DataFrame({"s": [0.1, 0.6], "y": [0, 1]})
    expected = frame.binmetrics.counts(
        "s", "y", thresholds=[float(t) for t in np.ravel(thresholds)]
    )
    assert_frame_equal(frame.binmetrics.counts("s", "y", thresholds=thresholds), expected)
