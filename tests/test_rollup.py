"""Totals are the sums of their parts, told from null keys, without a second pass."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.exceptions import DuplicateError
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.rows import frames

METRICS = ["recall", "fpr", "roc_auc", "brier"]
SPECS: list[Any] = [
    [0.3, 0.5],
    bm.every_score(),
    bm.every_score(midpoints=True),
    bm.quantiles(3, per="segment"),
]
FRAME = pl.DataFrame(
    {"g": ["a", "a", "b", None], "h": [1, 2, 1, None], "s": [0.2, 0.7, 0.4, 0.9], "y": [0, 1, 1, 0]}
)


@settings(max_examples=8)
@given(frame=frames(), weighted=st.booleans())
@pytest.mark.parametrize("thresholds", SPECS, ids=str)
def test_each_level_is_a_table_by_fewer_keys(
    thresholds: Any, frame: pl.DataFrame, weighted: bool
) -> None:
    keys = ["segment", "copies"]
    ask: dict[str, Any] = {
        "metrics": METRICS,
        "thresholds": thresholds,
        "weight": "w" if weighted else None,
    }
    rolled = frame.binmetrics.evaluate(["a", "b"], "y", by=keys, rollup=True, **ask)
    for level in range(len(keys) + 1):
        alone = frame.binmetrics.evaluate(["a", "b"], "y", by=keys[:level], **ask)
        own = rolled.filter(level=level).drop("level", *keys[level:])
        assert_frame_equal(own, alone)
    assert set(rolled["level"]) <= {0, 1, 2}


def test_a_total_stands_above_its_parts_and_is_told_from_a_null_key() -> None:
    table = FRAME.binmetrics.counts("s", "y", by=["g", "h"], rollup=True)
    assert table.columns[:5] == ["g", "h", "level", "model", "threshold"]
    assert table.schema["level"] == pl.Int64
    assert table.select("g", "h", "level").rows() == [
        (None, None, 0),
        (None, None, 1),
        (None, None, 2),
        ("a", None, 1),
        ("a", 1, 2),
        ("a", 2, 2),
        ("b", None, 1),
        ("b", 1, 2),
    ]
    assert table["tp"].to_list() == [1, 0, 0, 1, 0, 1, 0, 0]


def test_quantiles_per_model_are_those_of_the_rows_counted_once() -> None:
    frame = pl.DataFrame({"g": ["a"] * 9 + ["b"], "s": [0.1] * 9 + [0.9], "y": [0, 1] * 5})
    for per in ("model", "overall"):
        ask: dict[str, Any] = {"by": "g", "thresholds": bm.quantiles(11, per=per)}
        rolled = frame.binmetrics.counts("s", "y", rollup=True, **ask)
        alone = frame.binmetrics.counts("s", "y", **ask)
        assert_frame_equal(rolled.filter(level=1).drop("level"), alone)


def test_without_keys_the_grand_total_is_all() -> None:
    table = FRAME.binmetrics.counts("s", "y", rollup=True)
    assert_frame_equal(table.drop("level"), FRAME.binmetrics.counts("s", "y"))
    assert table["level"].to_list() == [0]


def test_a_state_is_rolled_up_before_or_after_it_is_stored() -> None:
    ask: dict[str, Any] = {"by": ["g", "h"], "rollup": True}
    state = FRAME.binmetrics.histogram("s", "y", bins=[0.3, 0.5], **ask)
    expected = FRAME.binmetrics.counts("s", "y", thresholds=[0.3, 0.5], **ask)
    assert_frame_equal(state.binmetrics.cumulate(), expected)
    assert_frame_equal(bm.merge_histograms([state]), state)


def test_a_total_over_a_faulty_segment_is_null() -> None:
    frame = FRAME.with_columns(s=pl.Series([float("nan"), 0.7, 0.4, 0.9]))
    table = frame.binmetrics.evaluate("s", "y", metrics=METRICS, by="g", rollup=True)
    faulty = table.filter(pl.col("tp").is_null())
    assert faulty.select("g", "level").rows() == [(None, 0), ("a", 1)]
    assert faulty.select(METRICS).rows() == [(None,) * 4] * 2


def test_an_empty_frame_has_a_grand_total_of_nothing() -> None:
    table = FRAME.clear().binmetrics.counts("s", "y", by="g", rollup=True)
    assert table.rows() == [(None, 0, "s", 0.5, 0, 0, 0, 0)]
    assert table.schema == FRAME.binmetrics.counts("s", "y", by="g", rollup=True).schema


def test_a_key_called_level_is_refused() -> None:
    frame = FRAME.rename({"g": "level"})
    # With and without totals, so that a table or a state always tells whether it has some.
    for rollup in (True, False):
        with pytest.raises(DuplicateError, match="`by`: the output has a column 'level' of its"):
            frame.binmetrics.counts("s", "y", by="level", rollup=rollup)
