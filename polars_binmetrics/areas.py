"""Metrics of the order in which the scores put the rows: areas and distances of ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import polars as pl

from polars_binmetrics.intervals import of_area
from polars_binmetrics.metric import rank_metric
from polars_binmetrics.placements import variance
from polars_binmetrics.ranking import Steps

__all__ = [
    "average_precision",
    "capture",
    "concordant_partial_auc",
    "gini",
    "h_measure",
    "ks",
    "ks_threshold",
    "lift",
    "partial_auc",
    "pr_auc",
    "roc_auc",
    "roc_auc_hull",
    "roc_auc_se",
]

Interval = tuple[float, float]


@rank_metric(best=1, loss=1, draw=of_area)
def roc_auc(s: Steps) -> pl.Expr:
    """
    Area under the ROC curve: how often a positive scores higher than a negative.

    ``P(S+ > S-) + P(S+ = S-) / 2`` over all pairs of a positive and a negative, a pair weighing
    the product of its weights; the same as the trapezoids under the curve, as the Mann-Whitney
    ``U / (n_positive n_negative)``, and as the sum of the positives' ranks less its least value,
    over its range. Exact with ties. Null with one class only. An area below 1/2 is left as it is.

    Source: J. Hanley and B. McNeil, The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143, 1982.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.roc_auc("y")).item()
    0.875
    """
    return _area(s)


def _area(s: Steps) -> pl.Expr:
    won = s.each(s.positives * (s.negatives_below + s.negatives / 2)).sum()
    won -= s.positives.sum() * s.negatives_below.first()
    lost = s.each(s.negatives * (s.positives_below + s.positives / 2)).sum()
    lost -= s.negatives.sum() * s.positives_below.first()
    # Not over the product of the totals, so that a perfect order gives exactly 1 with weights.
    return won / (won + lost)


@rank_metric(range=(0, inf), best=None)
def roc_auc_se(s: Steps) -> pl.Expr:
    """
    Standard error of the area under the ROC curve.

    ``sqrt(V+ / P + V- / N)``: the variances of the share of negatives below, over positives, and
    of the share of positives above, over negatives, ties by half (DeLong). A weight counts as so
    many rows. Null unless there is more than one row of either class.

    Source: E. DeLong, D. DeLong and D. Clarke-Pearson, Comparing the areas under two or more
    correlated receiver operating characteristic curves, Biometrics 44, 1988.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.roc_auc_se("y")).item()
    0.1767766952966369
    """
    return variance(s).sqrt()


@rank_metric(range=(-1, 1), best=1, loss=2)
def gini(s: Steps) -> pl.Expr:
    """
    Gini coefficient of the ROC curve, Somers' D of label and score: twice the area, less 1.

    ``2 AUC - 1``. Null with one class only.

    Source: R. Somers, A new asymmetric measure of association for ordinal variables, American
    Sociological Review 27, 1962.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.gini("y")).item()
    0.75
    """
    return _area(s) * 2 - 1


@rank_metric(best=1)
def ks(s: Steps) -> pl.Expr:
    """
    Kolmogorov-Smirnov distance of the positives' scores from the negatives'.

    ``max |TPR - FPR|`` over all thresholds. Null with one class only.

    Source: W. Conover, Practical Nonparametric Statistics, 3rd edition, 1999, 6.3.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.ks("y")).item()
    0.5
    """
    return _distance(s).max()


@rank_metric(range=(-inf, inf), best=None)
def ks_threshold(s: Steps) -> pl.Expr:
    """
    The threshold at which the Kolmogorov-Smirnov distance is reached.

    ``argmax |TPR - FPR|`` over the scores; of tied thresholds, to 1e-12 of the distance, the
    highest. Null with one class only, and where the distance is 0.

    Source: W. Conover, Practical Nonparametric Statistics, 3rd edition, 1999, 6.3.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.ks_threshold("y")).item()
    0.8
    """
    distance = _distance(s)
    nearest = (distance >= distance.max() - 1e-12) & (distance > 0)
    return pl.when(nearest).then(s.score).max()


def _distance(s: Steps) -> pl.Expr:
    distance = (s.tp / s.n_positive - s.fp / s.n_negative).abs()
    return s.each(pl.when(distance.is_not_nan()).then(distance))


@rank_metric(best=1)
def average_precision(s: Steps) -> pl.Expr:
    """
    Average precision: the area under the precision-recall curve, as steps.

    The mean precision over the positives, each taken at its own score as the threshold:
    ``sum of (recall gained) precision``, nothing interpolated. A random score gives the
    prevalence. Null without positives.

    Source: C. Buckley and E. Voorhees, Evaluating evaluation measure stability, SIGIR, 2000.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.35, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.average_precision("y")).item(), 4)
    0.8333
    """
    precision = s.tp / (s.tp + s.fp)
    found = pl.when(s.positives > 0).then(s.positives * precision).otherwise(s.positives)
    return s.each(found).sum() / s.positives.sum()


@rank_metric(best=1)
def pr_auc(s: Steps) -> pl.Expr:
    """
    Area under the precision-recall curve, between scores interpolated as counts.

    ``integral of TP / (TP + FP) dTP / n_positive``. Between two neighbouring scores, true and
    false positives grow in proportion (Davis and Goadrich), which is integrated exactly. A
    straight line between two points of the curve would promise too much; `average_precision`
    interpolates nothing. Null without positives.

    Source: J. Davis and M. Goadrich, The relationship between precision-recall and ROC curves,
    ICML, 2006; J. Keilwagen, I. Grosse and J. Grau, Area under precision-recall curves for
    weighted and unweighted data, PLoS ONE 9, 2014.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.pr_auc("y")).item(), 4)
    0.8873
    """
    found, called = s.tp - s.positives, s.tp - s.positives + s.fp - s.negatives
    rows = s.positives + s.negatives
    share = s.positives / rows
    # TP = found + share x, TP + FP = called + x, for x from 0 to rows.
    curved = (found - share * called) * (rows / called).log1p()
    gained = share * rows + pl.when(called > 0).then(curved).otherwise(0.0)
    area = pl.when(s.positives > 0).then(share * gained).otherwise(0.0)
    return s.each(area).sum() / s.positives.sum()


@rank_metric(best=None)
def partial_auc(
    s: Steps,
    *,
    fpr: Interval | None = None,
    tpr: Interval | None = None,
    corrected: bool = False,
) -> pl.Expr:
    """
    Area under a part of the ROC curve, within a range of FPR or of TPR.

    ``integral of TPR dFPR`` over the range `fpr`, or ``integral of (1 - FPR) dTPR`` over the
    range `tpr`; points within a step are on the straight line between its ends. 0 to the width
    of the range. `corrected` as McClish does, ``(1 + (area - chance) / (width - chance)) / 2``:
    1/2 for a random score, 1 at best. Null with one class only.

    Source: D. McClish, Analyzing a portion of the ROC curve, Medical Decision Making 9, 1989.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.partial_auc("y", fpr=(0, 0.5))).item()
    0.375
    """
    lo, hi = _range(fpr, tpr)
    part = _within(s, lo, hi, of_fpr=fpr is not None)
    area = s.each(part.width * part.height if fpr is not None else part.rise * part.depth).sum()
    if corrected:
        width, middle = hi - lo, (lo + hi) / 2
        chance = width * (middle if fpr is not None else 1 - middle)
        area = ((area - chance) / (width - chance) + 1) / 2
    return pl.when(s.n_positive.max() * s.n_negative.max() > 0).then(area)


@rank_metric(best=None)
def concordant_partial_auc(
    s: Steps, *, fpr: Interval | None = None, tpr: Interval | None = None
) -> pl.Expr:
    """
    Concordant partial AUC: the mean of the areas below and to the right of a part of the curve.

    ``(integral of TPR dFPR + integral of (1 - FPR) dTPR) / 2`` over the part of the curve within
    the range `fpr` or `tpr`. Of ranges that follow one another, these add up to the whole AUC; a
    vertical or horizontal stretch at the end of a range belongs to the range before it. Null with
    one class only.

    Source: A. Carrington et al., A new concordant partial AUC and partial c statistic for
    imbalanced data in the evaluation of machine learning algorithms, BMC Medical Informatics and
    Decision Making 20, 2020.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.concordant_partial_auc("y", fpr=(0, 0.5))).item()
    0.625
    """
    lo, hi = _range(fpr, tpr)
    part = _within(s, lo, hi, of_fpr=fpr is not None)
    area = s.each(part.width * part.height + part.rise * part.depth).sum() / 2
    return pl.when(s.n_positive.max() * s.n_negative.max() > 0).then(area)


@rank_metric(best=1, hull=True)
def roc_auc_hull(s: Steps) -> pl.Expr:
    """
    Area under the convex hull of the ROC curve.

    ``AUC`` of the hull: that of the best classifier that thresholds, and chance between two of
    them, can make of the score. At least 1/2. Null with one class only.

    Source: F. Provost and T. Fawcett, Robust classification for imprecise environments, Machine
    Learning 42, 2001.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]})
    >>> df.select(pl.col("score").binmetrics.roc_auc_hull("y")).item()
    0.875
    """
    return _area(s)


@rank_metric(best=1, hull=True)
def h_measure(s: Steps, *, severity_ratio: float | None = None) -> pl.Expr:
    """
    Hand's H: how much of the expected cost of deciding without the score is saved by it.

    ``1 - L / L_max``. L is the least expected cost ``c pi0 FPR + (1 - c) pi1 FNR`` at the best
    threshold for each c, averaged over the costs c that ``Beta(2, 1 + 1 / severity_ratio)`` makes
    likely; L_max is that of the better of calling all rows positive or none. `severity_ratio` is
    how much worse a false positive is than a false negative: by default the ratio of positives
    to negatives. Null with one class only.

    Source: D. Hand, Measuring classifier performance: a coherent alternative to the area under
    the ROC curve, Machine Learning 77, 2009; D. Hand and C. Anagnostopoulos, A better Beta for
    the H measure of classification performance, Pattern Recognition Letters 40, 2014.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]})
    >>> round(df.select(pl.col("score").binmetrics.h_measure("y")).item(), 4)
    0.5
    """
    if severity_ratio is not None and not 0 < severity_ratio < inf:
        raise ValueError(f"`severity_ratio` should be positive, got {severity_ratio!r}")
    n_positive, n_negative = s.n_positive.max(), s.n_negative.max()
    b = n_negative / n_positive if severity_ratio is None else pl.lit(1 / severity_ratio)
    b = b + 1

    def saved(positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
        """What it saves to call the rows of a part positive where that is the cheaper."""
        c = positives / (positives + negatives)  # Above this cost, calling them is dearer.
        rest = (-c).log1p() * b
        rest = rest.exp()
        # Integrals of c and of 1 - c over Beta(2, b) from 0 to c, which end in closed form.
        mean = pl.lit(2.0) / (b + 2)
        of_c = mean * (1 - rest * (1 + b * c + b * (b + 1) / 2 * c * c))
        of_1 = 1 - rest * (1 + b * c)
        return positives * (of_1 - of_c) - negatives * of_c

    parts = pl.when(s.positives + s.negatives > 0).then(saved(s.positives, s.negatives)).sum()
    everything = n_positive * b / (b + 2)
    h = 1 - (everything - parts) / (everything - saved(n_positive, n_negative))
    return pl.when(n_positive * n_negative > 0).then(h)


@rank_metric(best=None)
def capture(s: Steps, *, at: float) -> pl.Expr:
    """
    Share of the positives found in the rows with the highest scores.

    ``TP / n_positive`` when the share `at` of all rows, those with the highest scores, is called
    positive; of rows tied at the limit, the part that fits is taken, with its share of positives.
    Null without positives.

    Source: D. Hand, Construction and Assessment of Classification Rules, 1997.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.capture("y", at=0.5)).item()
    0.75
    """
    return _captured(s, at)


@rank_metric(range=(0, inf), best=None)
def lift(s: Steps, *, at: float) -> pl.Expr:
    """
    How many times as many positives are among the rows with the highest scores as by chance.

    ``capture / at``: the precision of the share `at` of all rows with the highest scores over
    that of all rows. Null without positives.

    Source: D. Hand, Construction and Assessment of Classification Rules, 1997.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.lift("y", at=0.5)).item()
    1.5
    """
    return _captured(s, at) / at


def _captured(s: Steps, at: float) -> pl.Expr:
    if not 0 < at <= 1:
        raise ValueError(f"`at` should be above 0 and at most 1, got {at!r}")
    rows = s.positives + s.negatives
    room = (s.n_positive + s.n_negative) * at - (s.tp + s.fp - rows)
    fitting = (room / rows).clip(0, 1)
    return s.each(pl.when(rows > 0).then(s.positives * fitting)).sum() / s.positives.sum()


class Part(NamedTuple):
    """What of each step lies within a range: its width and mean height, its rise and mean depth."""

    width: pl.Expr
    height: pl.Expr
    rise: pl.Expr
    depth: pl.Expr


def _range(fpr: Interval | None, tpr: Interval | None) -> Interval:
    if (fpr is None) == (tpr is None):
        raise ValueError("one of `fpr` and `tpr` should be given, as (least, greatest)")
    name, given = ("fpr", fpr) if tpr is None else ("tpr", tpr)
    if not isinstance(given, Sequence) or len(given) != 2:
        raise TypeError(f"`{name}` should be two numbers, got {given!r}")
    lo, hi = given
    if not 0 <= lo < hi <= 1:
        raise ValueError(f"`{name}` should be 0 <= least < greatest <= 1, got {given!r}")
    return lo, hi


def _within(s: Steps, lo: float, hi: float, *, of_fpr: bool) -> Part:
    """The part of each step within a range of FPR or of TPR."""
    along, across = (s.fp, s.negatives, s.n_negative), (s.tp, s.positives, s.n_positive)
    if not of_fpr:
        along, across = across, along
    (reached, size, total), (height, gain, whole) = along, across
    first, last = (reached - size) / total, reached / total
    begin, end = first.clip(lo, hi), last.clip(lo, hi)
    length, middle = end - begin, (begin + end) / 2
    moves = size > 0
    slope = pl.when(moves).then(gain / size).otherwise(0.0) * (total / whole)
    mean = (height - gain) / whole + slope * (middle - first)
    # A step that does not move along the range is in it as a whole or not at all.
    inside = ((first > lo) if lo > 0 else (first >= lo)) & (first <= hi)
    gained = pl.when(moves).then(slope * length).when(inside).then(gain / whole).otherwise(0.0)
    if of_fpr:
        return Part(width=length, height=mean, rise=gained, depth=1 - middle)
    return Part(width=gained, height=middle, rise=length, depth=1 - mean)
