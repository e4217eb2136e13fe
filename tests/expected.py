"""The metrics said a second time, in exact arithmetic: one line a metric.

`None` stands for 0/0. A root is taken last, of a fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, sqrt
from typing import Any

Value = Fraction | float | None


def over(a: Fraction | float, b: Fraction | float) -> Value:
    """`a / b`, inf when only `b` is 0, None when both are."""
    if b == 0:
        return None if a == 0 else inf
    return Fraction(a) / Fraction(b)


def share(a: int, b: int) -> Fraction | None:
    """`a / b` of counts; None when there are none to share."""
    return Fraction(a, b) if b else None


def of(function: Callable[..., Value], *parts: Fraction | None) -> Value:
    """A function of parts; None when one of them is."""
    return None if None in parts else function(*parts)


EXPECTED: dict[str, Callable[[int, int, int, int], Value]] = {
    "tp": lambda tp, fp, fn, tn: Fraction(tp),
    "fp": lambda tp, fp, fn, tn: Fraction(fp),
    "fn": lambda tp, fp, fn, tn: Fraction(fn),
    "tn": lambda tp, fp, fn, tn: Fraction(tn),
    "n": lambda tp, fp, fn, tn: Fraction(tp + fp + fn + tn),
    "n_positive": lambda tp, fp, fn, tn: Fraction(tp + fn),
    "n_negative": lambda tp, fp, fn, tn: Fraction(fp + tn),
    "accuracy": lambda tp, fp, fn, tn: share(tp + tn, tp + fp + fn + tn),
    "error_rate": lambda tp, fp, fn, tn: share(fp + fn, tp + fp + fn + tn),
    "tpr": lambda tp, fp, fn, tn: share(tp, tp + fn),
    "tnr": lambda tp, fp, fn, tn: share(tn, tn + fp),
    "fpr": lambda tp, fp, fn, tn: share(fp, fp + tn),
    "fnr": lambda tp, fp, fn, tn: share(fn, fn + tp),
    "precision": lambda tp, fp, fn, tn: share(tp, tp + fp),
    "npv": lambda tp, fp, fn, tn: share(tn, tn + fn),
    "false_discovery_rate": lambda tp, fp, fn, tn: share(fp, tp + fp),
    "false_omission_rate": lambda tp, fp, fn, tn: share(fn, tn + fn),
    "balanced_accuracy": lambda tp, fp, fn, tn: of(
        lambda tpr, tnr: (tpr + tnr) / 2, share(tp, tp + fn), share(tn, tn + fp)
    ),
    "f1": lambda tp, fp, fn, tn: share(2 * tp, 2 * tp + fp + fn),
    "g_score": lambda tp, fp, fn, tn: of(
        lambda ppv, tpr: sqrt(ppv * tpr), share(tp, tp + fp), share(tp, tp + fn)
    ),
    "g_mean": lambda tp, fp, fn, tn: of(
        lambda tpr, tnr: sqrt(tpr * tnr), share(tp, tp + fn), share(tn, tn + fp)
    ),
    "mcc": lambda tp, fp, fn, tn: of(
        lambda square: sqrt(square) * (1 if tp * tn >= fp * fn else -1),
        share((tp * tn - fp * fn) ** 2, (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    ),
    "cohen_kappa": lambda tp, fp, fn, tn: of(
        lambda accuracy, chance: over(accuracy - chance, 1 - chance),
        share(tp + tn, tp + fp + fn + tn),
        share((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn), (tp + fp + fn + tn) ** 2),
    ),
    "jaccard": lambda tp, fp, fn, tn: share(tp, tp + fp + fn),
    "informedness": lambda tp, fp, fn, tn: of(
        lambda tpr, tnr: tpr + tnr - 1, share(tp, tp + fn), share(tn, tn + fp)
    ),
    "markedness": lambda tp, fp, fn, tn: of(
        lambda ppv, npv: ppv + npv - 1, share(tp, tp + fp), share(tn, tn + fn)
    ),
    "lr_positive": lambda tp, fp, fn, tn: of(over, share(tp, tp + fn), share(fp, fp + tn)),
    "lr_negative": lambda tp, fp, fn, tn: of(over, share(fn, tp + fn), share(tn, fp + tn)),
    "diagnostic_odds_ratio": lambda tp, fp, fn, tn: over(tp * tn, fp * fn),
    "prevalence": lambda tp, fp, fn, tn: share(tp + fn, tp + fp + fn + tn),
    "predicted_positive_rate": lambda tp, fp, fn, tn: share(tp + fp, tp + fp + fn + tn),
    "prevalence_threshold": lambda tp, fp, fn, tn: of(
        lambda tpr, fpr: over(sqrt(fpr), sqrt(tpr) + sqrt(fpr)),
        share(tp, tp + fn),
        share(fp, fp + tn),
    ),
    "misclassification_error": lambda tp, fp, fn, tn: share(fp + fn, tp + fp + fn + tn),
    # At a threshold of 1/2 the odds are 1, for F2 recall weighs 4 times as much, and a false
    # negative costs 5 times as much as a false positive.
    "net_benefit": lambda tp, fp, fn, tn: share(tp - fp, tp + fp + fn + tn),
    "fbeta": lambda tp, fp, fn, tn: share(5 * tp, 5 * tp + 4 * fn + fp),
    "expected_cost": lambda tp, fp, fn, tn: share(fp + 5 * fn, tp + fp + fn + tn),
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "fbeta": {"beta": 2.0},
    "expected_cost": {"fp": 1.0, "fn": 5.0},
}
SYNONYMS = {
    "recall": "tpr",
    "sensitivity": "tpr",
    "specificity": "tnr",
    "fall_out": "fpr",
    "type_i_error": "fpr",
    "miss_rate": "fnr",
    "type_ii_error": "fnr",
    "ppv": "precision",
    "fowlkes_mallows": "g_score",
    "phi": "mcc",
    "threat_score": "jaccard",
    "youden_j": "informedness",
}
#: The metrics that take no threshold, with the parameters to test them with.
SCORE_METRICS: dict[str, dict[str, Any]] = {
    "average_precision": {},
    "brier": {},
    "brier_reliability": {"bins": 5},
    "brier_resolution": {"bins": 5},
    "brier_skill": {},
    "brier_uncertainty": {},
    "calibration_in_the_large": {},
    "capture": {"at": 0.4},
    "concordant_partial_auc": {"tpr": (0.2, 0.9)},
    "ece": {"bins": 5},
    "gini": {},
    "h_measure": {"severity_ratio": 0.5},
    "hosmer_lemeshow": {"bins": 4},
    "hosmer_lemeshow_p": {"bins": 5},
    "ks": {},
    "ks_threshold": {},
    "lift": {"at": 0.4},
    "log_loss": {},
    "mce": {"bins": 5},
    "partial_auc": {"fpr": (0.1, 0.6)},
    "pr_auc": {},
    "roc_auc": {},
    "roc_auc_hull": {},
    "roc_auc_se": {},
    "spiegelhalter_p": {},
    "spiegelhalter_z": {},
}
PARAMETERS |= SCORE_METRICS
