"""How many rows are needed, before there are any."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, sqrt
from statistics import NormalDist

from polars_binmetrics.intervals import check_inside, checked_level, normal

__all__ = ["sample_size"]


def sample_size(
    *,
    rate: float | None = None,
    auc: float | None = None,
    width: float | None = None,
    baseline: float | None = None,
    prevalence: float = 0.5,
    correlation: float = 0.0,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """
    Rows needed for an interval of some width, or to tell two areas under the ROC curve apart.

    Three questions: ``rate`` and ``width``, Wilson's interval of a proportion; ``auc`` and
    ``width``, the interval ``AUC -+ z se`` of an area; ``auc`` and ``baseline``, the two-sided
    test of the areas of two models. The variance of an area is Hanley and McNeil's,
    ``(A (1 - A) + (p - 1) (Q1 - A^2) + (q - 1) (Q2 - A^2)) / (p q)`` for p positives and q
    negatives, with ``Q1 = A / (2 - A)`` and ``Q2 = 2 A^2 / (1 + A)``.

    Parameters
    ----------
    rate
        The proportion that is expected.
    auc
        The area that is expected.
    width
        How wide the interval may be, from end to end.
    baseline
        The area of the model to be told apart.
    prevalence
        The share of positives among the rows, for areas.
    correlation
        Of the estimates of both areas: 0 of models on different rows, each of so many as the
        answer says; more than 0 on the same rows, often 0.3 to 0.8.
    power
        The probability that the test finds the difference.
    level
        Of the interval; of the test, 1 less the share of false alarms.

    Returns
    -------
    int
        The least number of rows. For a rate, those that it is a share of: divide by the
        prevalence for a recall.

    Raises
    ------
    TypeError, ValueError
        Unless one of `rate` and `auc` is given, one of `width` and `baseline`, and all are
        numbers above 0 and below 1 (`correlation`: above -1).

    Notes
    -----
    Arithmetic, and a search by halves.

    Source: J. Hanley and B. McNeil, The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143, 1982, and A method of comparing the areas under
    receiver operating characteristic curves derived from the same cases, Radiology 148, 1983.

    Examples
    --------
    >>> bm.sample_size(rate=0.8, width=0.1)
    245
    >>> bm.sample_size(auc=0.75, width=0.1, prevalence=0.2)
    691
    >>> bm.sample_size(auc=0.75, baseline=0.70, prevalence=0.2, correlation=0.5)
    1528
    """
    given = {"rate": rate, "auc": auc, "width": width, "baseline": baseline}
    numbers = {name: value for name, value in given.items() if value is not None}
    for names in (("rate", "auc"), ("width", "baseline")):
        if len(numbers.keys() & set(names)) != 1:
            raise ValueError(f"one of `{names[0]}` and `{names[1]}` should be given")
    for name, value in (numbers | {"prevalence": prevalence, "power": power}).items():
        check_inside(name, value, 0)
    check_inside("correlation", correlation, -1)
    z = normal(checked_level(level))
    if rate is not None:
        if width is None:
            raise ValueError("`baseline` is compared with `auc`, not with `rate`")
        return _for_rate(rate, width, z)
    assert auc is not None  # One of the two is given.
    if width is not None:
        return _least(lambda n: 2 * z * sqrt(_variance(auc, n, prevalence)) <= width, prevalence)
    if baseline is None or baseline == auc:
        raise ValueError(f"`baseline` should be another area than `auc`, {auc!r}")

    def found(n: int) -> bool:
        one, other = _variance(auc, n, prevalence), _variance(baseline, n, prevalence)
        if_same = 2 * other * (1 - correlation)
        if_not = one + other - 2 * correlation * sqrt(one * other)
        reach = z * sqrt(if_same) + NormalDist().inv_cdf(power) * sqrt(if_not)
        return reach <= abs(auc - baseline)

    return _least(found, prevalence)


def _for_rate(rate: float, width: float, z: float) -> int:
    """The rows at which Wilson's interval is so wide: a root of a quadratic equation."""
    spread = 4 * rate * (1 - rate)
    shifted = z * z * (spread + sqrt(spread**2 + 4 * width**2 * (1 - spread))) / (2 * width**2)
    return max(1, ceil(shifted - z * z))


def _variance(area: float, n: int, prevalence: float) -> float:
    """Hanley and McNeil's variance of an area."""
    positives, negatives = n * prevalence, n * (1 - prevalence)
    square = area * area
    of_positives = (positives - 1) * (area / (2 - area) - square)
    of_negatives = (negatives - 1) * (2 * square / (1 + area) - square)
    return (area * (1 - area) + of_positives + of_negatives) / (positives * negatives)


def _least(fits: Callable[[int], bool], prevalence: float) -> int:
    """The least number of rows that fits, of those with one of each class."""
    # 1 - 0.8 is a little less than 0.2.
    low = ceil(1 / min(prevalence, 1 - prevalence) - 1e-9) - 1
    high = low + 1
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
