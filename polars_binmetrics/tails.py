"""Tail probabilities of the normal and the chi-square distribution, as expressions."""

from __future__ import annotations

from math import exp, gamma, pi, sqrt

import polars as pl

#: The step and the points of the sum: beyond these, nothing is left of Float64.
STEP, POINTS = 0.5, 13


def erfc(x: pl.Expr) -> pl.Expr:
    """
    The complementary error function of numbers of at least 0, to 1e-13 of its value.

    A sum over equally spaced points, which stands for an integral but for the residue of a pole
    (C. Chiarella and A. Reichel, On the evaluation of integrals related to the error function,
    Mathematics of Computation 22, 1968); near 0, where the two cancel, the Maclaurin series. `x`
    is named but a few times, as it may be a long expression.
    """
    points = [n * STEP for n in range(POINTS)]
    weights = [(1 if n == 0 else 2) * exp(-point * point) for n, point in enumerate(points)]
    dtype = pl.Array(pl.Float64, POINTS)
    ones, squares = pl.lit([1.0] * POINTS, dtype), pl.lit([p * p for p in points], dtype)
    terms = pl.lit(weights, dtype) / (x * x * ones + squares)
    far = (x * x * -1).exp() * x * terms.arr.sum() * (STEP / pi)
    residue = pl.when(x < pi / STEP).then(2 / (1 - (x * (2 * pi / STEP)).exp())).otherwise(0.0)
    series = x * (x * x * (x * x * (x * x / 42 - 1 / 10) + 1 / 3) - 1) * (2 / sqrt(pi))
    return pl.when(x < 0.02).then(series + 1).otherwise(far + residue)


def two_sided(z: pl.Expr) -> pl.Expr:
    """The probability that a standard normal number lies at least as far from 0 as `z`."""
    return erfc(z.abs() / sqrt(2))


def chi_square(x: pl.Expr, df: int) -> pl.Expr:
    """The probability that a chi-square number of `df` degrees of freedom is at least `x`."""
    half = x / 2
    # Each two degrees of freedom add a term (Abramowitz and Stegun, 26.4.4 and 26.4.5).
    tail, a = (erfc(half.sqrt()), 0.5) if df % 2 else ((-half).exp(), 1.0)
    while a < df / 2:
        tail = tail + (half.log() * a - half).exp() / gamma(a + 1)
        a += 1
    tail = pl.when((x > 0) & x.is_finite()).then(tail)
    return tail.when(x == 0).then(1.0).when(x.is_infinite()).then(0.0)
