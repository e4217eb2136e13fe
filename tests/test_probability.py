"""The losses are means over the rows used, of probabilities only."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import erfc, exp, fsum, inf, isclose, log, sqrt

import polars as pl
import pytest
from hypothesis import given, settings

import polars_binmetrics as bm
from polars_binmetrics import of, tails
from polars_binmetrics.registry import METRICS
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
@settings(max_examples=3)
def test_value_is_in_the_declared_range(name: str, weight: str | None, frame: pl.DataFrame) -> None:
    low, high = METRICS[name].range
    actual = value(frame, name, weight)
    assert actual is None or low <= actual <= high


@pytest.mark.parametrize(
    "name",
    [
        *["brier", "log_loss", "brier_skill", "ece", "mce", "spiegelhalter_p", "hosmer_lemeshow"],
        *["brier_reliability", "brier_resolution", "calibration_in_the_large"],
    ],
)
@pytest.mark.parametrize("score", [-0.1, 1.1, inf, -inf])
def test_a_score_that_is_no_probability_makes_the_loss_null(name: str, score: float) -> None:
    frame = pl.DataFrame({"a": [0.2, score], "y": [0, 1]})
    assert value(frame, name) is None


def bins(rows: list[tuple[float, bool, float]], n: int) -> list[tuple[float, float, float]]:
    """Weight, mean score and rate of each bin of equal width that has weight."""
    limits = [i / n for i in range(n)] + [2.0]
    found = []
    for lo, hi in pairwise(limits):
        inside = [(s, y, w) for s, y, w in rows if lo <= s < hi]
        total = fsum(w for _, _, w in inside)
        if total:
            mean, rate = (fsum(w * row[i] for *row, w in inside) / total for i in (0, 1))
            found.append((total, mean, rate))
    return found


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
@settings(max_examples=6)
def test_calibration_errors_are_those_of_the_bins(frame: pl.DataFrame, weight: str | None) -> None:
    table = bins(used(frame, weight), 5)
    n = fsum(size for size, _, _ in table)
    names = ["ece", "mce", "brier_reliability", "brier_resolution", "brier_uncertainty"]
    actual = [value(frame, name, weight) for name in names]
    if not n:
        assert actual == [None] * 5
        return
    base = fsum(size * rate for size, _, rate in table) / n
    expected = [
        fsum(size * abs(mean - rate) for size, mean, rate in table) / n,
        max(abs(mean - rate) for _, mean, rate in table),
        fsum(size * (mean - rate) ** 2 for size, mean, rate in table) / n,
        fsum(size * (rate - base) ** 2 for size, _, rate in table) / n,
        base * (1 - base),
    ]
    assert actual == pytest.approx(expected, abs=1e-12)


@given(frame=frames())
def test_the_parts_of_the_brier_score_make_the_whole(frame: pl.DataFrame) -> None:
    parts = ["brier", "brier_reliability", "brier_resolution", "brier_uncertainty"]
    whole, *rest = (value(frame, name) for name in parts)
    if whole is None:
        assert rest == [None] * 3
        return
    # The scores of the data are one a bin.
    exact = [m(bins=10) for m in (bm.brier_reliability, bm.brier_resolution)]
    row = frame.binmetrics.evaluate("a", "y", metrics=[*exact, "brier_uncertainty", "brier_skill"])
    reliability, resolution, uncertainty, skill = row.select(*parts[1:], "brier_skill").row(0)
    assert whole == pytest.approx(reliability - resolution + uncertainty, abs=1e-12)
    assert skill == (pytest.approx(1 - whole / uncertainty) if uncertainty else None)


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_spiegelhalters_z_is_a_standardised_sum(frame: pl.DataFrame, weight: str | None) -> None:
    rows = used(frame, weight)
    spread = fsum(w * (1 - 2 * s) ** 2 * s * (1 - s) for s, _, w in rows)
    z, p = value(frame, "spiegelhalter_z", weight), value(frame, "spiegelhalter_p", weight)
    if not spread:
        assert z is p is None
        return
    expected = fsum(w * (y - s) * (1 - 2 * s) for s, y, w in rows) / sqrt(spread)
    assert z == pytest.approx(expected, abs=1e-12)
    assert p == pytest.approx(erfc(abs(expected) / sqrt(2)), abs=1e-12)


@given(frame=frames())
def test_hosmer_and_lemeshow_compare_counts_between_quantiles(frame: pl.DataFrame) -> None:
    rows = sorted((s, y) for s, y, _ in used(frame, None))
    found = value(frame, "hosmer_lemeshow")
    if not rows:
        assert found is None
        return
    scores = [s for s, _ in rows]
    # R's quantiles of type 7; a bin is open below and closed above, but for the first.
    limits = []
    for i in range(1, 4):
        place = Fraction(len(rows) - 1) * i / 4
        below = scores[int(place)]
        above = scores[min(int(place) + 1, len(rows) - 1)]
        limits.append(Fraction(below) + (place - int(place)) * (Fraction(above) - Fraction(below)))
    statistic = Fraction(0)
    for k in range(4):
        inside = [(s, y) for s, y in rows if sum(Fraction(s) > limit for limit in limits) == k]
        expected = sum((Fraction(s) for s, _ in inside), Fraction(0))
        gap = (sum(y for _, y in inside) - expected) ** 2
        for size in (expected, len(inside) - expected):
            if inside and size == 0:
                assert found is None or found == inf
                return
            statistic += gap / size if inside else 0
    assert found == pytest.approx(float(statistic), abs=1e-9)


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_calibration_in_the_large_shifts_the_mean_to_the_rate(
    frame: pl.DataFrame, weight: str | None
) -> None:
    shift = value(frame, "calibration_in_the_large", weight)
    rows = used(frame, weight)
    if shift is None:
        between = {bool(y) for s, y, w in rows if w}, [s for s, _, w in rows if w and 0 < s < 1]
        assert len(between[0]) < 2 or not between[1] or any(w and s in (0, 1) for s, _, w in rows)
        return
    odds = [(s / (1 - s) * exp(shift) if s < 1 else inf, w) for s, _, w in rows]
    expected = fsum(w * (o / (1 + o) if o < inf else 1) for o, w in odds)
    assert expected == pytest.approx(fsum(w * y for _, y, w in rows), abs=1e-6)


def test_published_calibration_of_a_fitted_model_is_perfect() -> None:
    """Scores that are the rates of their rows are calibrated in every respect."""
    frame = pl.DataFrame({"a": [0.25] * 4 + [0.5] * 4, "y": [1, 0, 0, 0, 1, 1, 0, 0]})
    names = ["ece", "mce", "brier_reliability", "calibration_in_the_large", "spiegelhalter_z"]
    row = frame.binmetrics.evaluate("a", "y", metrics=names).select(names).row(0)
    assert row == pytest.approx((0, 0, 0, 0, 0), abs=1e-12)


@pytest.mark.parametrize("x", [0, 1e-9, 0.019, 0.021, 0.5, 1.3, 3, 6.28, 6.29, 12, 26])
def test_the_tail_of_the_normal_distribution(x: float) -> None:
    found = pl.DataFrame({"x": [float(x)]}).select(tails.erfc(pl.col("x"))).item()
    assert isclose(found, erfc(x), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("df", "limit"), [(1, 3.841459), (2, 5.991465), (3, 7.814728), (8, 15.507313), (9, 16.918978)]
)
def test_the_tail_of_the_chi_square_distribution(df: int, limit: float) -> None:
    """The limits of 5 % in any table."""
    found = pl.DataFrame({"x": [limit, 0.0, inf]}).select(tails.chi_square(pl.col("x"), df))
    assert found.to_series().to_list() == pytest.approx([0.05, 1, 0], abs=1e-6)


@pytest.mark.parametrize("name", ["ece", "mce", "brier_reliability", "brier_resolution"])
def test_bins_are_a_positive_number(name: str) -> None:
    metric = getattr(bm, name)
    with pytest.raises(ValueError, match="`bins` should be at least 1"):
        metric(bins=0)
    with pytest.raises(TypeError, match="`bins` should be an integer"):
        metric(bins=2.5)
    with pytest.raises(ValueError, match="`bins` should be at least 3"):
        bm.hosmer_lemeshow(bins=2)
