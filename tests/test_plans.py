"""The plans: one scan, no fallback, nothing collected, nothing in Python."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Literal

import polars as pl
import pytest
from polars.io.plugins import register_io_source
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from polars_binmetrics.metric import RankMetric
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, PARAMETERS

FRAME = pl.DataFrame(
    {"g": ["a", "b"] * 4, "s": [i / 8 for i in range(8)], "t": [0.5] * 8, "y": [0, 0, 0, 1] * 2}
)
COUNT_METRICS: list[Any] = [METRICS[name](**PARAMETERS.get(name, {})) for name in EXPECTED]
FALLBACK = 'fillcolor="0.0 0.3 1.0"'
RANK_METRICS: list[Any] = [
    metric(**PARAMETERS.get(name, {}))
    for name, metric in METRICS.items()
    if isinstance(metric, RankMetric)
]
THRESHOLDS = [0.2, 0.5, 0.8]


def verbs(frame: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    face = bm.of(frame)
    ask: dict[str, Any] = {"by": "g", "thresholds": THRESHOLDS}
    histogram = face.histogram(["s", "t"], "y", bins=THRESHOLDS, by="g")
    hull = face.roc_hull(["s", "t"], "y", by="g")
    return {
        "counts": face.counts(["s", "t"], "y", **ask),
        "weighted counts": face.counts(["s", "t"], "y", weight="s", **ask),
        "strict counts": face.counts(["s", "t"], "y", strict=True, **ask),
        "rolled-up counts": face.counts(["s", "t"], "y", rollup=True, **ask),
        "counts of one model": face.counts("s", "y", thresholds=bm.uniform(1001)),
        "counts at quantiles": face.counts(["s", "t"], "y", thresholds=bm.quantiles(3), by="g"),
        "counts at every score": face.counts(["s", "t"], "y", thresholds=bm.every_score()),
        "counts at midpoints": face.counts(
            ["s", "t"], "y", thresholds=bm.every_score(midpoints=True), by="g"
        ),
        "histogram": histogram,
        "cumulate": bm.of(histogram).cumulate(),
        "area of a histogram": bm.of(histogram).roc_auc(),
        "merge_histograms": bm.merge_histograms([histogram]),
        "best_threshold": face.best_threshold(
            ["s", "t"], "y", criterion=bm.maximum("tpr", bm.at_most("fpr", 0.5)), by="g"
        ),
        "rates": bm.of(face.counts(["s", "t"], "y", **ask)).rates(COUNT_METRICS),
        "evaluate": face.evaluate(["s", "t"], "y", metrics=COUNT_METRICS, **ask),
        "evaluate without segments": face.evaluate(["s", "t"], "y", metrics=COUNT_METRICS),
        "evaluate with ranks": face.evaluate(["s", "t"], "y", metrics=RANK_METRICS, **ask),
        "evaluate with the ranks of all rows": face.evaluate("s", "y", metrics=RANK_METRICS),
        "evaluate with weighted ranks": face.evaluate(
            ["s", "t"], "y", metrics=["roc_auc", "ks"], weight="s", by="g"
        ),
        "evaluate with the ranks of totals": face.evaluate(
            "s", "y", metrics=["roc_auc"], rollup=True, by="g"
        ),
        "evaluate with intervals": face.evaluate(
            ["s", "t"], "y", metrics=[*COUNT_METRICS, "roc_auc"], interval=0.95, **ask
        ),
        "evaluate with weighted intervals": face.evaluate(
            "s", "y", metrics=["recall", "f1"], interval=0.95, weight="s", **ask
        ),
        "compare": face.compare(["s", "t"], "y", metrics=["tpr", "mcc", "roc_auc"], by="g"),
        "compare other metrics": face.compare(["s", "t"], "y", metrics=["ks", "brier", "tpr"]),
        "gaps": face.gaps(["s", "t"], "y", "g", metrics=["tpr", "f1", "brier", "roc_auc", "ks"]),
        "gaps to the best": face.gaps("s", "y", "g", metrics=["tpr", "gini"], reference="best"),
        "interval of the area of a histogram": bm.of(histogram).roc_auc(interval=0.95),
        "roc_curve": face.roc_curve(["s", "t"], "y", by="g"),
        "roc_curve at thresholds": face.roc_curve("s", "y", thresholds=THRESHOLDS),
        "roc_curve without collinear points": face.roc_curve("s", "y", drop_collinear=True),
        "pr_curve": face.pr_curve("s", "y"),
        "det_curve": face.det_curve("s", "y"),
        "gain_curve": face.gain_curve("s", "y"),
        "cost_curve": face.cost_curve("s", "y", by="g"),
        "decision_curve": face.decision_curve("s", "y", by="g"),
        "calibration_curve": face.calibration_curve("s", "y", bins=bm.quantiles(3), by="g"),
        "roc_hull": hull,
        "attain": bm.of(hull).attain(fpr=0.5),
        "evaluate with losses": face.evaluate("s", "y", metrics=["brier", "log_loss"], **ask),
        "evaluate with totals": face.evaluate(
            ["s", "t"], "y", metrics=["recall", "brier"], rollup=True, **ask
        ),
    }


VERBS = list(verbs(FRAME.lazy()))


def fallbacks(frame: pl.LazyFrame) -> list[str]:
    """The nodes that the streaming engine hands to the in-memory engine."""
    graph = frame.show_graph(engine="streaming", plan_stage="physical", raw_output=True, show=False)
    assert graph is not None
    return [line for line in graph.splitlines() if FALLBACK in line]


def test_a_fallback_would_be_seen() -> None:
    assert fallbacks(FRAME.lazy().group_by("g").agg(pl.col("s").rank().sum()))


@pytest.mark.skipif(int(pl.__version__[0]) < 2, reason="judged on the newest polars")
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_falls_back(verb: str) -> None:
    assert fallbacks(verbs(FRAME.lazy())[verb]) == []


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("verb", VERBS)
def test_the_source_is_read_once_and_for_the_columns_used(
    verb: str, engine: Literal["in-memory", "streaming"]
) -> None:
    reads: list[list[str] | None] = []
    wide = FRAME.with_columns(unused=pl.lit(1))

    def source(
        columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        reads.append(columns)
        yield wide if columns is None else wide.select(columns)

    frame = register_io_source(source, schema=wide.schema)
    result = verbs(frame)[verb].collect(engine=engine)
    assert len(reads) == 1
    assert reads[0] is not None
    assert "unused" not in reads[0]
    expected = verbs(FRAME.lazy())[verb].collect()
    assert_frame_equal(result, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_the_source_is_asked_for_its_schema_once_a_call() -> None:
    asked = 0

    def schema() -> pl.Schema:
        nonlocal asked
        asked += 1
        return FRAME.schema

    frame = register_io_source(lambda *_: iter([FRAME]), schema=schema)
    bm.of(frame).evaluate(["s", "t"], "y", metrics=["recall", "roc_auc"], by="g")
    assert asked == 1


@pytest.mark.parametrize("verb", VERBS)
def test_a_lazy_verb_collects_nothing(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def collected(*_: Any, **__: Any) -> None:
        raise AssertionError("something was collected")

    with monkeypatch.context() as patched:
        for name in ("collect", "collect_async", "collect_batches", "fetch", "sink_parquet"):
            if hasattr(pl.LazyFrame, name):
                patched.setattr(pl.LazyFrame, name, collected)
        plan = verbs(FRAME.lazy())[verb]
    assert isinstance(plan, pl.LazyFrame)


@pytest.mark.parametrize("verb", VERBS)
def test_plans_serialise_and_hold_no_python(verb: str) -> None:
    plan = verbs(FRAME.lazy())[verb]
    stored = plan.serialize()
    assert b"python" not in stored.lower()
    restored = pl.LazyFrame.deserialize(io.BytesIO(stored)).collect()
    assert_frame_equal(restored, plan.collect(), rel_tol=1e-12, abs_tol=1e-12)


def test_eager_frames_may_grow_in_place_between_calls() -> None:
    frame = FRAME.clone()
    assert frame.binmetrics.evaluate("s", "y", metrics=[])["n"].item() == 8
    frame.extend(FRAME)
    assert frame.binmetrics.evaluate("s", "y", metrics=[])["n"].item() == 16
