"""Curves are the counts along the thresholds, from one exact end to the other."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.exceptions import ColumnNotFoundError, DuplicateError
from polars.testing import assert_frame_equal, assert_series_equal
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

import polars_binmetrics as bm
from tests.rows import frames, tally

CURVES = ["roc_curve", "pr_curve", "det_curve", "gain_curve"]
CELLS = ["tp", "fp", "fn", "tn"]
SPECS: list[Any] = [
    bm.every_score(),
    bm.every_score(midpoints=True),
    bm.quantiles(3),
    [0.3, 0.5],
    bm.uniform(5, -1, 2),
]


def both_classes(frame: pl.DataFrame) -> bool:
    return frame.drop_nulls(["a", "y"])["y"].n_unique() == 2


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("thresholds", SPECS, ids=repr)
@given(frame=frames())
@settings(max_examples=8)
def test_a_roc_curve_goes_from_corner_to_corner_by_the_counts(
    thresholds: Any, strict: bool, frame: pl.DataFrame
) -> None:
    curve = frame.binmetrics.roc_curve("a", "y", thresholds=thresholds, strict=strict)
    rows = frame.select("a", "y").rows()
    for threshold, *cells in curve.select("threshold", *CELLS).rows():
        above = np.nextafter(threshold, inf) if strict and threshold > -inf else threshold
        assert tuple(cells) == tally(rows, above), threshold
    assert curve["threshold"].to_list() == sorted(curve["threshold"])
    assert curve["threshold"].is_unique().all()
    if both_classes(frame):
        points = curve.select("fpr", "tpr").rows()
        assert points[0] == (1, 1)
        assert points[-1] == (0, 0)
        assert curve["threshold"][-1] == inf


@given(frame=frames(null=False))
@settings(max_examples=8)
def test_curves_are_those_of_scikit_learn(frame: pl.DataFrame) -> None:
    if not both_classes(frame):
        return
    label, score = frame["y"].to_numpy(), frame["a"].to_numpy()
    fpr, tpr, at = sk.roc_curve(label, score, drop_intermediate=False)
    ours = frame.binmetrics.roc_curve("a", "y").sort("threshold", descending=True)
    np.testing.assert_allclose(ours.select("threshold", "fpr", "tpr").to_numpy().T, [at, fpr, tpr])
    precision, recall, at = sk.precision_recall_curve(label, score)
    ours = frame.binmetrics.pr_curve("a", "y")
    # Where nothing is called positive, scikit-learn says a precision of 1.
    np.testing.assert_allclose(ours["precision"].fill_null(1), precision)
    np.testing.assert_allclose(ours["recall"], recall)
    fpr, fnr, at = sk.det_curve(label, score, drop_intermediate=False)
    ours = frame.binmetrics.det_curve("a", "y").filter(pl.col("threshold").is_in(at))
    np.testing.assert_allclose(ours.select("threshold", "fpr", "fnr").to_numpy().T, [at, fpr, fnr])


@given(frame=frames())
def test_gains_are_shares_of_rows_and_positives(frame: pl.DataFrame) -> None:
    for row in frame.binmetrics.gain_curve("a", "y").iter_rows(named=True):
        called, n = row["tp"] + row["fp"], sum(row[cell] for cell in CELLS)
        positives = row["tp"] + row["fn"]
        assert row["predicted_positive_rate"] == (called / n if n else None)
        assert row["tpr"] == (row["tp"] / positives if positives else None)
        if called and positives:
            assert row["lift"] == pytest.approx((row["tp"] / called) / (positives / n))
        else:
            assert row["lift"] is None


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames())
@settings(max_examples=8)
def test_without_collinear_points_the_curve_is_the_same(
    frame: pl.DataFrame, weight: str | None
) -> None:
    whole = frame.binmetrics.roc_curve(["a", "b"], "y", by="segment", weight=weight)
    bent = frame.binmetrics.roc_curve(
        ["a", "b"], "y", by="segment", weight=weight, drop_collinear=True
    )
    keys = ["segment", "model", "threshold"]
    kept = whole.join(bent.select(keys), on=keys, nulls_equal=True, maintain_order="left")
    assert kept.height == bent.height
    for one, other in zip(kept.rows(), bent.rows(), strict=True):
        assert one == pytest.approx(other, abs=1e-12, nan_ok=True)
    for (segment, model), part in whole.drop_nulls(["fpr", "tpr"]).group_by("segment", "model"):
        line = bent.filter(pl.col("segment").eq_missing(segment), model=model)
        line = line.drop_nulls(["fpr", "tpr"])
        xs, ys = line["fpr"].to_list(), line["tpr"].to_list()
        for i in range(1, len(xs) - 1):
            turn = (xs[i] - xs[i - 1]) * (ys[i + 1] - ys[i]) - (ys[i] - ys[i - 1]) * (
                xs[i + 1] - xs[i]
            )
            assert abs(turn) > 1e-13
        for x, y in part.select("fpr", "tpr").rows():
            assert distance(x, y, list(zip(xs, ys, strict=True))) < 1e-9


def distance(x: float, y: float, line: list[tuple[float, float]]) -> float:
    """Of a point from the nearest stretch of a line."""
    nearest = inf
    for (x0, y0), (x1, y1) in pairwise(line):
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        share = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length if length else 0
        share = min(max(share, 0), 1)
        nearest = min(nearest, abs(x - x0 - share * (x1 - x0)) + abs(y - y0 - share * (y1 - y0)))
    return nearest


def test_straight_stretches_are_dropped() -> None:
    frame = pl.DataFrame({"a": range(6), "y": [0, 0, 0, 1, 1, 1]})
    points = frame.binmetrics.roc_curve("a", "y", drop_collinear=True)
    assert points.select("threshold", "fpr", "tpr").rows() == [(0, 1, 1), (3, 0, 1), (inf, 0, 0)]


@given(frame=frames(), weight=st.sampled_from([None, "w"]))
@settings(max_examples=8)
def test_the_hull_holds_the_curve_and_turns_one_way(
    frame: pl.DataFrame, weight: str | None
) -> None:
    ask = {"by": "segment", "weight": weight}
    curve = frame.binmetrics.roc_curve("a", "y", **ask)
    hull = frame.binmetrics.roc_hull("a", "y", **ask)
    for (segment,), part in curve.drop_nulls(["fpr", "tpr"]).group_by("segment"):
        corners = hull.filter(pl.col("segment").eq_missing(segment))
        points = part.select("threshold", "fpr", "tpr").rows()
        line = corners.select("threshold", "fpr", "tpr").rows()
        assert line[0][1:] == (1, 1)
        assert line[-1] == (inf, 0, 0)
        for corner in line:
            assert any(corner == pytest.approx(point, abs=1e-12) for point in points)
        for _, x, y in points:
            for (_, x1, y1), (_, x0, y0) in pairwise(line):
                assert (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0) <= 1e-12


def test_a_curve_below_the_diagonal_has_the_hull_of_its_ends() -> None:
    frame = pl.DataFrame({"a": [0.1, 0.2, 0.3, 0.4], "y": [1, 1, 0, 0]})
    hull = frame.binmetrics.roc_hull("a", "y").select("threshold", "fpr", "tpr")
    assert hull.rows() == [(0.1, 1, 1), (inf, 0, 0)]
    row = frame.binmetrics.evaluate("a", "y", metrics=["roc_auc", "roc_auc_hull"])
    assert row.select("roc_auc", "roc_auc_hull").row(0) == (0, 0.5)


def test_rows_of_no_weight_hide_no_corner_of_the_hull() -> None:
    frame = pl.DataFrame({"a": [0.0, 0.1, 0.3], "y": [0, 1, 1], "w": [0.25, 0.0, 0.25]})
    table = frame.binmetrics.evaluate("a", "y", metrics="roc_auc_hull", weight="w")
    assert table["roc_auc_hull"].item() == 1
    expression = pl.col("a").binmetrics.roc_auc_hull("y", weight="w")
    assert frame.select(expression).item() == 1


@pytest.mark.parametrize("n", [2_000])
def test_a_hull_with_many_corners_is_found(n: int) -> None:
    """Positives grow rarer with the score's fall, so that every step is a corner."""
    rows = [(float(n - i), n - i, i + 1) for i in range(n)]
    frame = pl.DataFrame(
        [(s, y, p if y else q) for s, p, q in rows for y in (True, False)],
        schema=["a", "y", "w"],
        orient="row",
    )
    assert frame.binmetrics.roc_hull("a", "y", weight="w").height == n + 1


@pytest.mark.parametrize("rate", ["fpr", "tpr"])
@given(frame=frames(null=False), wanted=st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]))
def test_chance_between_two_thresholds_attains_any_rate(
    frame: pl.DataFrame, rate: str, wanted: float
) -> None:
    if not both_classes(frame):
        return
    hull = frame.binmetrics.roc_hull("a", "y")
    row = hull.binmetrics.attain(**{rate: wanted}).row(0, named=True)
    points = {t: (x, y) for t, x, y in hull.select("threshold", "fpr", "tpr").rows()}
    (x0, y0), (x1, y1) = points[row["threshold"]], points[row["other_threshold"]]
    share = row["probability"]
    assert 0 <= share < 1
    assert row["fpr"] == pytest.approx(x0 + share * (x1 - x0), abs=1e-12)
    assert row["tpr"] == pytest.approx(y0 + share * (y1 - y0), abs=1e-12)
    assert row[rate] == pytest.approx(wanted, abs=1e-12)
    lines = [(p, q) for p in points.values() for q in points.values()]
    other = "tpr" if rate == "fpr" else "fpr"
    i = 0 if rate == "fpr" else 1
    reachable = [
        p[1 - i] + (q[1 - i] - p[1 - i]) * ((wanted - p[i]) / (q[i] - p[i]) if q[i] != p[i] else 0)
        for p, q in lines
        if min(p[i], q[i]) <= wanted <= max(p[i], q[i])
    ]
    best = max(reachable) if rate == "fpr" else min(reachable)
    assert row[other] == pytest.approx(best, abs=1e-12)


@given(frame=frames(null=False))
@settings(max_examples=8)
def test_a_cost_curve_is_the_lower_envelope(frame: pl.DataFrame) -> None:
    if not both_classes(frame):
        return
    lines = frame.binmetrics.roc_curve("a", "y").select("fpr", "tpr").rows()
    curve = frame.binmetrics.cost_curve("a", "y")
    xs, ys = curve["probability_cost"].to_numpy(), curve["normalized_expected_cost"].to_numpy()
    assert (xs[0], xs[-1]) == (0, 1)
    assert curve["probability_cost"].to_list() == sorted(curve["probability_cost"])
    for x in [0, 0.1, 0.3, 0.5, 0.8, 1, *xs]:
        least = min((1 - tpr) * x + fpr * (1 - x) for fpr, tpr in lines)
        assert np.interp(x, xs, ys) == pytest.approx(least, abs=1e-12)


CURVES_OF_RANKS = [*CURVES, "roc_hull", "cost_curve"]


@pytest.mark.parametrize("name", CURVES_OF_RANKS)
@given(frame=frames(), rollup=st.booleans())
@settings(max_examples=8)
def test_infinite_scores_are_the_least_and_the_greatest(
    name: str, rollup: bool, frame: pl.DataFrame
) -> None:
    ends = {0.0: -inf, 1.0: inf}
    infinite = frame.with_columns(pl.col("a", "b").replace(ends))
    one, other = (
        getattr(rows.binmetrics, name)(["a", "b"], "y", by="segment", rollup=rollup)
        for rows in (frame, infinite)
    )
    assert_frame_equal(one.drop("threshold"), other.drop("threshold"))
    assert_series_equal(one["threshold"].replace(ends), other["threshold"])


@pytest.mark.parametrize(("fp", "fn"), [(1.0, 1.0), (1.0, 5.0), (3.0, 1.0)])
@given(frame=frames(null=False))
@settings(max_examples=8)
def test_the_best_threshold_of_any_costs_is_on_the_hull(
    frame: pl.DataFrame, fp: float, fn: float
) -> None:
    if not both_classes(frame):
        return
    cost = bm.expected_cost(fp=fp, fn=fn)
    best = frame.binmetrics.best_threshold("a", "y", criterion=bm.minimum(cost))
    hull = frame.binmetrics.roc_hull("a", "y").binmetrics.rates(cost)
    somewhere = frame.binmetrics.roc_curve("a", "y").binmetrics.rates(cost)
    assert hull["expected_cost"].min() == pytest.approx(somewhere["expected_cost"].min())
    assert best["expected_cost"].item() >= hull["expected_cost"].min() - 1e-12


@given(frame=frames(null=False))
def test_a_decision_curve_weighs_harm_by_the_odds(frame: pl.DataFrame) -> None:
    curve = frame.binmetrics.decision_curve("a", "y", thresholds=[0, 0.1, 0.5, 0.7])
    n, positives = frame.height, int(frame["y"].sum())
    for row in curve.iter_rows(named=True):
        t = row["threshold"]
        tp, fp, *_ = tally(frame.select("a", "y").rows(), t)
        if not n:
            assert row["net_benefit"] is row["treat_all"] is row["treat_none"] is None
            continue
        odds = t / (1 - t)
        assert row["net_benefit"] == pytest.approx(tp / n - odds * fp / n)
        assert row["treat_all"] == pytest.approx(positives / n - odds * (n - positives) / n)
        assert row["treat_none"] == 0
        if t == 0:
            assert row["interventions_avoided"] is None
        else:
            avoided = (row["net_benefit"] - row["treat_all"]) / odds
            assert row["interventions_avoided"] == pytest.approx(avoided)


@given(frame=frames(null=False))
@settings(max_examples=8)
def test_calibration_bins_are_those_of_scikit_learn(frame: pl.DataFrame) -> None:
    if not both_classes(frame):
        return
    # Its bins are closed above, ours below; scores on a limit would tell.
    frame = frame.with_columns(pl.col("a") * 0.97 + 0.013)
    rate, mean = calibration_curve(frame["y"].to_numpy(), frame["a"].to_numpy(), n_bins=10)
    curve = frame.binmetrics.calibration_curve("a", "y")
    assert curve["n"].sum() == frame.height
    assert curve["threshold"].to_list() == bm.uniform(11)[:-1]
    filled = curve.filter(pl.col("n") > 0)
    np.testing.assert_allclose(filled["mean_score"], mean)
    np.testing.assert_allclose(filled["observed_rate"], rate)
    assert (
        curve.filter(n=0).select("mean_score", "observed_rate").null_count().sum_horizontal().sum()
        == 2 * (curve["n"] == 0).sum()
    )


def test_calibration_bins_lose_no_row() -> None:
    frame = pl.DataFrame({"a": [-1.0, 0.0, 0.5, 1.0, 2.0, None], "y": [0, 0, 1, 1, 1, 1]})
    curve = frame.binmetrics.calibration_curve("a", "y", bins=[0, 0.5, 1])
    assert curve.drop("model").rows() == [
        (None, 1, -1.0, 0.0),
        (0.0, 1, 0.0, 0.0),
        (0.5, 3, pytest.approx(3.5 / 3), 1.0),
    ]
    by_size = frame.binmetrics.calibration_curve("a", "y", bins=bm.quantiles(3))
    assert by_size["n"].to_list() == [2, 3]


@pytest.mark.parametrize("name", [*CURVES, "roc_hull", "cost_curve", "decision_curve"])
def test_a_frame_without_rows_has_a_curve_without_rates(name: str) -> None:
    frame = pl.DataFrame(schema={"a": pl.Float64, "y": pl.Boolean, "g": pl.String})
    table = getattr(frame.binmetrics, name)("a", "y")
    assert table.drop("model", "threshold", *CELLS, strict=False).null_count().row(0) == (
        table.height,
    ) * (table.width - len({"model", "threshold", *CELLS} & set(table.columns)))
    assert getattr(frame.binmetrics, name)("a", "y", by="g").height == 0


@pytest.mark.parametrize(
    "name", [*CURVES, "roc_hull", "cost_curve", "decision_curve", "calibration_curve"]
)
def test_a_fault_makes_the_curve_of_its_segment_null(name: str) -> None:
    frame = pl.DataFrame(
        {"a": [0.1, 0.9, nan, 0.2, 0.8], "y": [0, 1, 1, 0, 1], "g": ["x", "x", "x", "y", "y"]}
    )
    table = getattr(frame.binmetrics, name)("a", "y", by="g")
    numbers = [each for each in table.columns if each not in ("g", "model", "threshold")]
    faulty, sound = table.filter(g="x").select(numbers), table.filter(g="y").select(numbers)
    assert faulty.null_count().row(0) == (faulty.height,) * len(numbers)
    assert sound.null_count().sum_horizontal().item() < sound.height * len(numbers)


@pytest.mark.parametrize("name", [*CURVES, "roc_hull", "cost_curve", "calibration_curve"])
@given(frame=frames())
@settings(max_examples=5)
def test_totals_are_the_curves_of_all_rows(name: str, frame: pl.DataFrame) -> None:
    table = getattr(frame.binmetrics, name)(["a", "b"], "y", by="segment", rollup=True)
    whole = getattr(frame.binmetrics, name)(["a", "b"], "y")
    assert table.filter(level=0).drop("segment", "level").equals(whole)
    parts = getattr(frame.binmetrics, name)(["a", "b"], "y", by="segment")
    assert table.filter(level=1).drop("level").equals(parts)


REFUSED: list[tuple[type[Exception], str, Callable[[Any], object]]] = [
    (ValueError, "one of `fpr` and `tpr`", lambda f: f.roc_hull("a", "y").binmetrics.attain()),
    (
        ValueError,
        "`fpr` should be between 0 and 1",
        lambda f: f.roc_hull("a", "y").binmetrics.attain(fpr=1.5),
    ),
    (
        TypeError,
        "`tpr` should be a number",
        lambda f: f.roc_hull("a", "y").binmetrics.attain(tpr="0.5"),
    ),
    (ColumnNotFoundError, "no ROC curve", lambda f: f.attain(fpr=0.5)),
    (
        ValueError,
        "`thresholds` should be probabilities",
        lambda f: f.decision_curve("a", "y", thresholds=[0.5, 1]),
    ),
    (
        ValueError,
        "`bins` should hold at least two",
        lambda f: f.calibration_curve("a", "y", bins=0.5),
    ),
    (
        DuplicateError,
        "`by`: the output has a column 'fpr'",
        lambda f: f.roc_curve("a", "y", by=pl.col("g").alias("fpr")),
    ),
    (
        DuplicateError,
        "`by`: the output has a column 'lift'",
        lambda f: f.gain_curve("a", "y", by=pl.col("g").alias("lift")),
    ),
]


@pytest.mark.parametrize(("error", "message", "call"), REFUSED)
def test_what_makes_no_curve_is_refused(
    error: type[Exception], message: str, call: Callable[[Any], object]
) -> None:
    frame = pl.DataFrame({"a": [0.1, 0.9], "y": [0, 1], "g": [1, 2]})
    for each in (frame, frame.lazy()):
        with pytest.raises(error, match=message):
            call(each.binmetrics)
