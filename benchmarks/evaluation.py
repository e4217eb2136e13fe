"""`evaluate` beside scikit-learn in loops over segments, models and thresholds."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal
from sklearn import metrics as sk  # type: ignore[import-untyped]

import polars_binmetrics as bm
from benchmarks import contest
from benchmarks.data import MODELS, SEGMENTS

THRESHOLDS = [0.3, 0.5, 0.7]
METRICS = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "specificity": lambda y, called: sk.recall_score(y, called, pos_label=0),
    "npv": lambda y, called: sk.precision_score(y, called, pos_label=0),
    "f1": sk.f1_score,
    "jaccard": sk.jaccard_score,
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}


def ours(rows: pl.DataFrame) -> pl.DataFrame:
    """One plan."""
    plan = bm.of(rows.lazy()).evaluate(
        MODELS, "label", metrics=[*METRICS, "roc_auc"], by="segment", thresholds=THRESHOLDS
    )
    return plan.collect(engine="streaming")


def a_call_a_metric(rows: pl.DataFrame) -> pl.DataFrame:
    """scikit-learn in a loop, as it is mostly written: a call a metric."""

    def values(label: Any, called: Any) -> list[float]:
        return [metric(label, called) for metric in METRICS.values()]

    return loop(rows, values)


def a_matrix_a_threshold(rows: pl.DataFrame) -> pl.DataFrame:
    """scikit-learn in the loop that asks the least of it: one confusion matrix, then formulas."""

    def values(label: Any, called: Any) -> list[float]:
        (tn, fp), (fn, tp) = sk.confusion_matrix(label, called).tolist()
        positives, negatives, n = tp + fn, fp + tn, tp + fp + fn + tn
        agreement = tp * tn - fp * fn
        return [
            (tp + tn) / n,
            (tp / positives + tn / negatives) / 2,
            tp / (tp + fp),
            tp / positives,
            tn / negatives,
            tn / (tn + fn),
            2 * tp / (2 * tp + fp + fn),
            tp / (tp + fp + fn),
            agreement / ((tp + fp) * positives * negatives * (tn + fn)) ** 0.5,
            2 * agreement / ((tp + fp) * negatives + positives * (fn + tn)),
        ]

    return loop(rows, values)


def loop(rows: pl.DataFrame, values: Callable[[Any, Any], list[float]]) -> pl.DataFrame:
    """Segments, models and thresholds one after the other."""
    table: list[tuple[Any, ...]] = []
    for (segment,), group in sorted(rows.partition_by("segment", as_dict=True).items()):
        label = group["label"].to_numpy()
        for model in MODELS:
            score = group[model].to_numpy()
            auc = sk.roc_auc_score(label, score)
            for threshold in THRESHOLDS:
                called = score >= threshold
                table.append((segment, model, threshold, *values(label, called), auc))
    names = ["segment", "model", "threshold", *METRICS, "roc_auc"]
    return pl.DataFrame(table, schema=names, orient="row")


RIVALS = {
    "scikit-learn, a confusion matrix a threshold": (a_matrix_a_threshold, "at least 5"),
    "scikit-learn, a call a metric": (a_call_a_metric, "at least 5"),
}


def compare(rows: pl.DataFrame, repeats: int) -> str:
    """Agree, then time."""
    table = ours(rows)
    for rival, _ in RIVALS.values():
        expected = rival(rows)
        assert_frame_equal(table.select(expected.columns), expected, rel_tol=1e-9)
    first = "polars-binmetrics, one plan"
    rivals = {name: partial(rival, rows) for name, (rival, _) in RIVALS.items()}
    times = contest.race({first: partial(ours, rows), **rivals}, repeats)
    targets = {first: "", **{name: target for name, (_, target) in RIVALS.items()}}
    lines = [
        contest.Line(
            name, statistics.median(taken), contest.ratio(times, name, first), targets[name]
        )
        for name, taken in times.items()
    ]
    title = (
        f"{len(METRICS)} metrics and `roc_auc`: {len(MODELS)} models, {SEGMENTS} segments,"
        f" {len(THRESHOLDS)} thresholds"
    )
    return contest.table(title, "times ours", lines)
