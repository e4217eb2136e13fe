"""Where rows are counted: true and false positives and negatives at a threshold."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

import polars as pl

from polars_binmetrics.columns import Rows

CELLS = ["tp", "fp", "fn", "tn"]


class Cells(NamedTuple):
    """The four counts of a confusion matrix and the threshold they were taken at."""

    tp: pl.Expr
    fp: pl.Expr
    fn: pl.Expr
    tn: pl.Expr
    threshold: pl.Expr


#: The counts as they stand in the columns of a counts frame.
COLUMNS = Cells(*map(pl.col, Cells._fields))


def members(rows: Rows, threshold: pl.Expr, *, strict: bool) -> dict[str, pl.Expr]:
    """Whether a row is in each of the cells; null without a score."""
    called = rows.score > threshold if strict else rows.score >= threshold
    return {
        "tp": called & rows.positive,
        "fp": called & ~rows.positive,
        "fn": ~called & rows.positive,
        "tn": ~called & ~rows.positive,
    }


def cells(rows: Rows, threshold: pl.Expr, *, strict: bool) -> Cells:
    """Count the rows on each side of a threshold, as four aggregations."""
    within = members(rows, threshold, strict=strict)
    return Cells(
        **{cell: rows.total(where) for cell, where in within.items()},
        # Counts that were taken at several thresholds have none.
        threshold=pl.when(threshold.min() == threshold.max()).then(threshold.min()),
    )


def sound(rows: Rows, threshold: pl.Expr) -> pl.Expr:
    """Whether no row used is at fault and none is held against a NaN threshold."""
    return ~(rows.faulty() | (threshold.is_nan() & rows.score.is_not_null()).any())


def confusion(rows: Rows, threshold: pl.Expr, *, strict: bool) -> pl.Expr:
    """The four counts as one struct, named after the score."""
    dtype = pl.Array(pl.Int64 if rows.weight is None else pl.Float64, len(CELLS))
    counted = cells(rows, threshold, strict=strict)[: len(CELLS)]
    # pl.struct would put all columns of a multi-column score into one struct;
    # arithmetic on arrays gives one struct a column.
    units = [pl.lit([int(i == j) for j in range(len(CELLS))], dtype) for i in range(len(CELLS))]
    array = reduce(add, (count * unit for count, unit in zip(counted, units, strict=True)))
    return pl.when(sound(rows, threshold)).then(array).arr.to_struct(CELLS)
