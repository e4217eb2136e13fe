"""Time the package beside others, in one run, after all agree: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import sklearn  # type: ignore[import-untyped]
from polars.testing import assert_frame_equal
from sklearn import metrics as sk

import polars_binmetrics as bm

SEGMENTS = 100
MODELS = ["model_1", "model_2", "model_3"]
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


def data(rows: int) -> pl.DataFrame:
    """Segments of one size, three models of growing skill."""
    random = np.random.default_rng(0)
    label = random.random(rows) < 0.3
    logits = {
        model: random.normal(size=rows) + skill * label for skill, model in enumerate(MODELS, 1)
    }
    scores = {model: 1 / (1 + np.exp(-logit)) for model, logit in logits.items()}
    segment = random.integers(0, SEGMENTS, rows)
    return pl.DataFrame({"segment": segment, "label": label, **scores})


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
    "scikit-learn, a call a metric": a_call_a_metric,
    "scikit-learn, a confusion matrix a threshold": a_matrix_a_threshold,
}


def seconds(run: Callable[[pl.DataFrame], pl.DataFrame], rows: pl.DataFrame) -> float:
    """Wall time of one run."""
    start = time.perf_counter()
    run(rows)
    return time.perf_counter() - start


def compare(rows: int, repeats: int) -> str:
    """Agree, then time all in turn, so that a slow moment meets everyone."""
    frame = data(rows)
    table = ours(frame)
    for rival in RIVALS.values():
        expected = rival(frame)
        assert_frame_equal(table.select(expected.columns), expected, rel_tol=1e-9)
    runs = {"polars-binmetrics, one plan": ours, **RIVALS}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            times[name].append(seconds(run, frame))
    first = times["polars-binmetrics, one plan"]
    lines = ["| | seconds | times ours |", "|---|--:|--:|"]
    for name, taken in times.items():
        ratio = statistics.median(theirs / own for theirs, own in zip(taken, first, strict=True))
        lines.append(f"| {name} | {statistics.median(taken):.2f} | {ratio:.1f} |")
    work = f"{len(MODELS)} models, {SEGMENTS} segments, {len(THRESHOLDS)} thresholds"
    lines += [
        "",
        f"{rows:,} rows, {work}, {len(METRICS)} metrics and `roc_auc`; medians of {repeats};"
        f" {pl.thread_pool_size()} cores, Python {platform.python_version()},"
        f" polars {pl.__version__}, scikit-learn {sklearn.__version__}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="write the table to this file")
    given = parser.parse_args()
    table = compare(given.rows, given.repeats)
    print(table)
    if given.output:
        given.output.write_text(table + "\n")


if __name__ == "__main__":
    main()
