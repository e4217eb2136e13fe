"""Numbers that carry their slopes, so that the one formula of a metric gives these, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

Number: TypeAlias = pl.Expr | float


@dataclass(frozen=True)
class Dual:
    """A number and how fast it grows with each of some others; 0 where not said."""

    value: Number
    slopes: Mapping[str, Number]

    def __add__(self, other: Dual | Number) -> Dual:
        right = _dual(other)
        return Dual(self.value + right.value, _added(self.slopes, right.slopes))

    __radd__ = __add__

    def __sub__(self, other: Dual | Number) -> Dual:
        return self + _dual(other) * -1.0

    def __rsub__(self, other: Number) -> Dual:
        return self * -1.0 + other

    def __mul__(self, other: Dual | Number) -> Dual:
        right = _dual(other)
        slopes = _added(_scaled(self.slopes, right.value), _scaled(right.slopes, self.value))
        return Dual(self.value * right.value, slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Dual | Number) -> Dual:
        right = _dual(other)
        value = self.value / right.value
        rise = _added(self.slopes, _scaled(right.slopes, value * -1.0))
        return Dual(value, {name: slope / right.value for name, slope in rise.items()})

    def __rtruediv__(self, other: Number) -> Dual:
        return _dual(other) / self

    def sqrt(self) -> Dual:
        """The square root."""
        root = self.value**0.5
        return Dual(root, {name: slope / (root * 2.0) for name, slope in self.slopes.items()})


def _dual(number: Dual | Number) -> Dual:
    return number if isinstance(number, Dual) else Dual(number, {})


def _scaled(slopes: Mapping[str, Number], by: Number) -> Mapping[str, Number]:
    return {name: slope * by for name, slope in slopes.items()}


def _added(left: Mapping[str, Number], right: Mapping[str, Number]) -> Mapping[str, Number]:
    both = {name: left[name] + right[name] for name in left if name in right}
    return {**left, **right, **both}
