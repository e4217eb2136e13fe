"""The values are scikit-learn's, where it has the metric and defines it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import polars_binmetrics as bm

N = 2_000
RANDOM = np.random.default_rng(7)
LABEL = RANDOM.random(N) < 0.3
SCORE = np.round(np.clip(RANDOM.normal(0.4 + 0.25 * LABEL, 0.2), 0.01, 0.99), 2)  # many ties
WEIGHT = RANDOM.integers(0, 4, N).astype(float)
FRAME = pl.DataFrame({"y": LABEL, "s": SCORE, "w": WEIGHT})
CALLED = SCORE >= 0.5


def specificity(y: Any, called: Any, **options: Any) -> float:
    return sk.recall_score(y, called, pos_label=0, **options)


def ratio(y: Any, called: Any, which: int, **options: Any) -> float:
    return sk.class_likelihood_ratios(y, called, **options)[which]


OF_CALLS: dict[str, Callable[..., float]] = {
    "accuracy": sk.accuracy_score,
    "error_rate": sk.zero_one_loss,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "specificity": specificity,
    "npv": lambda y, called, **options: sk.precision_score(y, called, pos_label=0, **options),
    "f1": sk.f1_score,
    "fbeta": lambda y, called, **options: sk.fbeta_score(y, called, beta=2, **options),
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
    "jaccard": sk.jaccard_score,
    "lr_positive": lambda y, called, **options: ratio(y, called, 0, **options),
    "lr_negative": lambda y, called, **options: ratio(y, called, 1, **options),
}
OF_SCORES: dict[str, Callable[..., float]] = {
    "roc_auc": sk.roc_auc_score,
    "brier": sk.brier_score_loss,
    "log_loss": sk.log_loss,
}


def ours(name: str, weight: str | None) -> float:
    parameters = {"beta": 2.0} if name == "fbeta" else {}
    method = getattr(bm.of(pl.col("s")), name)
    value: float = FRAME.select(method("y", weight=weight, **parameters)).item()
    return value


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", OF_CALLS)
def test_metrics_of_the_counts(name: str, weight: str | None) -> None:
    expected = OF_CALLS[name](LABEL, CALLED, sample_weight=WEIGHT if weight else None)
    assert ours(name, weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", OF_SCORES)
def test_metrics_of_the_scores(name: str, weight: str | None) -> None:
    expected = OF_SCORES[name](LABEL, SCORE, sample_weight=WEIGHT if weight else None)
    assert ours(name, weight) == pytest.approx(expected, rel=1e-12)


def test_counts() -> None:
    (tn, fp), (fn, tp) = sk.confusion_matrix(LABEL, CALLED)
    counts = FRAME.binmetrics.counts("s", "y").select("tp", "fp", "fn", "tn")
    assert counts.row(0) == (tp, fp, fn, tn)
