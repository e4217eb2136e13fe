"""One number, whichever way it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import given, settings

import polars_binmetrics as bm
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, PARAMETERS, SCORE_METRICS
from tests.rows import frames

ENGINES: list[Literal["in-memory", "streaming"]] = ["in-memory", "streaming"]
# The plan of a hull is long, whatever the rows: these metrics have a test of their own.
OF_HULL = [name for name in SCORE_METRICS if getattr(METRICS[name], "hull", False)]
NAMES = [name for name in (*EXPECTED, *SCORE_METRICS) if name not in OF_HULL]
MODELS = ["a", "b"]


def metric(name: str) -> Any:
    return METRICS[name](**PARAMETERS.get(name, {}))


def everything() -> list[Any]:
    return [metric(name) for name in NAMES]


def expression(name: str, *scores: str, **options: Any) -> pl.Expr:
    method = getattr(bm.of(pl.col(*scores)), name)
    result: pl.Expr = method("y", **PARAMETERS.get(name, {}), **options)
    return result


def values(frame: pl.DataFrame) -> Iterator[float | None]:
    yield from (value for row in frame.select(NAMES).rows() for value in row)


def assert_same(left: pl.DataFrame, right: pl.DataFrame, tolerance: float = 1e-12) -> None:
    """Equal in shape, types and keys; floats to the tolerance."""
    assert left.schema == right.schema
    assert left.height == right.height
    for one, other in zip(left.rows(), right.rows(), strict=True):
        for x, y in zip(one, other, strict=True):
            if isinstance(x, float) and isinstance(y, float):
                assert isclose(x, y, rel_tol=tolerance, abs_tol=tolerance), (one, other)
            else:
                assert x == y, (one, other)


@given(frame=frames())
@settings(max_examples=4)
def test_eager_lazy_typed_and_both_engines_agree(frame: pl.DataFrame) -> None:
    ask = {"metrics": everything(), "by": "segment", "thresholds": [0.3, 0.5]}
    eager = frame.binmetrics.evaluate(MODELS, "y", **ask)
    assert_same(eager, bm.of(frame).evaluate(MODELS, "y", **ask))
    for engine in ENGINES:
        for lazy in (frame.lazy().binmetrics, bm.of(frame.lazy())):
            result = lazy.evaluate(MODELS, "y", **ask).collect(engine=engine)
            assert_same(eager, result)


@given(frame=frames())
@settings(max_examples=4)
def test_weighted_engines_agree(frame: pl.DataFrame) -> None:
    ask = {"metrics": everything(), "by": "segment", "weight": "w"}
    lazy = frame.lazy().binmetrics.evaluate(MODELS, "y", **ask)
    assert_same(*(lazy.collect(engine=engine) for engine in ENGINES))


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
@settings(max_examples=4)
def test_expressions_agree_with_frames(frame: pl.DataFrame, weight: str | None) -> None:
    agree(frame, NAMES, weight)


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
@settings(max_examples=1)
def test_metrics_of_the_hull_agree(frame: pl.DataFrame, weight: str | None) -> None:
    agree(frame, OF_HULL, weight)
    ask = {"metrics": [metric(name) for name in OF_HULL], "by": "segment", "weight": weight}
    lazy = frame.lazy().binmetrics.evaluate(MODELS, "y", **ask)
    assert_same(*(lazy.collect(engine=engine) for engine in ENGINES))


def agree(frame: pl.DataFrame, names: list[str], weight: str | None) -> None:
    metrics = [metric(name) for name in names]
    table = frame.binmetrics.evaluate(MODELS, "y", metrics=metrics, by="segment", weight=weight)
    for name in names:
        grouped = frame.group_by("segment").agg(expression(name, *MODELS, weight=weight))
        long = grouped.unpivot(MODELS, index="segment", variable_name="model", value_name=name)
        expected = table.select("segment", "model", name)
        assert_same(expected, long.sort("segment", "model"))


@pytest.mark.parametrize("strict", [False, True])
@given(frame=frames())
@settings(max_examples=4)
def test_confusion_agrees_with_counts(frame: pl.DataFrame, strict: bool) -> None:
    table = frame.binmetrics.counts(MODELS, "y", strict=strict, weight="w")
    for model in MODELS:
        struct = pl.col(model).binmetrics.confusion("y", strict=strict, weight="w")
        row = table.filter(model=model).select("tp", "fp", "fn", "tn")
        assert_same(row, frame.select(struct).unnest(model))


@given(frame=frames())
@settings(max_examples=4)
def test_rates_of_counts_are_those_of_evaluate(frame: pl.DataFrame) -> None:
    rates = [metric(name) for name in EXPECTED if name not in ("tp", "fp", "fn", "tn")]
    counts = frame.binmetrics.counts(MODELS, "y", by="segment")
    table = frame.binmetrics.evaluate(MODELS, "y", metrics=rates, by="segment")
    shared = counts.binmetrics.rates(*rates)
    assert_same(shared, table.select(shared.columns))


@given(frame=frames())
@settings(max_examples=4)
def test_a_segment_is_as_if_it_were_alone(frame: pl.DataFrame) -> None:
    whole = frame.binmetrics.evaluate(MODELS, "y", metrics=everything(), by="segment")
    for (segment,), rows in frame.group_by("segment"):
        alone = rows.binmetrics.evaluate(MODELS, "y", metrics=everything())
        part = whole.filter(pl.col("segment").eq_missing(segment)).drop("segment")
        assert_same(part, alone)


@given(frame=frames())
@settings(max_examples=4)
def test_weights_of_one_change_no_value(frame: pl.DataFrame) -> None:
    plain = frame.binmetrics.evaluate(MODELS, "y", metrics=everything())
    weighted = frame.binmetrics.evaluate(MODELS, "y", metrics=everything(), weight=pl.lit(1))
    for x, y in zip(values(plain), values(weighted), strict=True):
        assert x == y if x is None or y is None else isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


@given(frame=frames())
@settings(max_examples=4)
def test_integer_weights_are_repeated_rows(frame: pl.DataFrame) -> None:
    repeated = frame.select(pl.all().repeat_by("copies")).explode(pl.all(), empty_as_null=False)
    plain = repeated.binmetrics.evaluate(MODELS, "y", metrics=everything())
    weighted = frame.binmetrics.evaluate(MODELS, "y", metrics=everything(), weight="copies")
    for x, y in zip(values(plain), values(weighted), strict=True):
        assert x == y if x is None or y is None else isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("name", [*METRICS, "confusion"])
def test_every_expression_keeps_the_name_of_its_score(name: str) -> None:
    frame = pl.DataFrame({"a": [0.1], "b": [0.2], "y": [1], "w": [1.0]})
    score = (pl.col("a") + pl.col("b")).alias("sum")
    for weight in (None, "w"):
        method = getattr(bm.of(score), name)
        assert frame.select(method("y", weight=weight, **PARAMETERS.get(name, {}))).columns == [
            "sum"
        ]
