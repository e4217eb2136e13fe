"""Intervals: how far a metric may be from what it would be on endless rows of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import polars as pl

from polars_binmetrics.dual import Number
from polars_binmetrics.extras import require
from polars_binmetrics.wording import documented

__all__ = ["agresti_coull", "clopper_pearson", "delong", "jeffreys", "wilson"]


class Estimate(NamedTuple):
    """What an interval is drawn from; the trials are those of a proportion."""

    value: pl.Expr
    variance: pl.Expr
    trials: pl.Expr


RAISES = """\
Raises
------
TypeError, ValueError
    When the level is no number, or not above 0 and below 1.

"""
RAISES_OR_NEEDS_SCIPY = f"""\
{RAISES.rstrip()}
ModuleNotFoundError
    Without scipy: install polars-binmetrics[exact].

"""
UNKNOWN = pl.lit(None, pl.Float64)

Bounds: TypeAlias = tuple[pl.Expr, pl.Expr]
Draw: TypeAlias = Callable[[Estimate, float], Bounds]


@dataclass(frozen=True)
class Interval:
    """A level, and a way to draw the interval instead of the one that a metric has by itself."""

    level: float
    draw: Draw | None = None
    instead_of: Draw | None = None

    def bounds(self, estimate: Estimate, own: Draw) -> Bounds:
        """The ends of the interval."""
        draw = self.draw if self.draw is not None and self.instead_of is own else own
        return draw(estimate, self.level)


@documented(RAISES)
def wilson(level: float = 0.95) -> Interval:
    """
    Wilson's score interval of a proportion.

    The rates p at which a score test at the level would not refuse what was counted:
    ``(2 k + z^2 -+ z sqrt(z^2 + 4 k (1 - k / n))) / (2 (n + z^2))`` for k of n.

    Returns
    -------
    Interval
        For `evaluate` and `rates`. Metrics that are no proportions get their own interval.

    Notes
    -----
    Arithmetic on the counts. The default of proportions.

    Source: E. Wilson, Probable inference, the law of succession, and statistical inference,
    Journal of the American Statistical Association 22, 1927.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [8], "fp": [1], "fn": [2], "tn": [9]})
    >>> counts.binmetrics.rates("recall", interval=bm.wilson(0.9)).drop("tp", "fp", "fn", "tn")
    shape: (1, 3)
    ┌────────┬────────────┬─────────────┐
    │ recall ┆ recall_low ┆ recall_high │
    │ ---    ┆ ---        ┆ ---         │
    │ f64    ┆ f64        ┆ f64         │
    ╞════════╪════════════╪═════════════╡
    │ 0.8    ┆ 0.540793   ┆ 0.931442    │
    └────────┴────────────┴─────────────┘
    """
    return Interval(checked_level(level), of_score, instead_of=of_score)


@documented(RAISES)
def agresti_coull(level: float = 0.95) -> Interval:
    """
    Agresti and Coull's interval of a proportion.

    ``p -+ z sqrt(p (1 - p) / m)`` with ``m = n + z^2`` and ``p = (k + z^2 / 2) / m`` for k of n,
    cut at 0 and 1: the middle of Wilson's interval, and never narrower.

    Returns
    -------
    Interval
        For `evaluate` and `rates`. Metrics that are no proportions get their own interval.

    Notes
    -----
    Arithmetic on the counts.

    Source: A. Agresti and B. Coull, Approximate is better than "exact" for interval estimation
    of binomial proportions, The American Statistician 52, 1998.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [8], "fp": [1], "fn": [2], "tn": [9]})
    >>> table = counts.binmetrics.rates("recall", interval=bm.agresti_coull(0.9))
    >>> table.drop("tp", "fp", "fn", "tn")
    shape: (1, 3)
    ┌────────┬────────────┬─────────────┐
    │ recall ┆ recall_low ┆ recall_high │
    │ ---    ┆ ---        ┆ ---         │
    │ f64    ┆ f64        ┆ f64         │
    ╞════════╪════════════╪═════════════╡
    │ 0.8    ┆ 0.532737   ┆ 0.939498    │
    └────────┴────────────┴─────────────┘
    """
    return Interval(checked_level(level), of_adjusted, instead_of=of_score)


@documented(RAISES_OR_NEEDS_SCIPY)
def clopper_pearson(level: float = 0.95) -> Interval:
    """
    Clopper and Pearson's exact interval of a proportion.

    The rates under which k or fewer of n, or k or more, have a binomial probability of at least
    ``(1 - level) / 2`` each: never short of the level, and often far beyond it.

    Returns
    -------
    Interval
        For `evaluate` and `rates`. Metrics that are no proportions get their own interval.

    Notes
    -----
    Two quantiles of beta distributions a rate, by scipy: a Python function in the plan, over the
    table of results.

    Source: C. Clopper and E. Pearson, The use of confidence or fiducial limits illustrated in the
    case of the binomial, Biometrika 26, 1934.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [8], "fp": [1], "fn": [2], "tn": [9]})
    >>> table = counts.binmetrics.rates("recall", interval=bm.clopper_pearson(0.9))
    >>> table.drop("tp", "fp", "fn", "tn")
    shape: (1, 3)
    ┌────────┬────────────┬─────────────┐
    │ recall ┆ recall_low ┆ recall_high │
    │ ---    ┆ ---        ┆ ---         │
    │ f64    ┆ f64        ┆ f64         │
    ╞════════╪════════════╪═════════════╡
    │ 0.8    ┆ 0.493099   ┆ 0.963229    │
    └────────┴────────────┴─────────────┘
    """
    return Interval(_exact("clopper_pearson", level), of_binomial, instead_of=of_score)


@documented(RAISES_OR_NEEDS_SCIPY)
def jeffreys(level: float = 0.95) -> Interval:
    """
    Jeffreys' interval of a proportion.

    Between the quantiles ``(1 - level) / 2`` and ``(1 + level) / 2`` of a beta distribution with
    ``k + 1/2`` and ``n - k + 1/2``; from 0 if k is 0, and to 1 if k is n.

    Returns
    -------
    Interval
        For `evaluate` and `rates`. Metrics that are no proportions get their own interval.

    Notes
    -----
    Two quantiles of beta distributions a rate, by scipy: a Python function in the plan, over the
    table of results.

    Source: L. Brown, T. Cai and A. DasGupta, Interval estimation for a binomial proportion,
    Statistical Science 16, 2001.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [8], "fp": [1], "fn": [2], "tn": [9]})
    >>> table = counts.binmetrics.rates("recall", interval=bm.jeffreys(0.9))
    >>> table.drop("tp", "fp", "fn", "tn")
    shape: (1, 3)
    ┌────────┬────────────┬─────────────┐
    │ recall ┆ recall_low ┆ recall_high │
    │ ---    ┆ ---        ┆ ---         │
    │ f64    ┆ f64        ┆ f64         │
    ╞════════╪════════════╪═════════════╡
    │ 0.8    ┆ 0.547504   ┆ 0.939786    │
    └────────┴────────────┴─────────────┘
    """
    return Interval(_exact("jeffreys", level), of_jeffreys, instead_of=of_score)


@documented(RAISES, logit="Draw it on the scale of log-odds.")
def delong(level: float = 0.95, *, logit: bool = False) -> Interval:
    """
    DeLong's interval of an area under the ROC curve.

    ``AUC -+ z se``, cut at 0 and 1, with the standard error of DeLong, DeLong and Clarke-Pearson:
    from how the share of negatives below differs between positives, and the share of positives
    above between negatives. With `logit` the same for ``ln(AUC / (1 - AUC))``, turned back: never
    beyond 0 and 1, and null where the area is 0 or 1.

    Returns
    -------
    Interval
        For `evaluate`. Metrics that are no areas get their own interval.

    Notes
    -----
    Sums over the scores, which are sorted for the area anyway.

    Source: E. DeLong, D. DeLong and D. Clarke-Pearson, Comparing the areas under two or more
    correlated receiver operating characteristic curves, Biometrics 44, 1988.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 0, 1, 1], "score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    >>> table = df.binmetrics.evaluate(
    ...     "score", "y", metrics="roc_auc", interval=bm.delong(logit=True), thresholds=None
    ... )
    >>> table.select("roc_auc", "roc_auc_low", "roc_auc_high")
    shape: (1, 3)
    ┌──────────┬─────────────┬──────────────┐
    │ roc_auc  ┆ roc_auc_low ┆ roc_auc_high │
    │ ---      ┆ ---         ┆ ---          │
    │ f64      ┆ f64         ┆ f64          │
    ╞══════════╪═════════════╪══════════════╡
    │ 0.888889 ┆ 0.261373    ┆ 0.994501     │
    └──────────┴─────────────┴──────────────┘
    """
    return Interval(checked_level(level), of_log_odds if logit else of_area, instead_of=of_area)


IntoInterval: TypeAlias = float | Interval


def interval_of(value: IntoInterval) -> Interval:
    """A level, or what `wilson` and the like make, as an interval."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            "`interval` should be a level, as 0.95, or made by bm.wilson() and the like,"
            f" got {value!r}"
        )
    return Interval(checked_level(value))


def checked_level(level: float) -> float:
    """The level as a number above 0 and below 1."""
    check_inside("level", level, 0)
    return float(level)


def check_inside(argument: str, value: float, least: int) -> None:
    """Refuse what is no number above `least` and below 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"`{argument}` should be a number, got {value!r}")
    if not least < value < 1:
        raise ValueError(f"`{argument}` should be above {least} and below 1, got {value!r}")


def _exact(name: str, level: float) -> float:
    require("scipy", f"bm.{name}", "exact")
    return checked_level(level)


def trials_of(slopes: Sequence[Number]) -> pl.Expr:
    """The trials of a proportion, which grows by (1 - p) / n with one, and falls by p / n."""
    return (pl.max_horizontal(slopes) - pl.min_horizontal(slopes)).pow(-1)


def normal(level: float) -> float:
    """The standard normal number that the level leaves between it and its negative."""
    return NormalDist().inv_cdf((1 + level) / 2)


def of_score(estimate: Estimate, level: float) -> Bounds:
    """Wilson's."""
    p, n, z = estimate.value, estimate.trials, normal(level)
    middle, reach = n * p * 2 + z * z, (n * p * (1 - p) * 4 + z * z).sqrt() * z
    return (middle - reach) / (n + z * z) / 2, (middle + reach) / (n + z * z) / 2


def of_adjusted(estimate: Estimate, level: float) -> Bounds:
    """Agresti and Coull's."""
    z = normal(level)
    n = estimate.trials + z * z
    p = (estimate.trials * estimate.value + z * z / 2) / n
    reach = (p * (1 - p) / n).sqrt() * z
    return p - reach, p + reach


def of_binomial(estimate: Estimate, level: float) -> Bounds:
    """Clopper and Pearson's."""
    hits, misses = _hits(estimate)
    return (
        _beta_quantile((1 - level) / 2, hits, misses + 1),
        _beta_quantile((1 + level) / 2, hits + 1, misses),
    )


def of_jeffreys(estimate: Estimate, level: float) -> Bounds:
    """Jeffreys'."""
    hits, misses = _hits(estimate)
    low, high = (_beta_quantile((1 + s * level) / 2, hits + 0.5, misses + 0.5) for s in (-1, 1))
    return pl.when(hits > 0).then(low).otherwise(0.0), pl.when(misses > 0).then(high).otherwise(1.0)


def _hits(estimate: Estimate) -> tuple[pl.Expr, pl.Expr]:
    return estimate.value * estimate.trials, (1 - estimate.value) * estimate.trials


def _beta_quantile(share: float, a: pl.Expr, b: pl.Expr) -> pl.Expr:
    """Where a beta distribution has a share below it; at an end where a or b is 0."""
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    def quantile(parameters: pl.Series) -> pl.Series:
        left, right = (parameters.struct.field(name).to_numpy() for name in "ab")
        return pl.Series(parameters.name, betaincinv(left, right, share), dtype=pl.Float64)

    inside = pl.struct(a=a, b=b).map_batches(quantile, pl.Float64, is_elementwise=True)
    return pl.when(a <= 0).then(0.0).when(b <= 0).then(1.0).otherwise(inside)


def of_slopes(estimate: Estimate, level: float) -> Bounds:
    """The delta method's."""
    reach = estimate.variance.sqrt() * normal(level)
    return estimate.value - reach, estimate.value + reach


def of_area(estimate: Estimate, level: float) -> Bounds:
    """DeLong's."""
    return of_slopes(estimate, level)


def of_log(estimate: Estimate, level: float) -> Bounds:
    """The delta method's for the logarithm."""
    ratio = estimate.value
    known = pl.when((ratio > 0) & (ratio < inf))
    factor = (estimate.variance.sqrt() / ratio * normal(level)).exp()
    return known.then(ratio / factor), known.then(ratio * factor)


def of_log_odds(estimate: Estimate, level: float) -> Bounds:
    """DeLong's for the log-odds."""
    p = estimate.value
    reach = estimate.variance.sqrt() / p / (1 - p) * normal(level)
    low, high = ((p.log() - (-p).log1p() + sign * reach) for sign in (-1, 1))
    return 1 / ((-low).exp() + 1), 1 / ((-high).exp() + 1)
