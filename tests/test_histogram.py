"""A state loses no row, adds exactly, and gives the sweep that one pass over the rows gives."""

from __future__ import annotations

import io
import math
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.exceptions import (
    ColumnNotFoundError,
    DuplicateError,
    InvalidOperationError,
    SchemaError,
)
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.rows import frames

GRID = [0.1, 0.3, 0.5]
SIDES = ["positives", "negatives"]
FRAME = pl.DataFrame(
    {"g": ["a", "a", "b"], "s": [0.2, 0.7, 0.4], "t": [0.9, 0.0, 0.4], "y": [0, 1, 1]}
)


def state(frame: pl.DataFrame, **ask: Any) -> pl.DataFrame:
    ask = {"bins": GRID, "by": "segment"} | ask
    return frame.binmetrics.histogram(["a", "b"], "y", **ask)


@given(frame=frames())
def test_a_bin_holds_the_rows_between_its_threshold_and_the_next(frame: pl.DataFrame) -> None:
    edges = [-math.inf, *GRID, math.inf]
    for segment, model, threshold, positives, negatives in state(frame).rows():
        own = frame.filter(pl.col("segment").eq_missing(pl.lit(segment))).drop_nulls([model, "y"])
        low = -math.inf if threshold is None else threshold
        high = edges[edges.index(low) + 1]
        labels = [y for s, y in own.select(model, "y").rows() if low <= s < high]
        assert (positives, negatives) == (labels.count(True), labels.count(False))


@given(frame=frames())
def test_every_row_used_is_in_one_bin(frame: pl.DataFrame) -> None:
    for bins in (GRID, [0.5], [5.0, 7.0], bm.quantiles(3), bm.every_score()):
        table = state(frame, bins=bins, by=None)
        for model in ("a", "b"):
            used = frame.drop_nulls([model, "y"])
            sums = table.filter(model=model).select(pl.col(SIDES).sum()).row(0)
            assert sums == (used["y"].sum(), (~used["y"]).sum())


@given(frame=frames(), weighted=st.booleans())
@pytest.mark.parametrize(
    "bins",
    [GRID, 0.5, bm.uniform(3), bm.quantiles(3), bm.every_score(), bm.every_score(midpoints=True)],
    ids=str,
)
def test_a_cumulated_state_is_the_sweep(bins: Any, frame: pl.DataFrame, weighted: bool) -> None:
    ask = {"by": "segment", "weight": "w" if weighted else None}
    expected = frame.binmetrics.counts(["a", "b"], "y", thresholds=bins, **ask)
    assert_frame_equal(state(frame, bins=bins, **ask).binmetrics.cumulate(), expected)


def test_columns_types_and_order() -> None:
    table = FRAME.binmetrics.histogram(["t", "s"], "y", bins=[0.5], by="g")
    assert table.columns == ["g", "model", "threshold", *SIDES]
    assert table.dtypes == [pl.String, pl.String, pl.Float64, pl.Int64, pl.Int64]
    assert table.select("g", "model", "threshold").rows() == [
        (g, m, t) for g in "ab" for m in "st" for t in (None, 0.5)
    ]
    weighted = FRAME.binmetrics.histogram("s", "y", bins=[0.5], weight=pl.lit(2))
    assert weighted.dtypes[-2:] == [pl.Float64, pl.Float64]


def test_scores_beyond_the_grid_are_in_the_end_bins() -> None:
    frame = pl.DataFrame({"s": [-math.inf, -5.0, 0.5, 9.0, math.inf], "y": [0, 1, 0, 1, 1]})
    table = frame.binmetrics.histogram("s", "y", bins=bm.uniform(3))
    assert table.select("threshold", *SIDES).rows() == [
        (None, 1, 1),
        (0.0, 0, 0),
        (0.5, 0, 1),
        (1.0, 2, 0),
    ]


def test_faulty_rows_are_in_a_bin_of_their_own_and_missing_ones_in_none() -> None:
    frame = pl.DataFrame(
        {
            "s": [math.nan, 0.6, 0.2, None, 0.7, 0.9],
            "y": [1, 2, 0, 1, None, 1],
            "w": [5.0, 1.0, -1.0, 1.0, 1.0, 3.0],
        }
    )
    for weight, expected in ((None, (1, 1)), ("w", (5.0, 2.0))):
        table = frame.binmetrics.histogram("s", "y", bins=[0.5], weight=weight)
        *_, last = table.select("threshold", *SIDES).rows()
        assert math.isnan(last[0])
        assert last[1:] == expected
        counts = table.binmetrics.cumulate()
        assert counts.select("threshold", "tp", "fn").rows() == [(0.5, None, None)]
        assert table.binmetrics.roc_auc()["roc_auc"].to_list() == [None]


# The area.


@given(frame=frames(null=False), weighted=st.booleans())
def test_the_area_of_the_rows_lies_between_the_bounds(frame: pl.DataFrame, weighted: bool) -> None:
    ask = {"by": "segment", "weight": "w" if weighted else None}
    areas = state(frame, bins=[0.2, 0.4], **ask).binmetrics.roc_auc()
    exact = frame.binmetrics.evaluate(["a", "b"], "y", metrics="roc_auc", **ask)
    assert areas["roc_auc"].is_null().to_list() == exact["roc_auc"].is_null().to_list()
    for (*_, middle, lower, upper), area in zip(areas.rows(), exact["roc_auc"], strict=True):
        if area is not None:
            assert lower - 1e-12 <= area <= upper + 1e-12
            assert middle == pytest.approx((lower + upper) / 2)


@given(frame=frames(null=False))
def test_with_a_bin_per_score_the_area_is_that_of_the_rows(frame: pl.DataFrame) -> None:
    areas = state(frame, bins=[0.0, 0.1, 0.3, 0.5, 0.7, 1.0]).binmetrics.roc_auc()
    exact = frame.binmetrics.evaluate(["a", "b"], "y", metrics="roc_auc", by="segment")
    assert areas["roc_auc"].to_list() == pytest.approx(exact["roc_auc"].to_list(), nan_ok=True)


def test_the_bounds_are_reached() -> None:
    # Two rows in one bin: which of them scores higher is all that is not known.
    for scores, area in (([0.6, 0.7], 1.0), ([0.7, 0.6], 0.0)):
        frame = pl.DataFrame({"s": scores, "y": [0, 1]})
        table = frame.binmetrics.histogram("s", "y", bins=[0.5]).binmetrics.roc_auc()
        assert table.row(0) == ("s", 0.5, 0.0, 1.0)
        assert area in (0.0, 1.0)
        assert frame.binmetrics.evaluate("s", "y", metrics="roc_auc")["roc_auc"].item() == area


def test_a_perfect_order_has_an_area_of_exactly_1() -> None:
    frame = pl.DataFrame({"s": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "y": [0] * 3 + [1] * 3})
    for weight in (None, pl.lit(0.1)):
        table = frame.binmetrics.histogram("s", "y", bins=[0.15, 0.5, 0.85], weight=weight)
        assert table.binmetrics.roc_auc().row(0) == ("s", 1.0, 1.0, 1.0)


# Merging.

#: Sums of these weights are exact in any order.
EXACT = frames().map(lambda frame: frame.with_columns(pl.col("w") * 4))


@given(one=EXACT, two=EXACT, three=EXACT, weighted=st.booleans())
def test_merging_is_adding_rows(
    one: pl.DataFrame, two: pl.DataFrame, three: pl.DataFrame, weighted: bool
) -> None:
    ask = {"weight": "w" if weighted else None}
    a, b, c = (state(frame, **ask) for frame in (one, two, three))
    merged = bm.merge_histograms([a, b, c])
    assert_frame_equal(merged, state(pl.concat([one, two, three]), **ask))
    assert_frame_equal(merged, bm.merge_histograms([c, a, b]))
    assert_frame_equal(merged, bm.merge_histograms([bm.merge_histograms([a, b]), c]))
    assert_frame_equal(merged, bm.merge_histograms([a, bm.merge_histograms([b, c])]))
    assert_frame_equal(merged, bm.merge_histograms([pl.concat([a, b, c])]))
    assert_frame_equal(bm.merge_histograms([a]), a)


def test_a_month_of_stored_days_is_one_pass_over_the_month(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    n = 3_000
    month = pl.DataFrame(
        {
            "day": rng.integers(1, 31, n),
            "g": rng.choice(["a", "b", None], n, p=[0.5, 0.4, 0.1]),
            "p": rng.random(n),
            "q": rng.random(n).astype(np.float32),
            "y": rng.random(n) < 0.3,
        }
    ).with_columns(p=pl.when(pl.col("day") == 3).then(None).otherwise("p"))
    ask: dict[str, Any] = {"by": "g", "rollup": True}
    for (day,), rows in month.group_by("day"):
        stored = rows.binmetrics.histogram(["p", "q"], "y", bins=bm.uniform(101), **ask)
        stored.write_parquet(tmp_path / f"{day}.parquet")
    expected = month.binmetrics.counts(["p", "q"], "y", thresholds=bm.uniform(101), **ask)
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) == 30
    one_by_one = bm.merge_histograms(map(pl.scan_parquet, files))
    assert_frame_equal(one_by_one.binmetrics.cumulate().collect(), expected)
    at_once = bm.merge_histograms([pl.scan_parquet(tmp_path / "*.parquet")])
    assert_frame_equal(at_once.binmetrics.cumulate().collect(), expected)


def test_faults_and_null_keys_survive_a_merge() -> None:
    good = pl.DataFrame({"g": [None, "a"], "s": [0.7, 0.2], "y": [1, 0]})
    bad = pl.DataFrame({"g": [None, "b"], "s": [math.nan, 0.2], "y": [1, 0]})
    states = [f.binmetrics.histogram("s", "y", bins=[0.5], by="g") for f in (good, bad)]
    counts = bm.merge_histograms(states).binmetrics.cumulate()
    assert counts.select("g", "tp").rows() == [(None, None), ("a", 0), ("b", 0)]


def test_merging_gives_the_union_of_segments_and_models() -> None:
    one = FRAME.filter(g="a").binmetrics.histogram("s", "y", bins=GRID, by="g")
    two = FRAME.filter(g="b").binmetrics.histogram("t", "y", bins=GRID, by="g")
    merged = bm.merge_histograms([one, two])
    assert merged.select("g", "model").unique().sort("g").rows() == [("a", "s"), ("b", "t")]
    assert merged.height == 2 * 4


def test_the_columns_of_a_state_may_stand_in_another_order() -> None:
    one = FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g")
    merged = bm.merge_histograms([one, one.select(reversed(one.columns))])
    assert_frame_equal(merged, one.with_columns(pl.col(SIDES) * 2))


@pytest.mark.parametrize(
    ("bins", "others"),
    [
        (GRID, [0.1, 0.3, 0.50001]),
        (GRID, [0.1, 0.3]),
        (GRID, [0.1, 0.3, 0.5, 0.7]),
        ([0.1], [0.2]),
        (bm.uniform(11), bm.uniform(12)),
        (GRID, bm.every_score()),
        (bm.every_score(), bm.every_score()),
    ],
    ids=str,
)
@pytest.mark.parametrize("by", [None, "g"])
def test_states_over_different_grids_are_refused(bins: Any, others: Any, by: str | None) -> None:
    one = FRAME.head(2).binmetrics.histogram("s", "y", bins=bins, by=by)
    two = FRAME.tail(2).binmetrics.histogram("t", "y", bins=others, by=by)
    message = "the states are over different grids"
    with pytest.raises(InvalidOperationError, match=message):
        bm.merge_histograms([one, two])
    with pytest.raises(InvalidOperationError, match=message):
        bm.merge_histograms([pl.concat([one, two])])
    lazy = bm.merge_histograms([one.lazy(), two.lazy()])
    for engine in ("in-memory", "streaming"):
        with pytest.raises(InvalidOperationError, match=message):
            lazy.collect(engine=engine)


def test_a_state_that_lacks_a_bin_in_one_segment_is_refused() -> None:
    whole = FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g")
    for i in range(whole.height):
        damaged = pl.concat([whole[:i], whole[i + 1 :]])
        with pytest.raises(InvalidOperationError, match="different grids"):
            bm.merge_histograms([whole, damaged])


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_states_in_one_frame_are_added_before_they_are_read(engine: Any) -> None:
    days = [FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g") for _ in range(2)]
    several = pl.concat(days)
    for verb in ("cumulate", "roc_auc"):
        lazy = getattr(several.lazy().binmetrics, verb)()
        with pytest.raises(InvalidOperationError, match="has a threshold twice; add histograms"):
            lazy.collect(engine=engine)
        with pytest.raises(InvalidOperationError, match=r"^a segment and model has a"):
            getattr(several.binmetrics, verb)()
        added = getattr(bm.merge_histograms([several]).binmetrics, verb)()
        assert_frame_equal(added, getattr(bm.merge_histograms(days).binmetrics, verb)())
    for name in ("^x$", "*"):
        state = FRAME.binmetrics.histogram("s", "y", bins=[0.5], by=pl.col("g").alias(name))
        assert state.binmetrics.cumulate()["tp"].to_list() == [1, 0]
    # One null bin a group is none too many.
    one = FRAME.filter(g="a").with_columns(g=pl.lit(None, pl.String))
    state = one.binmetrics.histogram(pl.col("s"), "y", bins=[0.5], by="g")
    assert state.binmetrics.cumulate()["tp"].to_list() == [1]


def test_a_number_that_is_not_known_is_not_known_of_the_sum() -> None:
    day = FRAME.binmetrics.histogram("s", "y", bins=[0.5], by="g")
    other = day.with_columns(positives=pl.when(pl.col("g") != "a").then("positives"))
    counts = bm.merge_histograms([day, other]).binmetrics.cumulate()
    assert counts["g", "tp", "fn"].rows() == [("a", None, None), ("b", 0, 2)]


def test_what_can_not_be_merged_is_refused() -> None:
    one = FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g")
    with pytest.raises(ValueError, match="`frames` should hold at least one histogram, got none"):
        bm.merge_histograms([])
    with pytest.raises(TypeError, match="`frames` should be frames, got str"):
        bm.merge_histograms(["state.parquet"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="`frames` should be all DataFrames or all LazyFrames"):
        bm.merge_histograms([one, one.lazy()])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="`frames` should be several frames, got DataFrame"):
        bm.merge_histograms(one)  # type: ignore[arg-type]
    with pytest.raises(ColumnNotFoundError, match="no histogram: it has no column 'model'"):
        bm.merge_histograms([FRAME])
    for other in (
        FRAME.binmetrics.histogram("s", "y", bins=GRID),
        FRAME.binmetrics.histogram("s", "y", bins=GRID, by=pl.col("g").alias("h")),
        FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g", weight=pl.lit(1)),
        FRAME.binmetrics.histogram("s", "y", bins=GRID, by=pl.col("g").cast(pl.Categorical)),
        FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g", rollup=True),
    ):
        with pytest.raises(SchemaError, match="`frames`: the first has columns g String, model"):
            bm.merge_histograms([one.lazy(), other.lazy()])


def test_merging_no_rows() -> None:
    empty = FRAME.clear().binmetrics.histogram("s", "y", bins=GRID, by="g")
    assert empty.height == 0
    assert_frame_equal(bm.merge_histograms([empty]), empty)
    full = FRAME.binmetrics.histogram("s", "y", bins=GRID, by="g")
    assert_frame_equal(bm.merge_histograms([empty, full, empty]), full)


# States edited by hand.


@pytest.mark.parametrize("bad", [-1, None, math.nan, math.inf])
def test_a_number_that_is_none_makes_its_group_null(bad: float | None) -> None:
    table = FRAME.binmetrics.histogram("s", "y", bins=[0.5], by="g", weight=pl.lit(1))
    table = table.with_columns(
        pl.when(g="b", threshold=0.5).then(pl.lit(bad, pl.Float64)).otherwise(side).alias(side)
        for side in SIDES
    )
    counts = table.binmetrics.cumulate()
    assert counts.filter(g="b").select("tp", "fp", "fn", "tn").row(0) == (None,) * 4
    assert counts.filter(g="a")["tp"].item() == 1
    assert table.binmetrics.roc_auc().row(1) == ("b", "s", None, None, None)


def test_counts_that_are_negative_have_no_rates() -> None:
    counts = pl.DataFrame({"tp": [-1, 2], "fp": [1, 1], "fn": [3, 1], "tn": [1, 1]})
    table = counts.binmetrics.rates("recall", "specificity", "n")
    assert table["recall"].to_list() == [None, 2 / 3]
    assert table["specificity"].to_list() == [0.5, 0.5]
    assert table["n"].to_list() == [None, 5]


def test_what_is_no_histogram_is_refused() -> None:
    for verb in ("cumulate", "roc_auc"):
        with pytest.raises(ColumnNotFoundError, match="the frame is no histogram"):
            getattr(FRAME.binmetrics, verb)()
    table = FRAME.binmetrics.histogram("s", "y", bins=GRID, by=pl.col("g").alias("tp"))
    with pytest.raises(DuplicateError, match="the frame has a column 'tp' already"):
        table.binmetrics.cumulate()
    assert table.binmetrics.roc_auc().columns[:2] == ["tp", "model"]


def test_rows_in_any_order_and_keys_of_any_kind() -> None:
    frame = FRAME.with_columns(
        d=pl.lit(date(2026, 11, 20)), n=pl.Series([math.nan, None, 1.0]), c=pl.lit("x")
    )
    by = ["d", "n", pl.col("c").cast(pl.Categorical)]
    table = frame.binmetrics.histogram("s", "y", bins=GRID, by=by)
    expected = frame.binmetrics.counts("s", "y", thresholds=GRID, by=by)
    for shuffled in (table.reverse(), table.sample(fraction=1, shuffle=True, seed=1)):
        assert_frame_equal(shuffled.binmetrics.cumulate(), expected)
        assert_frame_equal(bm.merge_histograms([shuffled]), table)


@pytest.mark.parametrize("name", ["group", "place", "n_missing", "often", "pieces", ""])
def test_a_key_may_have_any_other_name(name: str) -> None:
    by = pl.col("g").alias(name)
    table = FRAME.binmetrics.histogram("s", "y", bins=GRID, by=by)
    assert_frame_equal(bm.merge_histograms([table]), table)
    expected = FRAME.binmetrics.counts("s", "y", thresholds=GRID, by=by)
    assert_frame_equal(table.binmetrics.cumulate(), expected)
    assert table.binmetrics.roc_auc().columns[:2] == [name, "model"]


def test_counts_of_a_million_million_rows_are_exact() -> None:
    table = FRAME.binmetrics.histogram("s", "y", bins=GRID)
    huge = table.with_columns(pl.col(SIDES) * 10**12 + 1)
    exact = table.binmetrics.cumulate().with_columns(
        (pl.col("tp", "fp") + 0) * 10**12 + pl.col("threshold").rank("ordinal", descending=True),
        (pl.col("fn", "tn") + 0) * 10**12 + pl.col("threshold").rank("ordinal"),
    )
    counts = huge.binmetrics.cumulate()
    assert_frame_equal(counts, exact.cast(counts.schema))
    merged = bm.merge_histograms([huge] * 3)
    assert_frame_equal(merged, huge.with_columns(pl.col(SIDES) * 3))


def test_a_state_survives_parquet() -> None:
    frame = FRAME.with_columns(s=pl.Series([0.2, math.nan, None]))
    table = frame.binmetrics.histogram("s", "y", bins=GRID, by="g")
    stored = io.BytesIO()
    table.write_parquet(stored)
    stored.seek(0)
    assert_frame_equal(pl.read_parquet(stored), table)


# The grids.


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bm.uniform(1), ValueError, "`n` should be at least 2, got 1"),
        (lambda: bm.uniform(2.5), TypeError, "`n` should be an integer, got 2.5"),
        (lambda: bm.uniform(True), TypeError, "`n` should be an integer, got True"),
        (lambda: bm.uniform(5, 1, 1), ValueError, "`lo` should be less than `hi`, got 1 and 1"),
        (lambda: bm.uniform(5, 2, 1), ValueError, "`lo` should be less than `hi`, got 2 and 1"),
        (lambda: bm.uniform(5, math.nan, 1), ValueError, "`lo` should be a number, got NaN"),
        (lambda: bm.uniform(5, 0, math.inf), ValueError, "`hi` should be finite, got inf"),
        (lambda: bm.uniform(5, "0", 1), TypeError, "`lo` should be a number, got '0'"),
        (lambda: bm.dyadic(-1), ValueError, "`bits` should be at least 0, got -1"),
        (lambda: bm.dyadic(2, 0, 0.3), ValueError, r"`lo` and `hi` should be multiples of 2\*\*-2"),
        (lambda: bm.dyadic(2, 1, 0), ValueError, "`lo` should be less than `hi`"),
        (lambda: bm.quantiles(1), ValueError, "`n` should be at least 2, got 1"),
        (lambda: bm.quantiles(4, per="day"), ValueError, "`per` should be one of model, segment"),
        (lambda: bm.every_score(midpoints=1), TypeError, "`midpoints` should be True or False"),
    ],
)
def test_grids_that_are_none(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("bins", [[], [math.nan], None, "uniform"])
def test_bins_that_are_none(bins: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="`bins` should"):
        FRAME.binmetrics.histogram("s", "y", bins=bins)


@pytest.mark.parametrize("name", ["model", "threshold", "positives", "level"])
def test_a_key_called_like_a_column_of_a_state_is_refused(name: str) -> None:
    with pytest.raises(DuplicateError, match=f"`by`: the output has a column '{name}'"):
        FRAME.binmetrics.histogram("s", "y", bins=GRID, by=pl.col("g").alias(name))


def test_thresholds_are_in_order_in_every_grid() -> None:
    for grid in (bm.uniform(1001, -3, 11), bm.dyadic(6, -1, 1)):
        assert all(low < high for low, high in pairwise(grid))


@pytest.mark.parametrize(
    "key", ["n_positive", "n_faulty", "group", "key model", "roc_auc variance"]
)
def test_an_interval_takes_any_key(key: str) -> None:
    frame = pl.DataFrame({key: ["a"] * 4, "s": [0.1, 0.6, 0.4, 0.8], "y": [0, 0, 1, 1]})
    state = frame.binmetrics.histogram("s", "y", bins=[0.2, 0.5], by=key)
    for interval in (0.95, bm.bootstrap(n=50, seed=1)):
        table = state.binmetrics.roc_auc(interval=interval)
        assert table.columns[:3] == [key, "model", "roc_auc"]
        assert table.columns[-2:] == ["roc_auc_low", "roc_auc_high"]


def test_an_interval_of_an_edited_state_is_null() -> None:
    state = pl.DataFrame(
        {"model": "m", "threshold": [None, 0.5], "positives": [-1, 2], "negatives": [3, 1]}
    )
    empty = state.with_columns(positives=pl.Series([None, 2], dtype=pl.Int64))
    for frame in (state, empty):
        for interval in (0.95, bm.bootstrap(n=50, seed=1)):
            table = frame.binmetrics.roc_auc(interval=interval)
            assert table.select("roc_auc_low", "roc_auc_high").row(0) == (None, None)


def test_small_integers_do_not_wrap() -> None:
    state = pl.DataFrame(
        {
            "model": "m",
            "threshold": [None, 0.2, 0.5],
            "positives": [10, 60, 3_000_000_000],
            "negatives": [3_000_000_000, 3_000_000_000, 20],
        }
    )
    small = state.with_columns(pl.col("positives", "negatives").cast(pl.UInt32))
    for verb in ("cumulate", "roc_auc"):
        one, other = (getattr(bm.of(frame), verb)() for frame in (small, state))
        assert_frame_equal(one, other)
    one, other = (bm.of(frame).roc_auc(interval=0.95) for frame in (small, state))
    assert_frame_equal(one, other)
    assert bm.merge_histograms([small, small])["positives"].sum() == 2 * state["positives"].sum()
