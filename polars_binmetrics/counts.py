"""Where rows are counted: true and false positives and negatives at a threshold."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

import polars as pl

from polars_binmetrics.columns import Clean, Rows

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


def cells(rows: Rows, threshold: pl.Expr, *, strict: bool) -> Cells:
    """Count the rows on each side of a threshold, as four aggregations."""
    called = rows.score > threshold if strict else rows.score >= threshold
    return Cells(
        tp=rows.total(called & rows.positive),
        fp=rows.total(called & ~rows.positive),
        fn=rows.total(~called & rows.positive),
        tn=rows.total(~called & ~rows.positive),
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


def tally(
    clean: Clean, thresholds: list[float], *, strict: bool, missing: bool = False
) -> pl.LazyFrame:
    """Count every model at every threshold: a counts frame, with `n_missing` where asked."""
    sums: dict[str, pl.Expr] = {}
    blocks: list[dict[str, pl.Expr]] = []
    for i, model in enumerate(clean.models):
        rows = clean.of(model)
        sums[f"faulty {i}"] = rows.faulty()
        if missing:
            sums[f"missing {i}"] = rows.score.is_null().cast(pl.Int64).sum()
        unless_faulty = pl.when(~pl.col(f"faulty {i}"))
        for j, threshold in enumerate(thresholds):
            counted = cells(rows, pl.lit(threshold), strict=strict)
            sums |= {f"{name} {i} {j}": getattr(counted, name) for name in CELLS}
            block = {"model": pl.lit(model), "threshold": pl.lit(threshold)}
            block |= {name: unless_faulty.then(pl.col(f"{name} {i} {j}")) for name in CELLS}
            if missing:
                block["n_missing"] = pl.col(f"missing {i}")
            blocks.append(block)
    return clean.reduce(sums, blocks)
