"""DeLong's paired test per segment, beside a loop over NumPy arrays and beside two plain areas."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from scipy.stats import rankdata  # type: ignore[import-untyped]

import polars_binmetrics as bm
from benchmarks import contest
from benchmarks.data import MODELS, SEGMENTS

PAIR = MODELS[:2]


def compared(rows: pl.DataFrame) -> list[float]:
    """The standard errors of all segments' differences."""
    table = bm.of(rows).compare(PAIR, "label", metrics="roc_auc", by="segment")
    return table["standard_error"].to_list()


def of_arrays(score: list[Any], label: Any) -> float:
    """The same of one segment, by ranks among all rows and within each class (Sun and Xu, 2014)."""
    variance = 0.0
    for side in (True, False):
        own = label == side
        placed = [rankdata(each)[own] - rankdata(each[own]) for each in score]
        share = (placed[0] - placed[1]) / (~own).sum()
        variance += share.var(ddof=1) / own.sum()
    return float(np.sqrt(variance))


def looped(rows: pl.DataFrame) -> list[float]:
    """The standard errors, a segment after the other."""
    parts = rows.sort("segment").partition_by("segment")
    return [
        of_arrays([part[model].to_numpy() for model in PAIR], part["label"].to_numpy())
        for part in parts
    ]


def areas(rows: pl.DataFrame) -> pl.DataFrame:
    """Two areas a segment, without their test."""
    return bm.of(rows).evaluate(PAIR, "label", metrics="roc_auc", by="segment", thresholds=None)


def compare(rows: pl.DataFrame, repeats: int) -> str:
    """The table."""
    if not np.allclose(compared(rows), looped(rows)):
        raise AssertionError("the standard errors are not the same")
    times = contest.race(
        {
            "polars-binmetrics, `compare`": lambda: compared(rows),
            "polars-binmetrics, two areas alone": lambda: areas(rows),
            "NumPy and SciPy, a loop": lambda: looped(rows),
        },
        repeats,
    )
    ours = next(iter(times))
    lines = [
        contest.Line(name, float(np.median(taken)), contest.ratio(times, name, ours), "")
        for name, taken in times.items()
    ]
    return contest.table(f"DeLong's test of two models, {SEGMENTS} segments", "times ours", lines)
