"""Rank statistics are what their definitions say, to the last tie."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import inf, log, nextafter, sqrt
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polars_binmetrics as bm
from tests.rows import auc, frames

Point = tuple[Fraction, Fraction]
#: Fawcett, An introduction to ROC analysis, 2006, figure 3.
FAWCETT = pl.DataFrame(
    {
        "a": [
            *[0.9, 0.8, 0.7, 0.6, 0.55, 0.54, 0.53, 0.52, 0.51, 0.505],
            *[0.4, 0.39, 0.38, 0.37, 0.36, 0.35, 0.34, 0.33, 0.3, 0.1],
        ],
        "y": [1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0],
    }
)


def value(
    frame: pl.DataFrame, metric: Any, score: str = "a", weight: str | None = None
) -> float | None:
    """The metric of the frame verb."""
    table = frame.binmetrics.evaluate(score, "y", metrics=[metric], weight=weight)
    found: float | None = table[metric if isinstance(metric, str) else metric.name].item()
    return found


def curve(frame: pl.DataFrame, weight: str | None = None) -> list[Point] | None:
    """The exact ROC curve, from (0, 0) up, a point a score; None with one class only."""
    weighed = frame if weight else frame.with_columns(w=pl.lit(1.0))
    rows = weighed.select("a", "y", "w").drop_nulls().rows()
    sides = [[(s, Fraction(w)) for s, y, w in rows if bool(y) is side] for side in (False, True)]
    totals = [sum((w for _, w in side), Fraction(0)) for side in sides]
    if 0 in totals:
        return None
    thresholds = [inf, *sorted({s for s, _, _ in rows}, reverse=True)]
    reached = [
        [sum((w for s, w in side if s >= t), Fraction(0)) / total for t in thresholds]
        for side, total in zip(sides, totals, strict=True)
    ]
    return list(zip(*reached, strict=True))


def within(points: list[Point], lo: Fraction, hi: Fraction) -> list[Point]:
    """The part of a curve from lo to hi on the first axis; upright at lo only if that is 0."""
    part: list[Point] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 == x1:
            if lo < x0 <= hi or x0 == lo == 0:
                part += [(x0, y0), (x1, y1)]
        elif x1 > lo and x0 < hi:
            ends = [min(max(x, lo), hi) for x in (x0, x1)]
            part += [(x, y0 + (y1 - y0) * (x - x0) / (x1 - x0)) for x in ends]
    return part


def area(points: list[Point]) -> Fraction:
    """Trapezoids below a curve."""
    pairs = pairwise(points)
    return sum(((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairs), Fraction(0))


def across(points: list[Point]) -> list[Point]:
    """The curve seen from the other axis: how far right it leaves room, over its height."""
    return [(y, 1 - x) for x, y in points]


def upper_hull(points: list[Point]) -> list[Point]:
    """The convex hull above a curve (Andrew's monotone chain)."""
    hull: list[Point] = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-1][0]) <= (
            y - hull[-1][1]
        ) * (hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append((x, y))
    return hull


def expected_values(points: list[Point], p: Fraction, n: Fraction) -> dict[str, Any]:
    """Each statistic by its definition, from the exact curve and the totals of both classes."""
    fifth, half = Fraction(1, 5), Fraction(1, 2)
    steps = list(pairwise(points))
    whole = area(points)
    gaps = [abs(y - x) for x, y in points]
    calls = [x * n + y * p for x, y in points]
    room = (p + n) * fifth
    reached = Fraction(0)
    for (before, called), ((_, y0), (_, y1)) in zip(pairwise(calls), steps, strict=True):
        if called > before:
            reached += (y1 - y0) * min(max((room - before) / (called - before), 0), 1)
    return {
        "roc_auc": whole,
        "gini": 2 * whole - 1,
        "ks": max(gaps),
        "average_precision": sum(
            (y1 - y0) * (y1 * p) / (x1 * n + y1 * p) for (_, y0), (x1, y1) in steps if y1 > y0
        ),
        "partial_auc(fpr)": area(within(points, fifth, half)),
        "partial_auc(tpr)": area(within(across(points), fifth, half)),
        "concordant": (
            area(within(points, fifth, half)) + area(across(within(points, fifth, half)))
        )
        / 2,
        "roc_auc_hull": area(upper_hull(points)),
        "capture": reached,
        "lift": reached / fifth,
    }


METRICS: dict[str, Any] = {
    "partial_auc(fpr)": bm.partial_auc(fpr=(0.2, 0.5)),
    "partial_auc(tpr)": bm.partial_auc(tpr=(0.2, 0.5)),
    "concordant": bm.concordant_partial_auc(fpr=(0.2, 0.5)),
    "capture": bm.capture(at=0.2),
    "lift": bm.lift(at=0.2),
}


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_statistics_are_those_of_the_exact_curve(frame: pl.DataFrame, weight: str | None) -> None:
    names = list(expected_values([(Fraction(0),) * 2, (Fraction(1),) * 2], *[Fraction(1)] * 2))
    metrics = [METRICS.get(name, getattr(bm, name, None)).alias(name) for name in names]
    row = frame.binmetrics.evaluate("a", "y", metrics=metrics, weight=weight).row(0, named=True)
    points = curve(frame, weight)
    if points is None:
        assert row["roc_auc"] is None
        assert row["partial_auc(fpr)"] is None
        assert row["roc_auc_hull"] is None
        return
    totals = Fraction(row["n_positive"]), Fraction(row["n_negative"])
    for name, expected in expected_values(points, *totals).items():
        assert row[name] == pytest.approx(float(expected), abs=1e-12), name


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
def test_auc_counts_all_pairs(frame: pl.DataFrame, weight: str | None) -> None:
    columns = ["a", "y"] if weight is None else ["a", "y", "w"]
    used = frame.drop_nulls(columns).select("a", "y", "w").rows()
    expected = auc([(s, y, Fraction(w) if weight else Fraction(1)) for s, y, w in used])
    actual = frame.select(pl.col("a").binmetrics.roc_auc("y", weight=weight)).item()
    assert actual == (None if expected is None else pytest.approx(float(expected), abs=1e-15))


@given(frame=frames(null=False))
def test_auc_has_three_equal_forms(frame: pl.DataFrame) -> None:
    found = value(frame, "roc_auc")
    p = frame["y"].sum()
    n = frame.height - p
    if not p * n:
        assert found is None
        return
    ranks = frame["a"].rank().filter(frame["y"]).sum()
    least, greatest = p * (p + 1) / 2, p * n + p * (p + 1) / 2
    rank_sum_index = (ranks - least) / (greatest - least)
    points = frame.binmetrics.roc_curve("a", "y").sort("threshold", descending=True)
    pairs = list(points.select("fpr", "tpr").rows())
    trapezoids = sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(pairs))
    assert found == pytest.approx(rank_sum_index, abs=1e-12)
    assert found == pytest.approx(trapezoids, abs=1e-12)


@given(frame=frames(null=False))
def test_auc_of_the_negated_score_is_the_complement(frame: pl.DataFrame) -> None:
    there, back = value(frame, "roc_auc"), value(frame.with_columns(-pl.col("a")), "roc_auc")
    assert there == (None if back is None else pytest.approx(1 - back, abs=1e-15))


@pytest.mark.parametrize("weight", [None, "w"])
@given(sizes=st.tuples(st.integers(1, 60), st.integers(1, 60)), weights=st.floats(0.01, 100))
@settings(max_examples=8)
def test_a_perfect_order_gives_exactly_one_and_its_reverse_zero(
    sizes: tuple[int, int], weights: float, weight: str | None
) -> None:
    n, positives = sum(sizes), sizes[1]
    frame = pl.DataFrame({"a": range(n), "y": [i >= n - positives for i in range(n)]})
    frame = frame.with_columns(w=weights / (1 + pl.col("a")))
    mismatched = frame.with_columns(-pl.col("a"))
    assert value(frame, "roc_auc", weight=weight) == 1
    assert value(mismatched, "roc_auc", weight=weight) == 0
    points = frame.binmetrics.roc_curve("a", "y", weight=weight)
    assert (0.0, 1.0) in points.select("fpr", "tpr").rows()


def test_a_random_score_has_an_auc_of_a_half_within_its_standard_error() -> None:
    frame = pl.select(
        a=(pl.int_range(20_000) * 7919) % 20_011, y=(pl.int_range(20_000) * 104_729) % 3 == 0
    )
    p = frame["y"].sum()
    n = frame.height - p
    error = sqrt((p + n + 1) / (12 * p * n))
    found = value(frame, "roc_auc")
    assert found is not None
    assert abs(found - 0.5) < 3 * error


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int8, pl.Int64, pl.UInt64, pl.Decimal(9, 2)])
def test_auc_of_other_types(dtype: pl.DataType) -> None:
    frame = pl.DataFrame({"a": pl.Series([1, 2, 2, 3], dtype=dtype), "y": [0, 0, 1, 1]})
    assert value(frame, "roc_auc") == 0.875


@given(
    scores=st.lists(
        st.sampled_from(
            [-inf, -1e308, -2.5, -0.0, 0.0, 5e-324, 0.1, nextafter(0.1, 1), 1.0, 1e308, inf]
        ),
        min_size=2,
        max_size=20,
    ),
    labels=st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_any_float_has_its_place(scores: list[float], labels: list[bool]) -> None:
    frame = pl.DataFrame({"a": scores, "y": labels[: len(scores)]})
    expected = auc([(s, y, Fraction(1)) for s, y in frame.rows()])
    found = value(frame, "roc_auc")
    assert found == (None if expected is None else pytest.approx(float(expected), abs=1e-15))
    points = frame.binmetrics.counts("a", "y", thresholds=bm.every_score())
    assert points["threshold"].to_list() == sorted(set(scores))


def test_fawcetts_example_has_the_published_parts() -> None:
    """Carrington et al. 2020, table 3: concordant partial AUC of Fawcett's data."""
    parts = [(0, 0.3), (0.3, 0.5), (0.5, 1)]
    found = [value(FAWCETT, bm.concordant_partial_auc(fpr=part)) for part in parts]
    assert found[0] == pytest.approx(0.33)
    assert sum(part for part in found if part) == pytest.approx(0.68)
    assert value(FAWCETT, "roc_auc") == pytest.approx(0.68)


@pytest.mark.parametrize("axis", ["fpr", "tpr"])
@given(frame=frames(null=False), cuts=st.sets(st.integers(1, 9), max_size=3))
@settings(max_examples=8)
def test_parts_add_up_to_the_whole(frame: pl.DataFrame, cuts: set[int], axis: str) -> None:
    ends = [0.0, *(cut / 10 for cut in sorted(cuts)), 1.0]
    parts = {f"{lo}": {axis: (lo, hi)} for lo, hi in pairwise(ends)}
    for metric in (bm.partial_auc, bm.concordant_partial_auc):
        metrics = [metric(**part).alias(name) for name, part in parts.items()]
        row = frame.binmetrics.evaluate("a", "y", metrics=[*metrics, "roc_auc"]).row(0, named=True)
        whole = row["roc_auc"]
        if whole is None:
            assert all(row[name] is None for name in parts)
        else:
            assert sum(row[name] for name in parts) == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("part", [{"fpr": (0.1, 0.4)}, {"tpr": (0.7, 1)}])
def test_mcclish_gives_a_half_to_chance_and_one_to_perfection(part: dict[str, Any]) -> None:
    metric = bm.partial_auc(**part, corrected=True)
    chance = pl.DataFrame({"a": [0.5, 0.5], "y": [0, 1]})
    perfect = pl.DataFrame({"a": [0.1, 0.5], "y": [0, 1]})
    assert value(chance, metric) == pytest.approx(0.5)
    assert value(perfect, metric) == pytest.approx(1)


@given(frame=frames(null=False))
@settings(max_examples=8)
def test_pr_auc_is_the_integral_of_the_interpolated_precision(frame: pl.DataFrame) -> None:
    found, points = value(frame, "pr_auc"), curve(frame)
    if points is None:
        return
    p, n = frame["y"].sum(), (~frame["y"]).sum()
    total, parts = 0.0, 2000
    for (x0, y0), (x1, y1) in pairwise(points):
        for i in range(parts if y1 > y0 else 0):
            share = (i + 0.5) / parts
            tp, fp = (
                float(p * (y0 + (y1 - y0) * Fraction(share))),
                float(n * (x0 + (x1 - x0) * Fraction(share))),
            )
            total += float(y1 - y0) / parts * tp / (tp + fp)
    assert found == pytest.approx(total, abs=1e-5)


def test_pr_auc_of_davis_and_goadrich() -> None:
    """5 TP and 5 FP, then 10 and 30, as in their table 1: counts between grow in proportion."""
    frame = pl.DataFrame(
        {"a": [2.0] * 10 + [1.0] * 30, "y": [1] * 5 + [0] * 5 + [1] * 5 + [0] * 25}
    )
    # Of the 10 positives here: half at precision 1/2, then TP / (TP + FP) from 5/10 to 10/40.
    interpolated = 5 * 1 / 6 + (5 - 10 / 6) / 6 * log(40 / 10)
    assert value(frame, "pr_auc") == pytest.approx((5 / 2 + interpolated) / 10)


@pytest.mark.parametrize(("score", "h"), [("a", 0.8), ("b", 0.5)])
def test_h_of_the_example_of_hmeasure(score: str, h: float) -> None:
    """Two scores of twenty rows in the documentation of R's hmeasure 1.0-2, with their H."""
    frame = pl.DataFrame(
        {
            "y": [0] * 10 + [1] * 10,
            "a": [0.0] * 8 + [0.5] * 4 + [1.0] * 8,
            "b": [0.0] * 5 + [0.5] * 10 + [1.0] * 5,
        }
    )
    assert value(frame, "h_measure", score) == pytest.approx(h, abs=1e-12)
    assert value(frame, "h_measure", score) == pytest.approx(by_costs(frame, score, 1.0), abs=1e-6)


@pytest.mark.parametrize("severity_ratio", [0.25, 1.0, 3.0])
@given(frame=frames(null=False))
@settings(max_examples=8)
def test_h_is_the_share_of_the_expected_cost_saved(
    frame: pl.DataFrame, severity_ratio: float
) -> None:
    found = value(frame, bm.h_measure(severity_ratio=severity_ratio))
    if found is None:
        assert curve(frame) is None
    else:
        assert found == pytest.approx(by_costs(frame, "a", severity_ratio), abs=1e-5)


def by_costs(frame: pl.DataFrame, score: str, severity_ratio: float) -> float:
    """H by a sum over many costs."""
    points = curve(frame.with_columns(a=pl.col(score), y=pl.col("y").cast(pl.Boolean)))
    assert points is not None
    prevalence = frame["y"].cast(pl.Float64).mean()
    assert isinstance(prevalence, float)
    b, parts = 1 + 1 / severity_ratio, 4000
    lost, least = 0.0, 0.0
    rates = [(float(x), float(y)) for x, y in points]
    for i in range(parts):
        c = (i + 0.5) / parts
        density = c * (1 - c) ** (b - 1)
        lost += density * min(
            c * (1 - prevalence) * x + (1 - c) * prevalence * (1 - y) for x, y in rates
        )
        least += density * min(c * (1 - prevalence), (1 - c) * prevalence)
    return 1 - lost / least


@given(frame=frames(null=False))
def test_ks_threshold_is_where_the_distance_is_reached(frame: pl.DataFrame) -> None:
    row = frame.binmetrics.evaluate("a", "y", metrics=["ks", "ks_threshold"]).row(0, named=True)
    if row["ks_threshold"] is None:
        assert row["ks"] in (None, 0)
        return
    points = frame.binmetrics.roc_curve("a", "y").with_columns(
        gap=(pl.col("tpr") - pl.col("fpr")).abs()
    )
    reached = points.filter(pl.col("gap") > row["ks"] - 1e-9)["threshold"]
    assert row["ks_threshold"] == reached.max()


CASES: list[tuple[str, Callable[[], object]]] = [
    ("one of `fpr` and `tpr`", lambda: bm.partial_auc()),
    ("one of `fpr` and `tpr`", lambda: bm.concordant_partial_auc(fpr=(0, 1), tpr=(0, 1))),
    ("`fpr` should be 0 <= least < greatest <= 1", lambda: bm.partial_auc(fpr=(0.2, 0.1))),
    ("`fpr` should be 0 <= least", lambda: bm.partial_auc(fpr=(0.2, 1.1))),
    ("`tpr` should be 0 <= least", lambda: bm.partial_auc(tpr=(-0.1, 1))),
    ("`at` should be above 0", lambda: bm.lift(at=0)),
    ("`at` should be above 0", lambda: bm.capture(at=1.5)),
    ("`severity_ratio` should be positive", lambda: bm.h_measure(severity_ratio=0)),
    ("`fpr` should be 0 <= least", lambda: pl.col("a").binmetrics.partial_auc("y", fpr=(1, 0))),
]


@pytest.mark.parametrize(("message", "call"), CASES)
def test_a_parameter_out_of_range_is_refused_at_once(
    message: str, call: Callable[[], object]
) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_range_is_two_numbers() -> None:
    with pytest.raises(TypeError, match="`fpr` should be two numbers"):
        bm.partial_auc(fpr=0.1)  # type: ignore[arg-type]


NULL = {
    "no rows": pl.DataFrame(schema={"a": pl.Float64, "y": pl.Boolean, "w": pl.Float64}),
    "one row": pl.DataFrame({"a": [0.5], "y": [True], "w": [1.0]}),
    "one class": pl.DataFrame({"a": [0.5, 0.7], "y": [False, False], "w": [1.0, 1.0]}),
    "weights of 0": pl.DataFrame({"a": [0.5, 0.7], "y": [False, True], "w": [0.0, 0.0]}),
    "a NaN score": pl.DataFrame({"a": [0.5, 0.7, float("nan")], "y": [0, 1, 1], "w": [1.0] * 3}),
}
OF_BOTH_CLASSES = ["roc_auc", "gini", "ks", "ks_threshold", "roc_auc_hull", "h_measure"]


@pytest.mark.parametrize("case", NULL)
def test_what_is_undefined_is_null(case: str) -> None:
    parts = [bm.partial_auc(fpr=(0, 0.1)), bm.concordant_partial_auc(tpr=(0, 0.1))]
    names = [*OF_BOTH_CLASSES, "partial_auc", "concordant_partial_auc"]
    table = NULL[case].binmetrics.evaluate("a", "y", metrics=[*OF_BOTH_CLASSES, *parts], weight="w")
    assert table.select(names).row(0) == (None,) * len(names)


def test_equal_scores_rank_nothing() -> None:
    frame = pl.DataFrame({"a": [0.5] * 4, "y": [0, 1, 1, 0]})
    names = ["roc_auc", "gini", "ks", "average_precision", "roc_auc_hull", "h_measure"]
    row = frame.binmetrics.evaluate("a", "y", metrics=names).select(names).row(0)
    assert row == pytest.approx((0.5, 0, 0, 0.5, 0.5, 0))
