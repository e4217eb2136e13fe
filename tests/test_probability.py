"""The losses are means over the rows used, of probabilities only."""

from __future__ import annotations

from fractions import Fraction
from math import fsum, inf, log

import polars as pl
import pytest
from hypothesis import given

from polars_binmetrics import of
from polars_binmetrics.evaluate import METRICS
from tests.expected import SCORE_METRICS
from tests.rows import frames


def value(frame: pl.DataFrame, name: str, weight: str | None = None) -> float | None:
    method = getattr(of(pl.col("a")), name)
    result: float | None = frame.select(method("y", weight=weight, **SCORE_METRICS[name])).item()
    return result


def used(frame: pl.DataFrame, weight: str | None) -> list[tuple[float, bool, float]]:
    weighted = frame if weight else frame.with_columns(w=pl.lit(1.0))
    return weighted.select("a", "y", "w").drop_nulls().rows()


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_brier_is_the_mean_squared_distance(frame: pl.DataFrame, weight: str | None) -> None:
    rows = [(Fraction(w), (Fraction(s) - y) ** 2) for s, y, w in used(frame, weight)]
    total = sum(w for w, _ in rows)
    expected = float(sum(w * loss for w, loss in rows) / total) if total else None
    actual = value(frame, "brier", weight)
    assert actual == (None if expected is None else pytest.approx(expected, abs=1e-15))


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_log_loss_is_the_mean_surprise(frame: pl.DataFrame, weight: str | None) -> None:
    given_to_outcome = [(s if y else 1 - s, w) for s, y, w in used(frame, weight) if w]
    total = fsum(w for _, w in given_to_outcome)
    losses = [w * (-log(p) if p else inf) for p, w in given_to_outcome]
    expected = fsum(losses) / total if total else None
    actual = value(frame, "log_loss", weight)
    assert actual == (None if expected is None else pytest.approx(expected, rel=1e-12, abs=1e-15))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", [name for name in SCORE_METRICS if METRICS[name].best is not None])
def test_a_perfect_score_reaches_exactly_the_best_value(name: str, weight: str | None) -> None:
    frame = pl.DataFrame({"a": [0.0, 1.0] * 49, "y": [0, 1] * 49, "w": [0.1, 0.3] * 49})
    assert value(frame, name, weight) == METRICS[name].best


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", SCORE_METRICS)
@given(frame=frames())
def test_value_is_in_the_declared_range(name: str, weight: str | None, frame: pl.DataFrame) -> None:
    low, high = METRICS[name].range
    actual = value(frame, name, weight)
    assert actual is None or low <= actual <= high


@pytest.mark.parametrize("name", ["brier", "log_loss"])
@pytest.mark.parametrize("score", [-0.1, 1.1, inf, -inf])
def test_a_score_that_is_no_probability_makes_the_loss_null(name: str, score: float) -> None:
    frame = pl.DataFrame({"a": [0.2, score], "y": [0, 1]})
    assert value(frame, name) is None
