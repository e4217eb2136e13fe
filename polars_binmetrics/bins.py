"""Where a score finds its bin among fixed thresholds, exactly and without a search per row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import polars as pl

#: Tables of at most this many cells stay in a processor's cache.
MOST_CELLS = 2**16


class CellMap(NamedTuple):
    """A map of the scores onto whole numbers that never falls: ``(score - lo) * scale``."""

    number: int
    lo: float
    scale: float

    def of(self, score: pl.Expr) -> pl.Expr:
        """The cell of a score; null for NaN."""
        if self.number == 1:
            return pl.lit(0, pl.UInt32)
        cell = ((score - self.lo) * self.scale).clip(0, self.number - 1)
        return cell.cast(pl.UInt32, strict=False)

    def of_number(self, score: float) -> int:
        """The cell of a number, by the same operations."""
        if self.number == 1:
            return 0
        return int(min(max((score - self.lo) * self.scale, 0), self.number - 1))


def reached(
    frame: pl.LazyFrame, scores: Mapping[str, str], thresholds: Sequence[float], *, strict: bool
) -> pl.LazyFrame:
    """
    Add how many of the sorted thresholds each score reaches, for columns `{name: score}`.

    Null for a null score, and one more than there are thresholds for NaN.

    A score's cell says how many thresholds lie in lower cells. Those in its own cell, most
    often none or one, are found by bisection: a comparison a step.
    """
    cells, most = _cells(thresholds)
    within = Counter(map(cells.of_number, thresholds))
    below = [0, *accumulate(within[cell] for cell in range(cells.number - 1))]
    first, *rest = [2**k for k in reversed(range(most.bit_length()))]
    # No score but NaN reaches NaN.
    padded = [*thresholds, *[math.nan] * (2 * first)]
    base = _table(below, pl.UInt32)
    pivots = _table([padded[count + first - 1] for count in below], pl.Float64)
    table = _table(padded, pl.Float64)

    def passed(score: str, pivot: pl.Expr, step: int) -> pl.Expr:
        passes = pl.col(score) > pivot if strict else pl.col(score) >= pivot
        count = passes.cast(pl.UInt32)
        return count * step if step > 1 else count

    def start(cell: pl.Expr, score: str) -> pl.Expr:
        return base.gather(cell) + passed(score, pivots.gather(cell), first)

    def go_on(place: pl.Expr, score: str, step: int) -> pl.Expr:
        return place + passed(score, table.gather(place + (step - 1)), step)

    def finish(place: pl.Expr, score: str) -> pl.Expr:
        return pl.when(pl.col(score).is_nan()).then(len(thresholds) + 1).otherwise(place)

    frame = frame.with_columns(**{to: cells.of(pl.col(score)) for to, score in scores.items()})
    frame = frame.with_columns(**{to: start(pl.col(to), score) for to, score in scores.items()})
    for step in rest:
        frame = frame.with_columns(
            **{to: go_on(pl.col(to), score, step) for to, score in scores.items()}
        )
    return frame.with_columns(**{to: finish(pl.col(to), score) for to, score in scores.items()})


def _cells(thresholds: Sequence[float]) -> tuple[CellMap, int]:
    """Cells so fine that each holds one threshold, or few; and the most that one holds."""
    finite = [threshold for threshold in thresholds if math.isfinite(threshold)]
    best = CellMap(1, 0, 0), len(thresholds)
    number = 2
    while finite and best[1] > 1 and number <= max(MOST_CELLS, 4 * len(thresholds)):
        lo, hi = finite[0], finite[-1]
        scale = number / (hi - lo) if hi > lo else math.inf
        if number >= 2 * len(thresholds) and 0 < scale < math.inf:
            cells = CellMap(number, lo, scale)
            most = max(Counter(map(cells.of_number, thresholds)).values())
            best = min(best, (cells, most), key=lambda each: each[1].bit_length())
        number *= 2
    return best


def _table(values: Sequence[float], dtype: type[pl.DataType]) -> pl.Expr:
    return pl.lit(pl.Series("", values, dtype))
