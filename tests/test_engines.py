"""The state of rows in DuckDB and Ibis is that of Polars, counted there in one group-by."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import ibis
import polars as pl
import pytest
from hypothesis import given, settings
from polars.exceptions import ColumnNotFoundError, SchemaError
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from polars_binmetrics import extras
from tests.engine_rows import ASKED, DATA, agrees
from tests.rows import frames

CONNECTION = duckdb.connect()
ENGINES = {
    "DuckDB": lambda frame: duckdb.from_arrow(frame.to_arrow()),
    "DuckDB, a connection of its own": lambda frame: CONNECTION.from_arrow(frame.to_arrow()),
    "Ibis": lambda frame: ibis.memtable(frame.to_arrow()),
}


@pytest.fixture(params=ENGINES)
def there(request: pytest.FixtureRequest) -> Any:
    return ENGINES[request.param]


@pytest.mark.parametrize("asked", ASKED)
def test_states_are_equal_to_the_bit(there: Any, asked: str) -> None:
    agrees(there(DATA), ASKED[asked])


@pytest.mark.parametrize("engine", ENGINES)
@given(rows=frames())
@settings(max_examples=8)
def test_states_of_any_rows_are_equal(engine: str, rows: pl.DataFrame) -> None:
    ask: dict[str, Any] = {
        "scores": ["a", "b"],
        "label": "y",
        "bins": bm.dyadic(4),
        "by": "segment",
    }
    frame: Any = ENGINES[engine](rows)
    assert_frame_equal(bm.histogram(frame, **ask), rows.binmetrics.histogram(**ask))


@pytest.mark.parametrize(
    "label",
    [
        DATA["y"] == 1,
        DATA["y"].cast(pl.Float32),
        DATA["y"].replace_strict({0: "no", 1: "yes", 2: "no"}, return_dtype=pl.String),
    ],
    ids=["Boolean", "Float32", "String"],
)
def test_labels_of_any_type_are_read_alike(there: Any, label: pl.Series) -> None:
    rows = DATA.with_columns(label.alias("y"), pl.col("a").cast(pl.Float32))
    positive = "yes" if label.dtype == pl.String else None
    ask: dict[str, Any] = {"bins": bm.dyadic(3), "by": "segment", "positive": positive}
    assert_frame_equal(
        bm.histogram(there(rows), "a", "y", **ask), rows.binmetrics.histogram("a", "y", **ask)
    )


def test_positive_is_read_as_the_type_of_the_label(there: Any) -> None:
    rows = DATA.with_columns(pl.Series("y", [0.1, 0.2] * (DATA.height // 2) + [0.1], pl.Float32))
    ask: dict[str, Any] = {"bins": bm.dyadic(3), "positive": 0.1}
    assert_frame_equal(
        bm.histogram(there(rows), "a", "y", **ask), rows.binmetrics.histogram("a", "y", **ask)
    )
    ask["positive"] = True
    assert_frame_equal(
        bm.histogram(there(DATA), "a", "y", **ask), DATA.binmetrics.histogram("a", "y", **ask)
    )


def test_the_false_of_a_boolean_may_be_positive(there: Any) -> None:
    rows = DATA.with_columns(pl.col("y") == 1)
    ask: dict[str, Any] = {"bins": bm.dyadic(3), "positive": False}
    assert_frame_equal(
        bm.histogram(there(rows), "a", "y", **ask), rows.binmetrics.histogram("a", "y", **ask)
    )


def test_all_that_follows_is_that_of_the_rows(there: Any) -> None:
    rows = bm.load_example()
    state = bm.histogram(
        there(rows), ["logistic", "boosting"], "visited_often", bins=bm.dyadic(8), by="health"
    )
    counts = rows.binmetrics.counts(
        ["logistic", "boosting"], "visited_often", thresholds=bm.dyadic(8), by="health"
    )
    assert_frame_equal(state.binmetrics.cumulate(), counts)
    merged = bm.merge_histograms([state, state]).binmetrics.roc_auc()
    exact = rows.binmetrics.evaluate(
        ["logistic", "boosting"], "visited_often", metrics="roc_auc", by="health"
    )
    assert exact["roc_auc"].is_between(merged["roc_auc_lower"], merged["roc_auc_upper"]).all()


def test_one_group_by_runs_there_and_its_result_is_collected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import narwhals as nw

    plans, heights = [], []
    collect = nw.LazyFrame.collect

    def watched(frame: Any, *arguments: Any, **options: Any) -> Any:
        plans.append(frame.to_native().explain())
        result = collect(frame, *arguments, **options)
        heights.append(len(result))
        return result

    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    rows = pl.concat([bm.load_example()] * 5)
    scores = ["logistic", "boosting"]
    bm.histogram(
        duckdb.from_arrow(rows.to_arrow()), scores, "visited_often", bins=bm.dyadic(3), by="health"
    )
    assert len(plans) == 1
    assert len(re.findall("(?i)group.by", plans[0])) == 1
    assert len(re.findall("Scan ", plans[0])) == 1
    assert heights[0] <= 4 * 2 * 9


def test_frames_of_polars_are_counted_by_polars() -> None:
    ask: dict[str, Any] = {"scores": "a", "label": "y", "bins": bm.quantiles(3), "by": "segment"}
    expected = DATA.binmetrics.histogram(**ask)
    assert_frame_equal(bm.histogram(DATA, **ask), expected)
    lazy = bm.histogram(DATA.lazy(), **ask)
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), expected)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"bins": bm.uniform(11)},
            ValueError,
            "`bins` should be one number below 2**53, or neighbouring mu",
        ),
        (
            {"bins": [0.25, 0.75]},
            ValueError,
            "`bins` should be one number below 2**53, or neighbouring",
        ),
        ({"bins": [0.5, float("inf")]}, ValueError, "`bins` should be one number"),
        (
            {"bins": bm.every_score()},
            ValueError,
            "`bins` should be one number below 2**53, or neighbouring",
        ),
        ({"bins": 1e20}, ValueError, "`bins` should be one number below 2**53, or neighbouring"),
        ({"by": "*"}, ValueError, "`by`: '*' should be renamed, unless the frame is one of"),
        ({"scores": "a.b"}, ValueError, "`scores`: 'a.b' should be renamed, unless the frame"),
        ({"scores": 5}, TypeError, "`scores` should be names, unless the frame is"),
        ({"scores": pl.col("a")}, TypeError, "`scores` should be names, unless the frame is"),
        ({"by": [pl.col("segment")]}, TypeError, "`by` should be names, unless the frame is"),
        ({"scores": "nope"}, ColumnNotFoundError, "`scores`: unable to find column"),
        ({"label": "segment"}, SchemaError, "`label`: column 'segment' is String; unless"),
        ({"positive": "yes"}, SchemaError, "`positive`: 'yes' is no value of the label 'y'"),
    ],
)
def test_wrong_arguments_are_named(
    there: Any, given: dict[str, Any], error: type[Exception], message: str
) -> None:
    ask = {"scores": "a", "label": "y", "bins": bm.dyadic(3)} | given
    with pytest.raises(error, match=re.escape(message)):
        bm.histogram(there(DATA), **ask)


def test_other_frames_are_refused() -> None:
    with pytest.raises(TypeError, match=r"`frame` should be a frame .*got builtins.dict"):
        bm.histogram({"a": [0.5]}, "a", "y", bins=bm.dyadic(3))


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        return None

    monkeypatch.setattr(extras, "find_spec", none)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'polars-binmetrics\[ibis\]'"):
        bm.histogram(ibis.memtable(DATA.to_arrow()), "a", "y", bins=bm.dyadic(3))
