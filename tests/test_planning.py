"""Sample sizes: published ones, and intervals and tests of samples of that size."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_binmetrics as bm


@pytest.mark.parametrize(("power", "rows"), [(0.8, 652), (0.9, 897)])
def test_two_areas_need_the_rows_that_hanley_and_mcneil_list(power: float, rows: int) -> None:
    """Radiology 143, 1982, table III: areas of 0.70 and 0.75, one-sided test, per class."""
    found = bm.sample_size(auc=0.75, baseline=0.70, power=power, level=0.9) / 2
    # Their table leaves out what is of the order of 1 / rows^2.
    assert found == pytest.approx(rows, rel=0.003)


@given(k=st.integers(1, 99), width=st.floats(0.01, 0.9))
def test_wilsons_interval_is_as_wide_as_asked_and_no_row_is_too_many(k: int, width: float) -> None:
    rate = k / 100
    n = bm.sample_size(rate=rate, width=width)

    def width_of(n: int) -> float:
        counts = pl.DataFrame({"tp": [rate * n], "fp": [0.0], "fn": [(1 - rate) * n], "tn": [0.0]})
        table = counts.binmetrics.rates("recall", interval=0.95)
        reach: float = table["recall_high"].item() - table["recall_low"].item()
        return reach

    assert width_of(n) <= width + 1e-12
    assert n == 1 or width_of(n - 1) > width - 1e-12


def test_an_interval_of_an_area_needs_fewer_rows_where_classes_are_even() -> None:
    even, rare = (bm.sample_size(auc=0.8, width=0.1, prevalence=p) for p in (0.5, 0.05))
    assert even < rare
    assert bm.sample_size(auc=0.8, width=0.1, prevalence=0.95) > even


@pytest.mark.parametrize("prevalence", [0.2, 0.8, 0.1, 0.9])
def test_one_row_of_the_rarer_class_may_do(prevalence: float) -> None:
    n = bm.sample_size(auc=0.99, width=0.9, prevalence=prevalence)
    assert n == round(1 / min(prevalence, 1 - prevalence))


def test_models_on_the_same_rows_need_fewer() -> None:
    apart, together = (bm.sample_size(auc=0.8, baseline=0.75, correlation=r) for r in (0.0, 0.6))
    assert together < apart / 2


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({}, ValueError, "one of `rate` and `auc` should be given"),
        ({"rate": 0.5}, ValueError, "one of `width` and `baseline` should be given"),
        ({"rate": 0.5, "auc": 0.5, "width": 0.1}, ValueError, "one of `rate` and `auc`"),
        ({"rate": 0.5, "baseline": 0.4}, ValueError, "`baseline` is compared with `auc`"),
        ({"auc": 0.5, "baseline": 0.5}, ValueError, "`baseline` should be another area"),
        ({"rate": 1.5, "width": 0.1}, ValueError, "`rate` should be above 0 and below 1"),
        ({"rate": "0.5", "width": 0.1}, TypeError, "`rate` should be a number"),
        ({"auc": 0.7, "width": 0.1, "prevalence": 0}, ValueError, "`prevalence` should be"),
        ({"auc": 0.7, "baseline": 0.6, "power": 1}, ValueError, "`power` should be"),
        ({"auc": 0.7, "baseline": 0.6, "correlation": 1}, ValueError, "`correlation` should be"),
        ({"auc": 0.7, "width": 0.1, "level": 95}, ValueError, "`level` should be"),
    ],
)
def test_bad_arguments_are_named(options: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        bm.sample_size(**options)
