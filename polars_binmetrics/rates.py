"""Where a rate is defined: every metric of the four counts, once."""

from __future__ import annotations

from math import inf

import polars as pl

from polars_binmetrics.counts import Cells
from polars_binmetrics.intervals import of_log, of_score
from polars_binmetrics.metric import count, rate

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "cohen_kappa",
    "diagnostic_odds_ratio",
    "error_rate",
    "expected_cost",
    "f1",
    "fall_out",
    "false_discovery_rate",
    "false_omission_rate",
    "fbeta",
    "fn",
    "fnr",
    "fowlkes_mallows",
    "fp",
    "fpr",
    "g_mean",
    "g_score",
    "informedness",
    "jaccard",
    "lr_negative",
    "lr_positive",
    "markedness",
    "mcc",
    "misclassification_error",
    "miss_rate",
    "n",
    "n_negative",
    "n_positive",
    "net_benefit",
    "npv",
    "phi",
    "ppv",
    "precision",
    "predicted_positive_rate",
    "prevalence",
    "prevalence_threshold",
    "recall",
    "sensitivity",
    "specificity",
    "threat_score",
    "tn",
    "tnr",
    "tp",
    "tpr",
    "type_i_error",
    "type_ii_error",
    "youden_j",
]


def at_prevalence(c: Cells, prevalence: float | None) -> Cells:
    """The shares of the four cells if `prevalence` of all rows were positive (Bayes' rule)."""
    if prevalence is None:
        return c
    if not 0 <= prevalence <= 1:
        raise ValueError(f"`prevalence` should be between 0 and 1, got {prevalence!r}")
    positives, negatives = c.tp + c.fn, c.fp + c.tn
    return Cells(
        tp=c.tp / positives * prevalence,
        fp=c.fp / negatives * (1 - prevalence),
        fn=c.fn / positives * prevalence,
        tn=c.tn / negatives * (1 - prevalence),
        threshold=c.threshold,
    )


@count
def tp(c: Cells) -> pl.Expr:
    """
    True positives: positives called positive.

    ``TP``. Always defined.

    Examples
    --------
    >>> bm.tp.of_counts(tp=30, fp=10, fn=20, tn=40)
    30
    """
    return c.tp


@count
def fp(c: Cells) -> pl.Expr:
    """
    False positives: negatives called positive.

    ``FP``. Always defined.

    Examples
    --------
    >>> bm.fp.of_counts(tp=30, fp=10, fn=20, tn=40)
    10
    """
    return c.fp


@count
def fn(c: Cells) -> pl.Expr:
    """
    False negatives: positives called negative.

    ``FN``. Always defined.

    Examples
    --------
    >>> bm.fn.of_counts(tp=30, fp=10, fn=20, tn=40)
    20
    """
    return c.fn


@count
def tn(c: Cells) -> pl.Expr:
    """
    True negatives: negatives called negative.

    ``TN``. Always defined.

    Examples
    --------
    >>> bm.tn.of_counts(tp=30, fp=10, fn=20, tn=40)
    40
    """
    return c.tn


@count
def n(c: Cells) -> pl.Expr:
    """
    Rows used, or their weight.

    ``TP + FP + FN + TN``. Always defined.

    Examples
    --------
    >>> bm.n.of_counts(tp=30, fp=10, fn=20, tn=40)
    100
    """
    return c.tp + c.fp + c.fn + c.tn


@count
def n_positive(c: Cells) -> pl.Expr:
    """
    Positives among the rows used, or their weight.

    ``TP + FN``. Always defined.

    Examples
    --------
    >>> bm.n_positive.of_counts(tp=30, fp=10, fn=20, tn=40)
    50
    """
    return c.tp + c.fn


@count
def n_negative(c: Cells) -> pl.Expr:
    """
    Negatives among the rows used, or their weight.

    ``FP + TN``. Always defined.

    Examples
    --------
    >>> bm.n_negative.of_counts(tp=30, fp=10, fn=20, tn=40)
    50
    """
    return c.fp + c.tn


@rate(best=1, draw=of_score)
def accuracy(c: Cells) -> pl.Expr:
    """
    Share of the rows that are called right.

    ``(TP + TN) / n``. Null without rows.

    Source: J. Swets, Measuring the accuracy of diagnostic systems, Science 240, 1988.

    Examples
    --------
    >>> bm.accuracy.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.7
    """
    return (c.tp + c.tn) / (c.tp + c.fp + c.fn + c.tn)


@rate(best=0, draw=of_score)
def error_rate(c: Cells) -> pl.Expr:
    """
    Share of the rows that are called wrong.

    ``(FP + FN) / n``. Null without rows.

    Source: D. Hand, Construction and Assessment of Classification Rules, 1997.

    Examples
    --------
    >>> bm.error_rate.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.3
    """
    return (c.fp + c.fn) / (c.tp + c.fp + c.fn + c.tn)


@rate(best=1, draw=of_score)
def tpr(c: Cells) -> pl.Expr:
    """
    True positive rate: share of the positives that are called positive.

    ``TP / (TP + FN)``. Null without positives.

    Source: T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> bm.tpr.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.6
    """
    return c.tp / (c.tp + c.fn)


recall = tpr.synonym("recall")
sensitivity = tpr.synonym("sensitivity")


@rate(best=1, draw=of_score)
def tnr(c: Cells) -> pl.Expr:
    """
    True negative rate: share of the negatives that are called negative.

    ``TN / (TN + FP)``. Null without negatives.

    Source: T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> bm.tnr.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.8
    """
    return c.tn / (c.tn + c.fp)


specificity = tnr.synonym("specificity")


@rate(best=0, draw=of_score)
def fpr(c: Cells) -> pl.Expr:
    """
    False positive rate: share of the negatives that are called positive.

    ``FP / (FP + TN)``. Null without negatives.

    Source: T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> bm.fpr.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.2
    """
    return c.fp / (c.fp + c.tn)


fall_out = fpr.synonym("fall_out")
type_i_error = fpr.synonym("type_i_error")


@rate(best=0, draw=of_score)
def fnr(c: Cells) -> pl.Expr:
    """
    False negative rate: share of the positives that are called negative.

    ``FN / (FN + TP)``. Null without positives.

    Source: T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> bm.fnr.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.4
    """
    return c.fn / (c.fn + c.tp)


miss_rate = fnr.synonym("miss_rate")
type_ii_error = fnr.synonym("type_ii_error")


@rate(best=1, draw=of_score)
def precision(c: Cells, prevalence: float | None = None) -> pl.Expr:
    """
    Positive predictive value: share of those called positive that are positive.

    ``TP / (TP + FP)``; with a `prevalence` p, ``p TPR / (p TPR + (1 - p) FPR)``.
    Null when no row is called positive.

    Source: D. Altman and M. Bland, Diagnostic tests 2: predictive values, BMJ 309, 1994.

    Examples
    --------
    >>> bm.precision.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.75
    >>> round(bm.precision(prevalence=0.1).of_counts(tp=50, fp=5, fn=50, tn=95), 4)
    0.5263
    """
    c = at_prevalence(c, prevalence)
    return c.tp / (c.tp + c.fp)


ppv = precision.synonym("ppv")


@rate(best=1, draw=of_score)
def npv(c: Cells, prevalence: float | None = None) -> pl.Expr:
    """
    Negative predictive value: share of those called negative that are negative.

    ``TN / (TN + FN)``; with a `prevalence` p, ``(1 - p) TNR / ((1 - p) TNR + p FNR)``.
    Null when no row is called negative.

    Source: D. Altman and M. Bland, Diagnostic tests 2: predictive values, BMJ 309, 1994.

    Examples
    --------
    >>> bm.npv.of_counts(tp=40, fp=10, fn=10, tn=40)
    0.8
    >>> round(bm.npv(prevalence=0.1).of_counts(tp=50, fp=5, fn=50, tn=95), 4)
    0.9448
    """
    c = at_prevalence(c, prevalence)
    return c.tn / (c.tn + c.fn)


@rate(best=0, draw=of_score)
def false_discovery_rate(c: Cells, prevalence: float | None = None) -> pl.Expr:
    """
    Share of those called positive that are negative.

    ``FP / (FP + TP)``; with a `prevalence` p, ``(1 - p) FPR / ((1 - p) FPR + p TPR)``.
    Null when no row is called positive.

    Source: Y. Benjamini and Y. Hochberg, JRSS B 57, 1995.

    Examples
    --------
    >>> bm.false_discovery_rate.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.25
    """
    c = at_prevalence(c, prevalence)
    return c.fp / (c.fp + c.tp)


@rate(best=0, draw=of_score)
def false_omission_rate(c: Cells, prevalence: float | None = None) -> pl.Expr:
    """
    Share of those called negative that are positive.

    ``FN / (FN + TN)``; with a `prevalence` p, ``p FNR / (p FNR + (1 - p) TNR)``.
    Null when no row is called negative.

    Source: D. Altman and M. Bland, Diagnostic tests 2: predictive values, BMJ 309, 1994.

    Examples
    --------
    >>> bm.false_omission_rate.of_counts(tp=40, fp=10, fn=10, tn=40)
    0.2
    """
    c = at_prevalence(c, prevalence)
    return c.fn / (c.fn + c.tn)


@rate(best=1)
def balanced_accuracy(c: Cells) -> pl.Expr:
    """
    Mean of the true positive and the true negative rate.

    ``(TPR + TNR) / 2``. Null with one class only.

    Source: K. Brodersen et al., The balanced accuracy and its posterior distribution, ICPR 2010.

    Examples
    --------
    >>> bm.balanced_accuracy.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.7
    """
    return (c.tp / (c.tp + c.fn) + c.tn / (c.tn + c.fp)) / 2


@rate(best=1)
def fbeta(c: Cells, beta: float) -> pl.Expr:
    """
    Weighted harmonic mean of precision and recall, recall weighing `beta`^2 times as much.

    ``TP / (TP + a FP + (1 - a) FN)`` with ``a = 1 / (1 + beta^2)``: precision at beta 0, recall
    as beta tends to infinity. Null when there is neither a positive nor a row called positive.

    Source: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979, chapter 7.

    Examples
    --------
    >>> bm.fbeta(2.0).of_counts(tp=30, fp=10, fn=20, tn=40)
    0.625
    """
    if not beta >= 0:
        raise ValueError(f"`beta` should be at least 0, got {beta!r}")
    share = 1 / (1 + beta * beta)
    return c.tp / (c.tp + c.fp * share + c.fn * (1 - share))


@rate(best=1)
def f1(c: Cells) -> pl.Expr:
    """
    Harmonic mean of precision and recall.

    ``2 TP / (2 TP + FP + FN)``. Null when there is neither a positive nor a row called positive.

    Source: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979, chapter 7.

    Examples
    --------
    >>> bm.f1.of_counts(tp=30, fp=10, fn=10, tn=50)
    0.75
    """
    return fbeta.formula(c, beta=1)


@rate(best=1)
def g_score(c: Cells) -> pl.Expr:
    """
    Geometric mean of precision and recall.

    ``sqrt(PPV * TPR)``. Null without positives, or when no row is called positive.

    Source: E. Fowlkes and C. Mallows, A method for comparing two hierarchical clusterings,
    JASA 78, 1983.

    Examples
    --------
    >>> bm.g_score.of_counts(tp=30, fp=10, fn=10, tn=50)
    0.75
    """
    return (c.tp / (c.tp + c.fp) * (c.tp / (c.tp + c.fn))).sqrt()


fowlkes_mallows = g_score.synonym("fowlkes_mallows")


@rate(best=1)
def g_mean(c: Cells) -> pl.Expr:
    """
    Geometric mean of the true positive and the true negative rate.

    ``sqrt(TPR * TNR)``. Null with one class only.

    Source: M. Kubat and S. Matwin, Addressing the curse of imbalanced training sets, ICML 1997.

    Examples
    --------
    >>> bm.g_mean.of_counts(tp=40, fp=10, fn=10, tn=40)
    0.8
    """
    return (c.tp / (c.tp + c.fn) * (c.tn / (c.tn + c.fp))).sqrt()


@rate(range=(-1, 1), best=1)
def mcc(c: Cells) -> pl.Expr:
    """
    Matthews correlation coefficient between what is called and what is.

    ``(TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN))``. Null with one class
    only, or when all rows are called the same.

    Source: B. Matthews, Biochimica et Biophysica Acta 405, 1975.

    Examples
    --------
    >>> bm.mcc.of_counts(tp=40, fp=10, fn=10, tn=40)
    0.6
    """
    # Two roots: each is exact for a perfect classifier.
    called = ((c.tp + c.fp) * (c.tp + c.fn)).sqrt()
    rest = ((c.tn + c.fp) * (c.tn + c.fn)).sqrt()
    return (c.tp * c.tn - c.fp * c.fn) / (called * rest)


phi = mcc.synonym("phi")


@rate(range=(-1, 1), best=1)
def cohen_kappa(c: Cells) -> pl.Expr:
    """
    Agreement between what is called and what is, beyond what chance gives.

    ``2 (TP TN - FP FN) / ((TP + FP) (FP + TN) + (TP + FN) (FN + TN))``, which is
    ``(accuracy - chance) / (1 - chance)``. Null when all rows are of one class and called so.

    Source: J. Cohen, A coefficient of agreement for nominal scales, Educational and
    Psychological Measurement 20, 1960.

    Examples
    --------
    >>> bm.cohen_kappa.of_counts(tp=40, fp=10, fn=10, tn=40)
    0.6
    """
    disagreement = (c.tp + c.fp) * (c.fp + c.tn) + (c.tp + c.fn) * (c.fn + c.tn)
    return (c.tp * c.tn - c.fp * c.fn) * 2 / disagreement


@rate(best=1, draw=of_score)
def jaccard(c: Cells) -> pl.Expr:
    """
    Overlap of those called positive and the positives.

    ``TP / (TP + FP + FN)``. Null when there is neither a positive nor a row called positive.

    Source: P. Jaccard, Bulletin de la Société vaudoise des sciences naturelles 37, 1901.

    Examples
    --------
    >>> bm.jaccard.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.5
    """
    return c.tp / (c.tp + c.fp + c.fn)


threat_score = jaccard.synonym("threat_score")


@rate(range=(-1, 1), best=1)
def informedness(c: Cells) -> pl.Expr:
    """
    How much likelier a positive is called positive than a negative.

    ``TPR - FPR``, which is ``TPR + TNR - 1``. Null with one class only.

    Source: W. Youden, Index for rating diagnostic tests, Cancer 3, 1950.

    Examples
    --------
    >>> bm.informedness.of_counts(tp=45, fp=20, fn=15, tn=20)
    0.25
    """
    return c.tp / (c.tp + c.fn) - c.fp / (c.fp + c.tn)


youden_j = informedness.synonym("youden_j")


@rate(range=(-1, 1), best=1)
def markedness(c: Cells) -> pl.Expr:
    """
    How much likelier a row is positive when it is called so.

    ``PPV - FOR``, which is ``PPV + NPV - 1``. Null when all rows are called the same.

    Source: D. Powers, Evaluation: from precision, recall and F-measure to ROC, informedness,
    markedness and correlation, Journal of Machine Learning Technologies 2, 2011.

    Examples
    --------
    >>> bm.markedness.of_counts(tp=30, fp=10, fn=20, tn=20)
    0.25
    """
    return c.tp / (c.tp + c.fp) - c.fn / (c.fn + c.tn)


@rate(range=(0, inf), best=inf, draw=of_log)
def lr_positive(c: Cells) -> pl.Expr:
    """
    Positive likelihood ratio: what a positive call multiplies the odds by.

    ``TPR / FPR``; inf when no negative is called positive but a positive is. Null with one
    class only, or when no row is called positive.

    Source: J. Deeks and D. Altman, Diagnostic tests 4: likelihood ratios, BMJ 329, 2004.

    Examples
    --------
    >>> bm.lr_positive.of_counts(tp=30, fp=10, fn=10, tn=30)
    3.0
    """
    return c.tp / (c.tp + c.fn) / (c.fp / (c.fp + c.tn))


@rate(range=(0, inf), best=0, draw=of_log)
def lr_negative(c: Cells) -> pl.Expr:
    """
    Negative likelihood ratio: what a negative call multiplies the odds by.

    ``FNR / TNR``; inf when no negative is called negative but a positive is. Null with one
    class only, or when no row is called negative.

    Source: J. Deeks and D. Altman, Diagnostic tests 4: likelihood ratios, BMJ 329, 2004.

    Examples
    --------
    >>> bm.lr_negative.of_counts(tp=30, fp=20, fn=10, tn=20)
    0.5
    """
    return c.fn / (c.tp + c.fn) / (c.tn / (c.fp + c.tn))


@rate(range=(0, inf), best=inf, draw=of_log)
def diagnostic_odds_ratio(c: Cells) -> pl.Expr:
    """
    Odds of a positive call among the positives, over those among the negatives.

    ``TP TN / (FP FN)``; inf when only the denominator is 0. Null when both are.

    Source: A. Glas et al., The diagnostic odds ratio, Journal of Clinical Epidemiology 56, 2003.

    Examples
    --------
    >>> bm.diagnostic_odds_ratio.of_counts(tp=30, fp=10, fn=20, tn=40)
    6.0
    """
    return (c.tp * c.tn) / (c.fp * c.fn)


@rate(best=None, draw=of_score)
def prevalence(c: Cells) -> pl.Expr:
    """
    Share of the rows that are positive.

    ``(TP + FN) / n``. Null without rows.

    Source: D. Altman and M. Bland, Diagnostic tests 2: predictive values, BMJ 309, 1994.

    Examples
    --------
    >>> bm.prevalence.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.5
    """
    return (c.tp + c.fn) / (c.tp + c.fp + c.fn + c.tn)


@rate(best=None, draw=of_score)
def predicted_positive_rate(c: Cells) -> pl.Expr:
    """
    Share of the rows that are called positive.

    ``(TP + FP) / n``. Null without rows.

    Source: C. Dwork et al., Fairness through awareness, ITCS 2012 (as statistical parity).

    Examples
    --------
    >>> bm.predicted_positive_rate.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.4
    """
    return (c.tp + c.fp) / (c.tp + c.fp + c.fn + c.tn)


@rate(best=0)
def prevalence_threshold(c: Cells) -> pl.Expr:
    """
    Prevalence below which the precision falls off fastest.

    ``sqrt(FPR) / (sqrt(TPR) + sqrt(FPR))``. Null with one class only, or when no row is
    called positive.

    Source: J. Balayla, Prevalence threshold and the geometry of screening curves, PLoS ONE 15,
    2020.

    Examples
    --------
    >>> bm.prevalence_threshold.of_counts(tp=36, fp=4, fn=64, tn=96)
    0.25
    """
    of_tpr, of_fpr = (c.tp / (c.tp + c.fn)).sqrt(), (c.fp / (c.fp + c.tn)).sqrt()
    return of_fpr / (of_tpr + of_fpr)


@rate(range=(0, inf), best=0)
def expected_cost(c: Cells, fp: float, fn: float, prevalence: float | None = None) -> pl.Expr:
    """
    Mean cost of a row when a false positive costs `fp` and a false negative `fn`.

    ``p fn FNR + (1 - p) fp FPR`` with p the `prevalence`, by default the one of the data, which
    makes it ``(fp FP + fn FN) / n``. In the unit of the costs. Null without rows; with
    `prevalence` given, null with one class only.

    Source: C. Drummond and R. Holte, Cost curves, Machine Learning 65, 2006.

    Examples
    --------
    >>> bm.expected_cost(fp=1, fn=5).of_counts(tp=30, fp=10, fn=20, tn=40)
    1.1
    """
    for name, cost in (("fp", fp), ("fn", fn)):
        if not 0 <= cost < inf:
            raise ValueError(f"`{name}` should be a cost of at least 0, got {cost!r}")
    c = at_prevalence(c, prevalence)
    return (c.fp * fp + c.fn * fn) / (c.tp + c.fp + c.fn + c.tn)


@rate(best=0, draw=of_score)
def misclassification_error(c: Cells, prevalence: float | None = None) -> pl.Expr:
    """
    Share of the rows that would be called wrong at a prevalence.

    ``p FNR + (1 - p) FPR`` with p the `prevalence`, by default the one of the data: the
    expected cost with both costs 1. Null without rows; with `prevalence` given, null with one
    class only.

    Source: D. Hand, Construction and Assessment of Classification Rules, 1997.

    Examples
    --------
    >>> bm.misclassification_error.of_counts(tp=30, fp=10, fn=20, tn=40)
    0.3
    """
    return expected_cost.formula(c, fp=1, fn=1, prevalence=prevalence)


@rate(range=(-inf, 1), best=1)
def net_benefit(c: Cells) -> pl.Expr:
    """
    True positives a row, less the false positives at the odds of the threshold.

    ``TP / n - FP / n * t / (1 - t)`` with t the threshold of the counts. A perfect classifier
    reaches the prevalence. Null without rows, and for thresholds outside [0, 1).

    Source: A. Vickers and E. Elkin, Decision curve analysis, Medical Decision Making 26, 2006.

    Examples
    --------
    >>> bm.net_benefit.of_counts(tp=50, fp=25, fn=0, tn=25, threshold=0.5)
    0.25
    """
    n = c.tp + c.fp + c.fn + c.tn
    probability = pl.when((c.threshold >= 0) & (c.threshold < 1)).then(c.threshold)
    return c.tp / n - c.fp / n * (probability / (1 - probability))
