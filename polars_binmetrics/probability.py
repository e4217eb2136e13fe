"""Metrics of the scores taken as probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import inf, nan
from operator import add
from typing import NamedTuple

import polars as pl

from polars_binmetrics.columns import Rows
from polars_binmetrics.metric import mean, rank_metric, row_metric
from polars_binmetrics.ranking import Steps
from polars_binmetrics.tails import chi_square, two_sided
from polars_binmetrics.thresholds import uniform

__all__ = [
    "brier",
    "brier_reliability",
    "brier_resolution",
    "brier_skill",
    "brier_uncertainty",
    "calibration_in_the_large",
    "ece",
    "hosmer_lemeshow",
    "hosmer_lemeshow_p",
    "log_loss",
    "mce",
    "spiegelhalter_p",
    "spiegelhalter_z",
]


@row_metric(best=0, reduction=mean)
def brier(rows: Rows) -> pl.Expr:
    """
    Brier score: mean squared distance of the probability from the outcome.

    ``mean((score - y)^2)``, y being 1 for a positive and 0 for a negative. Null without rows,
    and where a score is no probability (outside [0, 1]). One pass over the rows.

    Source: G. Brier, Verification of forecasts expressed in terms of probability, Monthly
    Weather Review 78, 1950.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier("y")).item()
    0.125
    """
    distance = rows.score - rows.positive.cast(pl.Float64)
    return _of_probability(rows, distance * distance)


@row_metric(range=(0, inf), best=0, reduction=mean)
def log_loss(rows: Rows) -> pl.Expr:
    """
    Mean negative logarithm of the probability that was given to the outcome.

    ``-mean(y ln(score) + (1 - y) ln(1 - score))``, in nats. A sure miss (probability 0 for what
    happened) makes it inf; nothing is clipped. Null without rows, and where a score is no
    probability (outside [0, 1]). One pass over the rows.

    Source: I. J. Good, Rational decisions, JRSS B 14, 1952.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.5, 0.5]})
    >>> round(df.select(pl.col("score").binmetrics.log_loss("y")).item(), 4)
    0.6931
    """
    gain = pl.when(rows.positive).then(rows.score.log()).otherwise((-rows.score).log1p())
    return _of_probability(rows, -gain)


@row_metric(range=(-inf, 1), best=1)
def brier_skill(rows: Rows) -> pl.Expr:
    """
    Brier skill score: the share of the Brier score saved over always saying the prevalence.

    ``1 - brier / (prevalence (1 - prevalence))``. Null with one class only, and where a score is
    no probability.

    Source: E. Epstein and A. Murphy, Use and value of multiple-period forecasts in a dynamic
    model of the cost-loss situation, Monthly Weather Review 116, 1988; D. Wilks, Statistical
    Methods in the Atmospheric Sciences, 8.4.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.0, 0.5, 0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier_skill("y")).item()
    0.5
    """
    distance = rows.score - rows.positive.cast(pl.Float64)
    uncertainty = _uncertainty(rows)
    skill = -mean(rows, _of_probability(rows, distance * distance)) / uncertainty + 1
    return pl.when(uncertainty > 0).then(skill)


@row_metric(range=(0, 0.25), best=None)
def brier_uncertainty(rows: Rows) -> pl.Expr:
    """
    Uncertainty, the part of the Brier score that no forecast changes.

    ``prevalence (1 - prevalence)``. Null without rows, and where a score is no probability.

    Source: A. Murphy, A new vector partition of the probability score, Journal of Applied
    Meteorology 12, 1973.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.0, 0.5, 0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier_uncertainty("y")).item()
    0.25
    """
    return _of_probabilities(rows, _uncertainty(rows))


@row_metric(best=0)
def brier_reliability(rows: Rows, *, bins: int = 10) -> pl.Expr:
    """
    Reliability, the part of the Brier score that comes of probabilities that are off.

    ``sum of n_b (mean score - mean y)^2 / n`` over `bins` of equal width. ``brier = reliability -
    resolution + uncertainty``, exactly where all scores of a bin are equal. Null without rows, and
    where a score is no probability.

    Source: A. Murphy, A new vector partition of the probability score, Journal of Applied
    Meteorology 12, 1973.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.0, 0.5, 0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier_reliability("y")).item()
    0.0
    """
    terms = [each.excess * each.excess / each.n for each in _binned(rows, bins)]
    return _of_probabilities(rows, _added(terms) / _n(rows))


@row_metric(range=(0, 0.25), best=None)
def brier_resolution(rows: Rows, *, bins: int = 10) -> pl.Expr:
    """
    Resolution, the part of the Brier score that is saved by telling rows apart.

    ``sum of n_b (mean y - prevalence)^2 / n`` over `bins` of equal width: the more the better, up
    to the uncertainty. Null without rows, and where a score is no probability.

    Source: A. Murphy, A new vector partition of the probability score, Journal of Applied
    Meteorology 12, 1973.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.0, 0.5, 0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier_resolution("y")).item()
    0.125
    """
    n, positives = _n(rows), rows.total(_used(rows) & rows.positive).cast(pl.Float64)
    gains = [(each.positives - each.n * positives / n, each.n) for each in _binned(rows, bins)]
    return _of_probabilities(rows, _added([gain * gain / n_b for gain, n_b in gains]) / n)


@row_metric(best=0)
def ece(rows: Rows, *, bins: int = 10) -> pl.Expr:
    """
    Expected calibration error: how far the mean score of a bin is from its rate, on average.

    ``sum of n_b |mean score - mean y| / n`` over `bins` of equal width, a score on a limit being
    in the upper bin. Null without rows, and where a score is no probability.

    Source: M. Naeini, G. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using
    Bayesian binning, AAAI, 2015.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.25, 0.25, 0.75, 0.75]})
    >>> df.select(pl.col("score").binmetrics.ece("y")).item()
    0.25
    """
    terms = [each.excess.abs() for each in _binned(rows, bins)]
    return _of_probabilities(rows, _added(terms) / _n(rows))


@row_metric(best=0)
def mce(rows: Rows, *, bins: int = 10) -> pl.Expr:
    """
    Maximum calibration error: how far the mean score of a bin is from its rate, at worst.

    ``max |mean score - mean y|`` over `bins` of equal width that have rows. Null without rows, and
    where a score is no probability.

    Source: M. Naeini, G. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using
    Bayesian binning, AAAI, 2015.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.25, 0.25, 0.5, 0.5]})
    >>> df.select(pl.col("score").binmetrics.mce("y")).item()
    0.5
    """
    gaps = [_zero_if_empty(each.excess.abs() / each.n) for each in _binned(rows, bins)]
    # pl.max_horizontal would mix the columns of a multi-column score.
    units = [
        pl.lit([float(i == j) for j in range(bins)], pl.Array(pl.Float64, bins))
        for i in range(bins)
    ]
    worst = reduce(add, (gap * unit for gap, unit in zip(gaps, units, strict=True))).arr.max()
    return _of_probabilities(rows, worst)


@row_metric(range=(-inf, inf), best=None)
def spiegelhalter_z(rows: Rows) -> pl.Expr:
    """
    Spiegelhalter's z: how far the Brier score is from what calibrated probabilities give.

    ``sum((y - score) (1 - 2 score)) / sqrt(sum((1 - 2 score)^2 score (1 - score)))``: normal with
    mean 0 and standard deviation 1 if the scores are the true probabilities. A weight repeats
    a row. Null without rows, where the scores leave nothing to chance, and where a score is no
    probability.

    Source: D. Spiegelhalter, Probabilistic prediction in patient management and clinical trials,
    Statistics in Medicine 5, 1986.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.2, 0.2, 0.8, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.spiegelhalter_z("y")).item(), 4)
    0.25
    """
    return _of_probabilities(rows, _spiegelhalter(rows))


@row_metric(best=None)
def spiegelhalter_p(rows: Rows) -> pl.Expr:
    """
    p-value of Spiegelhalter's z: small if the scores can't be the true probabilities.

    ``P(|Z| >= |z|)`` of a standard normal Z. Null where z is.

    Source: D. Spiegelhalter, Probabilistic prediction in patient management and clinical trials,
    Statistics in Medicine 5, 1986.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.2, 0.2, 0.8, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.spiegelhalter_p("y")).item(), 4)
    0.8026
    """
    return _of_probabilities(rows, two_sided(_spiegelhalter(rows)))


@rank_metric(range=(0, inf), best=None)
def hosmer_lemeshow(s: Steps, *, bins: int = 10) -> pl.Expr:
    """
    Hosmer-Lemeshow statistic: observed beside expected counts, in bins of equal size.

    ``sum of (observed - expected)^2 / expected`` over both classes in `bins` between quantiles of
    the scores (as R's default, ties kept together), the scores being what is expected. A weight
    repeats a row. Null without rows, and where a score is no probability or nothing is expected.

    Source: D. Hosmer and S. Lemeshow, Goodness of fit tests for the multiple logistic regression
    model, Communications in Statistics 9, 1980.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.2, 0.2, 0.8, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.hosmer_lemeshow("y", bins=3)).item(), 4)
    1.625
    """
    return _hosmer_lemeshow(s, bins)


def _beyond(statistic: pl.Expr, *, bins: int = 10) -> pl.Expr:
    return chi_square(statistic, bins - 2)


@rank_metric(best=None, then=_beyond)
def hosmer_lemeshow_p(s: Steps, *, bins: int = 10) -> pl.Expr:
    """
    p-value of the Hosmer-Lemeshow statistic: small if the scores can't be the probabilities.

    ``P(X >= statistic)`` of a chi-square X with ``bins - 2`` degrees of freedom. Null where the
    statistic is.

    Source: D. Hosmer and S. Lemeshow, Goodness of fit tests for the multiple logistic regression
    model, Communications in Statistics 9, 1980.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 1, 1], "score": [0.2, 0.2, 0.8, 0.8]})
    >>> round(df.select(pl.col("score").binmetrics.hosmer_lemeshow_p("y", bins=3)).item(), 4)
    0.2024
    """
    return _hosmer_lemeshow(s, bins)


@rank_metric(range=(-inf, inf), best=None, listed=True)
def calibration_in_the_large(s: Steps) -> pl.Expr:
    """
    Calibration in the large: the shift of all log-odds that makes the mean score right.

    ``a`` such that ``mean 1 / (1 + exp(-logit(score) - a)) = prevalence``: the intercept of a
    logistic regression with the score's log-odds as offset, above 0 if the scores are too low. A
    weight repeats a row. Null with one class only, where no shift is enough (scores of 0 and 1),
    and where a score is no probability.

    Source: D. Cox, Two further applications of a model for binary regression, Biometrika 45,
    1958; E. Steyerberg, Clinical Prediction Models, 15.3.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.25, 0.25]})
    >>> round(df.select(pl.col("score").binmetrics.calibration_in_the_large("y")).item(), 4)
    1.0986
    """
    field = pl.element().struct.field
    log_odds, n, a = field("log_odds"), field("n"), field("a")
    table = pl.struct(
        log_odds=s.score.log() - (-s.score).log1p(),
        n=s.positives + s.negatives,
        missing=s.positives.sum() + s.score * 0,
        a=s.score * 0,
    ).implode()
    called = ((-log_odds - a).exp() + 1).pow(-1)
    change = (field("missing").max() - (n * called).sum()) / (n * called * (1 - called)).sum()
    # Far from the solution, the slope says little of how far.
    shifted = a + change.clip(-MOST, MOST)
    for _ in range(SHIFTS):
        table = table.list.eval(
            pl.struct(log_odds=log_odds, n=n, missing=field("missing"), a=shifted)
        )
    found = table.list.eval(pl.when(change.abs() < 1e-6).then(a.max() + change)).list.first()
    return _of_probable(s, pl.when((s.n_positive.max() * s.n_negative.max()) > 0).then(found))


#: Steps of Newton's method, and how far one goes at most.
SHIFTS, MOST = 12, 4.0


class Bin(NamedTuple):
    """Sums over the rows of a bin: their number, the positives, and the scores beyond these."""

    n: pl.Expr
    positives: pl.Expr
    excess: pl.Expr


def _binned(rows: Rows, bins: int) -> list[Bin]:
    """Sums over bins of equal width from 0 to 1."""
    _check(bins, least=1)
    limits = [*uniform(bins + 1)[:-1], inf]
    found: list[Bin] = []
    for lower, upper in pairwise(limits):
        inside = (rows.score >= lower) & (rows.score < upper)
        scores = pl.when(inside).then(rows.score).otherwise(0.0)
        total = (scores if rows.weight is None else scores * rows.weight).sum()
        positives = rows.total(inside & rows.positive).cast(pl.Float64)
        found.append(Bin(rows.total(inside).cast(pl.Float64), positives, total - positives))
    return found


def _check(bins: int, *, least: int) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int):
        raise TypeError(f"`bins` should be an integer, got {bins!r}")
    if bins < least:
        raise ValueError(f"`bins` should be at least {least}, got {bins}")


def _added(terms: Sequence[pl.Expr]) -> pl.Expr:
    return reduce(add, map(_zero_if_empty, terms))


def _zero_if_empty(term: pl.Expr) -> pl.Expr:
    """A term of a bin; 0/0 of an empty one is 0."""
    return term.fill_nan(0)


def _used(rows: Rows) -> pl.Expr:
    return rows.score.is_not_null()


def _n(rows: Rows) -> pl.Expr:
    return rows.total(_used(rows)).cast(pl.Float64)


def _uncertainty(rows: Rows) -> pl.Expr:
    prevalence = rows.total(_used(rows) & rows.positive).cast(pl.Float64) / _n(rows)
    return prevalence * (1 - prevalence)


def _spiegelhalter(rows: Rows) -> pl.Expr:
    lean = rows.score * 2 - 1
    distance = (rows.score - rows.positive.cast(pl.Float64)) * lean
    variance = lean * lean * rows.score * (1 - rows.score)
    if rows.weight is not None:
        distance, variance = distance * rows.weight, variance * rows.weight
    return pl.when(variance.max() > 0).then(distance.sum() / variance.sum().sqrt())


def _hosmer_lemeshow(s: Steps, bins: int) -> pl.Expr:
    _check(bins, least=3)
    n = s.n_positive + s.n_negative
    rows = s.positives + s.negatives
    below = n - s.tp - s.fp
    terms: list[pl.Expr] = []
    for i in range(bins):
        # A score is above a quantile if all rows up to the quantile's place are below it.
        inside = pl.lit(True)
        if i > 0:
            inside &= ((n - 1) * i / bins).floor() < below
        if i < bins - 1:
            inside &= ((n - 1) * (i + 1) / bins).floor() >= below
        expected = pl.when(inside).then(rows * s.score).sum()
        size = pl.when(inside).then(rows).sum()
        distance = pl.when(inside).then(s.positives).sum() - expected
        term = distance * distance / expected + distance * distance / (size - expected)
        terms.append(pl.when(size > 0).then(term).otherwise(0.0))
    return _of_probable(s, pl.when(n.max() > 0).then(reduce(add, terms)))


def _of_probable(s: Steps, value: pl.Expr) -> pl.Expr:
    return pl.when(s.score.is_between(0, 1).all()).then(value)


def _of_probabilities(rows: Rows, value: pl.Expr) -> pl.Expr:
    return pl.when(rows.score.is_between(0, 1).all() & (_n(rows) > 0)).then(value)


def _of_probability(rows: Rows, value: pl.Expr) -> pl.Expr:
    """The value of each row, NaN where its score is no probability."""
    probable = rows.score.is_between(0, 1) | rows.score.is_null()
    return pl.when(probable).then(value).otherwise(nan)
