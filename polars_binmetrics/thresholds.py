"""Where thresholds enter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import TypeAlias

import polars as pl

from polars_binmetrics.columns import IntoColumn, column

IntoThreshold: TypeAlias = float | IntoColumn
IntoThresholds: TypeAlias = float | Iterable[float]


def threshold_expr(threshold: IntoThreshold) -> pl.Expr:
    """One threshold: a number for all rows, or a column or expression."""
    if isinstance(threshold, str | pl.Expr):
        return column("threshold", threshold).cast(pl.Float64)
    return pl.lit(_number("threshold", threshold))


def threshold_list(thresholds: IntoThresholds) -> list[float]:
    """Thresholds of a frame verb: sorted, each once."""
    if isinstance(thresholds, str) or not isinstance(thresholds, Iterable):
        given = [thresholds]
    else:
        given = list(thresholds)
    if not given:
        raise ValueError("`thresholds` should hold at least one number, got none")
    # -0.0 and 0.0 are one threshold; adding 0.0 keeps the positive one.
    return sorted({_number("thresholds", each) + 0.0 for each in given})


def _number(argument: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise TypeError(f"`{argument}` should be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"`{argument}` should fit into Float64, got {value!r}") from None
    if math.isnan(number):
        raise ValueError(f"`{argument}` should be a number, got NaN")
    return number
