"""Where thresholds enter: one of an expression, many of a frame verb."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Literal, TypeAlias, get_args

import polars as pl

from polars_binmetrics.columns import IntoColumn, column

__all__ = ["dyadic", "every_score", "quantiles", "uniform"]

Pool: TypeAlias = Literal["model", "segment", "overall"]


@dataclass(frozen=True)
class Quantiles:
    """Thresholds that the data set: quantiles of the scores."""

    n: int
    per: Pool


@dataclass(frozen=True)
class EveryScore:
    """Thresholds that the data set: all scores of a segment and model."""

    midpoints: bool


IntoThreshold: TypeAlias = float | IntoColumn
IntoThresholds: TypeAlias = float | Iterable[float] | Quantiles | EveryScore
IntoModelThreshold: TypeAlias = float | Mapping[str, float]
Thresholds: TypeAlias = list[float] | Quantiles | EveryScore


def uniform(n: int, lo: float = 0, hi: float = 1) -> list[float]:
    """
    Thresholds at equal distances, both ends included.

    The i-th of them is ``lo + (hi - lo) * i / (n - 1)``, rounded once: ``uniform(101)`` holds
    0.29, not 0.29 and a bit.

    Parameters
    ----------
    n
        Number of thresholds, at least 2.
    lo, hi
        The first and the last one.

    Returns
    -------
    list of float

    Raises
    ------
    TypeError, ValueError
        Unless `n` is an integer of at least 2, and ``lo < hi`` are finite.

    Notes
    -----
    Scores beyond `lo` and `hi` are counted as any others.

    Examples
    --------
    >>> bm.uniform(5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    check_count("n", n, least=2)
    first, last = _ends(lo, hi)
    return [float(first + (last - first) * Fraction(i, n - 1)) for i in range(n)]


def dyadic(bits: int, lo: float = 0, hi: float = 1) -> list[float]:
    """
    Thresholds at the multiples of ``2**-bits``: the grid for states that are stored.

    Every threshold and every distance is exact in binary, so that any engine, which has nothing
    but a multiplication and a floor, puts every score into the same bin. A grid holds all those
    of fewer bits.

    Parameters
    ----------
    bits
        The distance of two thresholds is ``2**-bits``; at least 0.
    lo, hi
        The first and the last one, both multiples of that distance.

    Returns
    -------
    list of float

    Raises
    ------
    TypeError, ValueError
        Unless `bits` is an integer of at least 0, and ``lo < hi`` are multiples of
        ``2**-bits``.

    Notes
    -----
    Scores beyond `lo` and `hi` are counted as any others.

    Examples
    --------
    >>> bm.dyadic(2)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> bm.dyadic(0, -2, 2)
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    check_count("bits", bits, least=0)
    first, last = (end * 2**bits for end in _ends(lo, hi))
    if first.denominator != 1 or last.denominator != 1:
        raise ValueError(f"`lo` and `hi` should be multiples of 2**-{bits}, got {lo} and {hi}")
    return [float(Fraction(i, 2**bits)) for i in range(int(first), int(last) + 1)]


def quantiles(n: int, *, per: Pool = "model") -> Quantiles:
    """
    Thresholds at quantiles of the scores, from the least score to the greatest.

    The i-th of them is the least score such that a share ``i / (n - 1)`` of the rows, or of
    their weight, has that score or a lower one (the inverted distribution function; nothing is
    interpolated). Quantiles that are equal come out once.

    Parameters
    ----------
    n
        Number of quantiles, at least 2.
    per
        Whose quantiles: those of each `model` over all segments, those of each model in each
        `segment`, or `overall` those of all models and segments together.

    Returns
    -------
    Quantiles
        For the argument `thresholds` of frame verbs, or `bins` of `histogram`.

    Raises
    ------
    TypeError, ValueError
        Unless `n` is an integer of at least 2, and `per` one of the three.

    Notes
    -----
    The rows are counted by distinct score, which takes room for these, and sorted.

    Source: R. Hyndman and Y. Fan, Sample quantiles in statistical packages, The American
    Statistician 50, 1996, definition 1.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.2, 0.4, 0.8]})
    >>> df.binmetrics.counts("score", "y", thresholds=bm.quantiles(3))["threshold"].to_list()
    [0.1, 0.2, 0.8]
    """
    check_count("n", n, least=2)
    if per not in get_args(Pool):
        raise ValueError(f"`per` should be one of {', '.join(get_args(Pool))}, got {per!r}")
    return Quantiles(n, per)


def every_score(*, midpoints: bool = False) -> EveryScore:
    """
    Every score of a segment and model as a threshold: nothing is lost between two of them.

    Parameters
    ----------
    midpoints
        Instead, the points half-way between neighbouring scores, with -inf before the first
        and inf after the last.

    Returns
    -------
    EveryScore
        For the argument `thresholds` of frame verbs, or `bins` of `histogram`.

    Raises
    ------
    TypeError
        When `midpoints` is not True or False.

    Notes
    -----
    The rows are counted by distinct score, which takes room for these, and sorted. Where no
    number lies between two scores, the higher one stands for the midpoint. A segment and model
    without scores has no thresholds.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.3, 0.3, 0.7]})
    >>> df.binmetrics.counts("score", "y", thresholds=bm.every_score())["threshold"].to_list()
    [0.1, 0.3, 0.7]
    >>> halfway = bm.every_score(midpoints=True)
    >>> df.binmetrics.counts("score", "y", thresholds=halfway)["threshold"].to_list()
    [-inf, 0.2, 0.5, inf]
    """
    if not isinstance(midpoints, bool):
        raise TypeError(f"`midpoints` should be True or False, got {midpoints!r}")
    return EveryScore(midpoints)


def threshold_expr(threshold: IntoThreshold) -> pl.Expr:
    """One threshold: a number for all rows, or a column or expression."""
    if isinstance(threshold, str | pl.Expr):
        return column("threshold", threshold).cast(pl.Float64)
    return pl.lit(number("threshold", threshold))


def thresholds_of(argument: str, thresholds: IntoThresholds) -> Thresholds:
    """Thresholds of a frame verb: what the data set, or numbers, sorted, each once."""
    if isinstance(thresholds, Quantiles | EveryScore):
        return thresholds
    if isinstance(thresholds, str) or not isinstance(thresholds, Iterable):
        given = [thresholds]
    else:
        given = list(thresholds)
    if not given:
        raise ValueError(f"`{argument}` should hold at least one number, got none")
    # -0.0 and 0.0 are one threshold; adding 0.0 keeps the positive one.
    return sorted({number(argument, each) + 0.0 for each in given})


def per_model(threshold: IntoModelThreshold, models: Sequence[str]) -> dict[str, float]:
    """The threshold of each model: one number for all, or one for each."""
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(models, number("threshold", threshold))
    if set(threshold) != set(models):
        names = ", ".join(map(repr, models))
        raise ValueError(f"`threshold` should be a number for each of {names}, got {threshold!r}")
    return {model: number("threshold", threshold[model]) for model in models}


def number(argument: str, value: object) -> float:
    """The value as a number that is not NaN."""
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError(f"`{argument}` should be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"`{argument}` should fit into Float64, got {value!r}") from None
    if math.isnan(number):
        raise ValueError(f"`{argument}` should be a number, got NaN")
    return number


def _ends(lo: float, hi: float) -> tuple[Fraction, Fraction]:
    for name, end in (("lo", lo), ("hi", hi)):
        if math.isinf(number(name, end)):
            raise ValueError(f"`{name}` should be finite, got {end!r}")
    if not lo < hi:
        raise ValueError(f"`lo` should be less than `hi`, got {lo!r} and {hi!r}")
    return Fraction(float(lo)), Fraction(float(hi))


def check_count(argument: str, value: object, *, least: int) -> None:
    """Refuse what is no integer of at least so much."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"`{argument}` should be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"`{argument}` should be at least {least}, got {value}")
