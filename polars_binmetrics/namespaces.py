"""The faces: `.binmetrics` on expressions and frames, a table of contents."""

from __future__ import annotations

from typing import overload

import polars as pl

from polars_binmetrics import (
    areas,
    choice,
    compare,
    curves,
    evaluate,
    gaps,
    histograms,
    plots,
    probability,
    rates,
)
from polars_binmetrics.extras import require
from polars_binmetrics.face import ExprFace, Frame, FrameFace
from polars_binmetrics.methods import (
    at_threshold,
    confusion,
    threshold_free,
    threshold_free_with,
    with_parameters,
)


class ExprNamespace(ExprFace):
    """Metrics of score columns, as aggregations: `pl.col(score).binmetrics`."""

    confusion = confusion

    accuracy = at_threshold(rates.accuracy)
    balanced_accuracy = at_threshold(rates.balanced_accuracy)
    cohen_kappa = at_threshold(rates.cohen_kappa)
    diagnostic_odds_ratio = at_threshold(rates.diagnostic_odds_ratio)
    error_rate = at_threshold(rates.error_rate)
    expected_cost = with_parameters(rates.expected_cost)
    f1 = at_threshold(rates.f1)
    fall_out = at_threshold(rates.fall_out)
    false_discovery_rate = with_parameters(rates.false_discovery_rate)
    false_omission_rate = with_parameters(rates.false_omission_rate)
    fbeta = with_parameters(rates.fbeta)
    fn = at_threshold(rates.fn)
    fnr = at_threshold(rates.fnr)
    fowlkes_mallows = at_threshold(rates.fowlkes_mallows)
    fp = at_threshold(rates.fp)
    fpr = at_threshold(rates.fpr)
    g_mean = at_threshold(rates.g_mean)
    g_score = at_threshold(rates.g_score)
    informedness = at_threshold(rates.informedness)
    jaccard = at_threshold(rates.jaccard)
    lr_negative = at_threshold(rates.lr_negative)
    lr_positive = at_threshold(rates.lr_positive)
    markedness = at_threshold(rates.markedness)
    mcc = at_threshold(rates.mcc)
    misclassification_error = with_parameters(rates.misclassification_error)
    miss_rate = at_threshold(rates.miss_rate)
    n = at_threshold(rates.n)
    n_negative = at_threshold(rates.n_negative)
    n_positive = at_threshold(rates.n_positive)
    net_benefit = at_threshold(rates.net_benefit)
    npv = with_parameters(rates.npv)
    phi = at_threshold(rates.phi)
    ppv = with_parameters(rates.ppv)
    precision = with_parameters(rates.precision)
    predicted_positive_rate = at_threshold(rates.predicted_positive_rate)
    prevalence = at_threshold(rates.prevalence)
    prevalence_threshold = at_threshold(rates.prevalence_threshold)
    recall = at_threshold(rates.recall)
    sensitivity = at_threshold(rates.sensitivity)
    specificity = at_threshold(rates.specificity)
    threat_score = at_threshold(rates.threat_score)
    tn = at_threshold(rates.tn)
    tnr = at_threshold(rates.tnr)
    tp = at_threshold(rates.tp)
    tpr = at_threshold(rates.tpr)
    type_i_error = at_threshold(rates.type_i_error)
    type_ii_error = at_threshold(rates.type_ii_error)
    youden_j = at_threshold(rates.youden_j)

    average_precision = threshold_free(areas.average_precision)
    capture = threshold_free_with(areas.capture)
    concordant_partial_auc = threshold_free_with(areas.concordant_partial_auc)
    gini = threshold_free(areas.gini)
    h_measure = threshold_free_with(areas.h_measure)
    ks = threshold_free(areas.ks)
    ks_threshold = threshold_free(areas.ks_threshold)
    lift = threshold_free_with(areas.lift)
    partial_auc = threshold_free_with(areas.partial_auc)
    pr_auc = threshold_free(areas.pr_auc)
    roc_auc = threshold_free(areas.roc_auc)
    roc_auc_hull = threshold_free(areas.roc_auc_hull)
    roc_auc_se = threshold_free(areas.roc_auc_se)

    brier = threshold_free(probability.brier)
    brier_reliability = threshold_free_with(probability.brier_reliability)
    brier_resolution = threshold_free_with(probability.brier_resolution)
    brier_skill = threshold_free(probability.brier_skill)
    brier_uncertainty = threshold_free(probability.brier_uncertainty)
    calibration_in_the_large = threshold_free(probability.calibration_in_the_large)
    ece = threshold_free_with(probability.ece)
    hosmer_lemeshow = threshold_free_with(probability.hosmer_lemeshow)
    hosmer_lemeshow_p = threshold_free_with(probability.hosmer_lemeshow_p)
    log_loss = threshold_free(probability.log_loss)
    mce = threshold_free_with(probability.mce)
    spiegelhalter_p = threshold_free(probability.spiegelhalter_p)
    spiegelhalter_z = threshold_free(probability.spiegelhalter_z)


class PlotNamespace(FrameFace[Frame]):
    """Pictures of rows, curves, tables and states: `frame.binmetrics.plot`, with Altair."""

    roc = plots.roc
    pr = plots.pr
    gain = plots.gain
    calibration = plots.calibration
    decision = plots.decision
    cost = plots.cost
    threshold = plots.threshold
    segments = plots.segments
    scores = plots.scores


class FrameNamespace(FrameFace[Frame]):
    """Verbs of frames: `frame.binmetrics`. A DataFrame gives DataFrames, a LazyFrame LazyFrames."""

    counts = evaluate.counts
    rates = evaluate.rates
    evaluate = evaluate.evaluate

    compare = compare.compare
    gaps = gaps.gaps

    best_threshold = choice.best_threshold

    roc_curve = curves.roc_curve
    pr_curve = curves.pr_curve
    det_curve = curves.det_curve
    gain_curve = curves.gain_curve
    cost_curve = curves.cost_curve
    decision_curve = curves.decision_curve
    calibration_curve = curves.calibration_curve
    roc_hull = curves.roc_hull
    attain = curves.attain

    cumulate = histograms.cumulate
    roc_auc = histograms.roc_auc
    histogram = histograms.histogram

    @property
    def plot(self) -> PlotNamespace[Frame]:
        """Pictures of the frame."""
        require("altair", "`plot`", "plot")
        return PlotNamespace(self.frame)


pl.api.register_expr_namespace("binmetrics")(ExprNamespace)
pl.api.register_dataframe_namespace("binmetrics")(FrameNamespace)
pl.api.register_lazyframe_namespace("binmetrics")(FrameNamespace)


@overload
def of(x: pl.Expr) -> ExprNamespace: ...
@overload
def of(x: pl.DataFrame) -> FrameNamespace[pl.DataFrame]: ...
@overload
def of(x: pl.LazyFrame) -> FrameNamespace[pl.LazyFrame]: ...
def of(
    x: pl.Expr | pl.DataFrame | pl.LazyFrame,
) -> ExprNamespace | FrameNamespace[pl.DataFrame] | FrameNamespace[pl.LazyFrame]:
    """
    The `.binmetrics` namespace of an expression or a frame.

    Parameters
    ----------
    x
        An Expr, a DataFrame or a LazyFrame.

    Returns
    -------
    ExprNamespace or FrameNamespace
        What ``x.binmetrics`` is; type checkers, which can't see a registered namespace, see
        this one.

    Raises
    ------
    TypeError
        When `x` is something else.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.2, 0.9]})
    >>> df.select(bm.of(pl.col("score")).recall("y")).item()
    1.0
    """
    if isinstance(x, pl.Expr):
        return ExprNamespace(x)
    if isinstance(x, pl.DataFrame):
        return FrameNamespace(x)
    if isinstance(x, pl.LazyFrame):
        return FrameNamespace(x)
    raise TypeError(f"`x` should be an Expr, a DataFrame or a LazyFrame, got {type(x).__name__}")
