"""Corrections for many tests, and the arguments of tests."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_binmetrics as bm

P_VALUES = st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.3, 1.0])))


def corrected(correction: Any, p_values: list[float | None]) -> list[float | None]:
    frame = pl.DataFrame({"p": p_values}, schema={"p": pl.Float64})
    found: list[float | None] = frame.select(correction("p")).to_series().to_list()
    return found


def test_corrections_are_those_of_r() -> None:
    """p.adjust of R, by hand: the largest of 3 p, and so on."""
    given = [0.01, 0.04, None, 0.03, 0.005]
    assert corrected(bm.holm, given) == pytest.approx([0.03, 0.06, None, 0.06, 0.02])
    assert corrected(bm.benjamini_hochberg, given) == pytest.approx([0.02, 0.04, None, 0.04, 0.02])


@given(p_values=P_VALUES)
def test_holm_refuses_what_a_step_down_test_refuses(p_values: list[float | None]) -> None:
    """Refuse the smallest at alpha / m, the next at alpha / (m - 1), until one is not refused."""
    alpha = 0.05
    known = sorted(p for p in p_values if p is not None)
    refused = 0
    while refused < len(known) and known[refused] <= alpha / (len(known) - refused):
        refused += 1
    found = corrected(bm.holm, p_values)
    assert sum(p is not None and p <= alpha for p in found) == refused
    assert [p is None for p in found] == [p is None for p in p_values]


@given(p_values=P_VALUES)
def test_benjamini_hochberg_refuses_what_a_step_up_test_refuses(
    p_values: list[float | None],
) -> None:
    """Refuse the i smallest for the greatest i of which the i-th is at most alpha i / m."""
    alpha = 0.05
    known = sorted(p for p in p_values if p is not None)
    below = [i for i, p in enumerate(known, start=1) if p * len(known) / i <= alpha]
    found = corrected(bm.benjamini_hochberg, p_values)
    assert sum(p is not None and p <= alpha for p in found) == max(below, default=0)


def test_a_family_is_what_over_says() -> None:
    frame = pl.DataFrame({"g": [1, 2, 1, 2], "p_value": [0.01, 0.04, 0.03, 0.04]})
    table = frame.with_columns(
        bm.holm("p_value").over("g").alias("holm"),
        bm.benjamini_hochberg(pl.col("p_value")).over("g").alias("bh"),
    )
    assert table["holm"].to_list() == [0.02, 0.08, 0.03, 0.08]
    assert table["bh"].to_list() == [0.02, 0.04, 0.03, 0.04]


@pytest.mark.parametrize(
    "call",
    [
        lambda: bm.mcnemar(corrected=1),  # type: ignore[arg-type]
        lambda: bm.mcnemar_exact(mid_p="yes"),  # type: ignore[arg-type]
        lambda: bm.holm(0.05),  # type: ignore[arg-type]
        lambda: bm.benjamini_hochberg([0.1]),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_type_are_refused(call: Any) -> None:
    with pytest.raises(TypeError, match="should be"):
        call()


def test_the_exact_test_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polars_binmetrics.extras.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"polars-binmetrics\[exact\]"):
        bm.mcnemar_exact()


def test_nan_is_no_part_of_a_family() -> None:
    for correction in (bm.holm, bm.benjamini_hochberg):
        given = [0.01, float("nan"), 0.04, 0.02]
        without = [0.01, None, 0.04, 0.02]
        assert corrected(correction, given) == corrected(correction, without)


def test_a_corrected_difference_of_one_row_is_none() -> None:
    frame = pl.DataFrame({"y": [1, 1], "a": [0.1, 0.9], "b": [0.9, 0.9]})
    table = frame.binmetrics.compare(
        ["a", "b"], "y", metrics="tpr", test=bm.mcnemar(corrected=True)
    )
    assert str(table["z"].item()) == "0.0"
