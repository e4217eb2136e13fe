"""The AUC is the share of the pairs that are in order, to the last tie."""

from __future__ import annotations

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import auc, frames


def roc_auc(frame: pl.DataFrame, score: str = "a", weight: str | None = None) -> float | None:
    value: float | None = frame.select(pl.col(score).binmetrics.roc_auc("y", weight=weight)).item()
    return value


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_auc_counts_all_pairs(frame: pl.DataFrame, weight: str | None) -> None:
    columns = ["a", "y"] if weight is None else ["a", "y", "w"]
    used = frame.drop_nulls(columns).select("a", "y", "w").rows()
    expected = auc([(s, y, Fraction(w) if weight else Fraction(1)) for s, y, w in used])
    actual = roc_auc(frame, weight=weight)
    if expected is None:
        assert actual is None
    else:
        assert actual == pytest.approx(float(expected), abs=1e-15)


@given(frame=frames(null=False))
def test_auc_of_a_hard_score_is_its_balanced_accuracy(frame: pl.DataFrame) -> None:
    hard = frame.with_columns(a=(pl.col("a") >= 0.5).cast(pl.Float64))
    balanced = hard.select(pl.col("a").binmetrics.balanced_accuracy("y")).item()
    assert roc_auc(hard) == (None if balanced is None else pytest.approx(balanced, abs=1e-15))


@given(frame=frames(null=False))
def test_auc_of_the_negated_score_is_the_complement(frame: pl.DataFrame) -> None:
    there, back = roc_auc(frame), roc_auc(frame.with_columns(-pl.col("a")))
    assert there == (None if back is None else pytest.approx(1 - back, abs=1e-15))


@pytest.mark.parametrize("weight", [None, "w"])
@given(sizes=st.tuples(st.integers(1, 60), st.integers(1, 60)), weights=st.floats(0.01, 100))
def test_auc_of_a_perfect_order_is_exactly_one(
    sizes: tuple[int, int], weights: float, weight: str | None
) -> None:
    n, positives = sum(sizes), sizes[1]
    frame = pl.DataFrame({"a": range(n), "y": [i >= n - positives for i in range(n)]})
    frame = frame.with_columns(w=weights / (1 + pl.col("a")))
    assert roc_auc(frame, weight=weight) == 1
    assert roc_auc(frame.with_columns(-pl.col("a")), weight=weight) == 0


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int8, pl.Int64, pl.UInt64, pl.Decimal(9, 2)])
def test_auc_of_other_types(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"a": pl.Series([1, 2, 2, 3], dtype=dtype), "y": [0, 0, 1, 1]})
    assert roc_auc(frame) == 0.875
