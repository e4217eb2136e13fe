"""Tail probabilities of the normal and the chi-square distribution, as arithmetic of expressions."""

from __future__ import annotations

from math import gamma, pi, sqrt

import polars as pl

#: Terms enough for the last digit on either side of the limit.
SERIES, FRACTION, LIMIT = 40, 80, 2.0


def erfc(x: pl.Expr) -> pl.Expr:
    """
    The complementary error function of numbers of at least 0, to 1e-13 of its value.

    A series of positive terms near 0 and a continued fraction beyond (Abramowitz and Stegun,
    7.1.6 and 7.1.14).
    """
    square = x * x
    series = pl.lit(1.0)
    for n in reversed(range(SERIES)):
        series = series * square * 2 / (2 * n + 3) + 1
    near = -((-square).exp() * x * series * 2 / sqrt(pi)) + 1
    fraction = x
    for n in reversed(range(1, FRACTION)):
        fraction = pl.lit(n / 2) / fraction + x
    far = (-square).exp() / (fraction * sqrt(pi))
    return pl.when(x < LIMIT).then(near).otherwise(far)


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
    return pl.when(x > 0).then(tail).when(x == 0).then(1.0)
