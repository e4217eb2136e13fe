"""Intervals: published values, the formulas said a second time, and how often they hold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, exp, inf, log, sqrt
from statistics import NormalDist, mean
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.exceptions import DuplicateError
from polars.testing import assert_frame_equal
from scipy import stats

import polars_binmetrics as bm
from polars_binmetrics.intervals import Interval
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, PARAMETERS
from tests.rows import frames

CELLS = ["tp", "fp", "fn", "tn"]
Z = NormalDist().inv_cdf(0.975)
LOGARITHMIC = ["lr_positive", "lr_negative", "diagnostic_odds_ratio"]
PROPORTIONS = [
    "accuracy",
    "error_rate",
    "tpr",
    "tnr",
    "fpr",
    "fnr",
    "precision",
    "npv",
    "false_discovery_rate",
    "false_omission_rate",
    "jaccard",
    "prevalence",
    "predicted_positive_rate",
    "misclassification_error",
]
DELTA = [
    name
    for name in EXPECTED
    if isinstance(METRICS[name], CountMetric)
    and not METRICS[name].additive  # type: ignore[union-attr]
    and name not in [*PROPORTIONS, *LOGARITHMIC]
]


def counts(*rows: tuple[int, int, int, int]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=CELLS, orient="row").with_columns(threshold=0.5)


def ends(table: pl.DataFrame, name: str) -> tuple[float | None, float | None]:
    return table[f"{name}_low"].item(), table[f"{name}_high"].item()


def of_share(k: int, n: int, interval: float | Interval) -> tuple[float | None, float | None]:
    return ends(counts((k, 0, n - k, 0)).binmetrics.rates("recall", interval=interval), "recall")


@pytest.mark.parametrize(
    ("interval", "k", "n", "level", "low", "high"),
    [
        (bm.wilson, 0, 10, 0.95, 0, 0.277532799862889),
        (bm.wilson, 1, 10, 0.95, 0.0178762130950729, 0.404150026795238),
        (bm.wilson, 5, 10, 0.95, 0.236593090512564, 0.763406909487436),
        (bm.wilson, 26, 41, 0.90, 0.505713237336641, 0.745971083018589),
        (bm.wilson, 26, 41, 0.99, 0.434729048883567, 0.796194093285365),
        (bm.clopper_pearson, 0, 10, 0.95, 0, 0.308497107818761),
        (bm.clopper_pearson, 1, 10, 0.95, 0.00252857854446179, 0.445016117028195),
        (bm.clopper_pearson, 26, 41, 0.90, 0.493875690387087, 0.759191040250843),
        (bm.clopper_pearson, 26, 41, 0.99, 0.421990022547731, 0.81453113935057),
    ],
)
def test_wilson_and_clopper_pearson_are_those_of_r(
    interval: Callable[[float], Interval], k: int, n: int, level: float, low: float, high: float
) -> None:
    """R 4.2.2, prop.test(correct = FALSE) and binom.test."""
    assert of_share(k, n, interval(level)) == pytest.approx((low, high), abs=1e-12)


def test_wilson_is_what_a_level_alone_gives_proportions() -> None:
    assert of_share(26, 41, 0.9) == of_share(26, 41, bm.wilson(0.9))


@given(n=st.integers(1, 30), data=st.data())
def test_clopper_pearson_leaves_half_the_rest_to_either_tail(n: int, data: Any) -> None:
    k = data.draw(st.integers(0, n))
    low, high = of_share(k, n, bm.clopper_pearson(0.9))
    assert low is not None
    assert high is not None

    def tail(p: float, hits: range) -> float:
        return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in hits)

    assert low == 0 if k == 0 else tail(low, range(k, n + 1)) == pytest.approx(0.05)
    assert high == 1 if k == n else tail(high, range(k + 1)) == pytest.approx(0.05)


@given(n=st.integers(1, 30), data=st.data())
def test_jeffreys_and_agresti_coull_are_their_formulas(n: int, data: Any) -> None:
    k = data.draw(st.integers(0, n))
    beta = stats.beta(k + 0.5, n - k + 0.5)
    low, high = of_share(k, n, bm.jeffreys(0.95))
    assert low == 0 if k == 0 else beta.cdf(low) == pytest.approx(0.025)
    assert high == 1 if k == n else beta.cdf(high) == pytest.approx(0.975)
    size = n + Z**2
    middle = (k + Z**2 / 2) / size
    reach = Z * sqrt(middle * (1 - middle) / size)
    expected = max(middle - reach, 0), min(middle + reach, 1)
    assert of_share(k, n, bm.agresti_coull(0.95)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "interval", [0.95, bm.agresti_coull(), bm.jeffreys(), bm.clopper_pearson()]
)
def test_small_counts(interval: float | Interval) -> None:
    low, high = of_share(0, 3, interval)
    assert low == 0
    assert high is not None
    assert 0.5 < high < 0.8
    assert of_share(3, 3, interval) == pytest.approx((1 - high, 1))
    assert of_share(0, 0, interval) == (None, None)


def variance(name: str, cells: tuple[int, int, int, int]) -> float | None:
    """The delta method, with slopes as differences of the formula said a second time."""
    h = Fraction(1, 10**5)
    total = 0.0
    for i, cell in enumerate(cells):
        around = [[*cells[:i], cell + step, *cells[i + 1 :]] for step in (h, -h)]
        above, below = (EXPECTED[name](*each) for each in around)  # type: ignore[arg-type]
        if above is None or below is None:
            return None
        total += cell * (float(above - below) / float(2 * h)) ** 2
    return total


CELL = st.integers(1, 200)


@pytest.mark.parametrize("name", DELTA)
@given(cells=st.tuples(CELL, CELL, CELL, CELL))
def test_other_metrics_have_the_delta_method_of_their_own_formula(
    name: str, cells: tuple[int, int, int, int]
) -> None:
    metric = METRICS[name](**PARAMETERS.get(name, {}))
    table = counts(cells).binmetrics.rates(metric, interval=0.95)
    number, spread = table[name].item(), variance(name, cells)
    assert spread is not None
    least, greatest = metric.range
    reach = Z * sqrt(spread)
    expected = max(number - reach, least), min(number + reach, greatest)
    assert ends(table, name) == pytest.approx(expected, rel=1e-4, abs=1e-4)


@given(cells=st.tuples(CELL, CELL, CELL, CELL))
def test_ratios_have_the_interval_of_their_logarithm(cells: tuple[int, int, int, int]) -> None:
    tp, fp, fn, tn = cells
    p, n = tp + fn, fp + tn
    spreads = {
        "lr_positive": 1 / tp - 1 / p + 1 / fp - 1 / n,
        "lr_negative": 1 / fn - 1 / p + 1 / tn - 1 / n,
        "diagnostic_odds_ratio": 1 / tp + 1 / fp + 1 / fn + 1 / tn,
    }
    table = counts(cells).binmetrics.rates(*spreads, interval=0.95)
    for name, spread in spreads.items():
        factor = exp(Z * sqrt(spread))
        number = table[name].item()
        assert ends(table, name) == pytest.approx((number / factor, number * factor))


def test_a_ratio_of_0_or_infinity_has_none() -> None:
    table = counts((5, 0, 5, 5), (0, 5, 5, 5)).binmetrics.rates("lr_positive", interval=0.95)
    assert table["lr_positive"].to_list() == [inf, 0]
    assert table["lr_positive_low"].null_count() == 2
    assert table["lr_positive_high"].null_count() == 2


def delong(rows: list[tuple[float, bool]]) -> float | None:
    """DeLong's variance, from all pairs."""
    positives, negatives = [s for s, y in rows if y], [s for s, y in rows if not y]
    if len(positives) < 2 or len(negatives) < 2:
        return None
    won: Callable[[float, float], Fraction] = lambda s, t: Fraction((s > t) + (s >= t), 2)  # noqa: E731
    of_positives = [mean(won(s, t) for t in negatives) for s in positives]
    of_negatives = [mean(won(s, t) for s in positives) for t in negatives]
    parts = [
        sum((each - mean(values)) ** 2 for each in values) / (len(values) - 1) / len(values)
        for values in (of_positives, of_negatives)
    ]
    return float(sum(parts))


@given(frame=frames(null=False))
def test_delong_is_its_definition(frame: pl.DataFrame) -> None:
    spread = delong(frame.select("a", "y").rows())
    for logit in (False, True):
        table = frame.binmetrics.evaluate(
            "a", "y", metrics=["roc_auc", "gini"], interval=bm.delong(logit=logit), thresholds=None
        )
        area = table["roc_auc"].item()
        if spread is None or (logit and not 0 < area < 1):
            assert ends(table, "roc_auc") == (None, None)
        elif logit:
            odds, reach = log(area / (1 - area)), Z * sqrt(spread) / area / (1 - area)
            expected = [1 / (1 + exp(-odds - sign * reach)) for sign in (-1, 1)]
            assert ends(table, "roc_auc") == pytest.approx(expected, abs=1e-9)
        else:
            reach = Z * sqrt(spread)
            expected = [max(area - reach, 0), min(area + reach, 1)]
            assert ends(table, "roc_auc") == pytest.approx(expected, abs=1e-7)
            expected = [max(2 * (area - reach) - 1, -1), min(2 * (area + reach) - 1, 1)]
            assert ends(table, "gini") == pytest.approx(expected, abs=1e-7)


@given(frame=frames())
def test_segments_models_and_totals_have_the_intervals_of_their_own_rows(
    frame: pl.DataFrame,
) -> None:
    ask: dict[str, Any] = {"metrics": ["recall", "f1", "roc_auc"], "interval": 0.9}
    table = frame.binmetrics.evaluate(["a", "b"], "y", by="segment", rollup=True, **ask)
    for row in table.iter_rows(named=True):
        rows = (
            frame
            if row["level"] == 0
            else frame.filter(pl.col("segment").eq_missing(row["segment"]))
        )
        alone = rows.binmetrics.evaluate(row["model"], "y", **ask).row(0, named=True)
        for name, number in alone.items():
            assert row[name] == (
                number if not isinstance(number, float) else pytest.approx(number, abs=1e-9)
            )


@given(frame=frames())
def test_both_engines_agree(frame: pl.DataFrame) -> None:
    plan = frame.lazy().binmetrics.evaluate(
        "a", "y", by="segment", metrics=["recall", "mcc", "roc_auc"], interval=0.95
    )
    tolerance: dict[str, float] = {"rel_tol": 1e-9, "abs_tol": 1e-9}
    assert_frame_equal(plan.collect(engine="streaming"), plan.collect(), **tolerance)


@given(frame=frames(null=False), weight=st.sampled_from([0.5, 1.0, 3.0]))
def test_equal_weights_change_no_interval(frame: pl.DataFrame, weight: float) -> None:
    ask: dict[str, Any] = {"metrics": ["recall", "f1"], "interval": 0.95}
    names = [name + end for name in ("recall", "f1") for end in ("_low", "_high")]
    plain = frame.binmetrics.evaluate("a", "y", **ask).select(names)
    weighted = frame.with_columns(w=weight).binmetrics.evaluate("a", "y", weight="w", **ask)
    assert_frame_equal(weighted.select(names), plain, abs_tol=1e-9)


def test_weights_are_worth_kishs_effective_size() -> None:
    frame = pl.DataFrame({"s": [0.9] * 3 + [0.1] * 3, "y": [True] * 6, "w": [1.0, 2.0, 3.0] * 2})
    table = frame.binmetrics.evaluate("s", "y", weight="w", metrics="recall", interval=0.95)
    size = 12**2 / 28
    middle, reach = size / 2 + Z**2 / 2, Z * sqrt(size / 4 + Z**2 / 4)
    expected = [(middle + sign * reach) / (size + Z**2) for sign in (-1, 1)]
    assert ends(table, "recall") == pytest.approx(expected)


def test_a_metric_at_another_prevalence_is_no_proportion() -> None:
    metric = bm.precision(prevalence=0.1)
    table = counts((30, 10, 20, 40)).binmetrics.rates(metric, interval=0.95)
    number, (low, high) = table["precision"].item(), ends(table, "precision")
    assert (low + high) / 2 == pytest.approx(number)  # type: ignore[operator]


def test_metrics_without_a_closed_form_have_null_intervals() -> None:
    frame = pl.DataFrame({"s": [0.1, 0.4, 0.35, 0.8], "y": [0, 0, 1, 1]})
    table = frame.binmetrics.evaluate("s", "y", metrics=["ks", "ece"], interval=0.95)
    assert ends(table, "ks") == ends(table, "ece") == (None, None)
    assert table["ks_low"].dtype == pl.Float64


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_few_rows(rows: int) -> None:
    frame = pl.DataFrame({"s": [0.9, 0.1], "y": [True, False]}).head(rows)
    table = frame.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc"], interval=0.95)
    assert (table["recall_low"].item() is None) == (rows == 0)
    assert ends(table, "roc_auc") == (None, None)


def test_the_columns_follow_their_metric() -> None:
    frame = pl.DataFrame({"s": [0.9, 0.1], "y": [1, 0]})
    table = frame.binmetrics.evaluate("s", "y", metrics=["f1", "recall"], interval=0.95)
    assert table.columns[-6:] == [
        name + end for name in ("f1", "recall") for end in ("", "_low", "_high")
    ]


@pytest.mark.parametrize("weight", [None, "w"])
@given(frame=frames(null=False))
def test_means_have_the_interval_of_a_mean(frame: pl.DataFrame, weight: str | None) -> None:
    table = frame.binmetrics.evaluate("a", "y", metrics="brier", weight=weight, interval=0.95)
    x = (frame["a"] - frame["y"].cast(pl.Float64)).pow(2).to_numpy()
    w = np.ones_like(x) if weight is None else frame["w"].to_numpy()
    if w.sum() == 0 or w.sum() ** 2 == (w**2).sum():
        assert ends(table, "brier") == (None, None)
        return
    mean_of = (w * x).sum() / w.sum()
    spread = (w * (x - mean_of) ** 2).sum() / w.sum() / (w.sum() ** 2 / (w**2).sum() - 1)
    expected = max(mean_of - Z * sqrt(spread), 0), min(mean_of + Z * sqrt(spread), 1)
    assert ends(table, "brier") == pytest.approx(expected, abs=1e-6)


def test_equal_losses_have_an_interval_whatever_rounding_leaves() -> None:
    frame = pl.DataFrame({"a": [0.3, 0.7], "y": [0, 1], "w": [0.25, 2.5]})
    table = frame.binmetrics.evaluate("a", "y", metrics="brier", weight="w", interval=0.95)
    assert ends(table, "brier") == pytest.approx((0.09, 0.09), abs=1e-6)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), True, "0.95", None])
def test_a_level_is_above_0_and_below_1(level: Any) -> None:
    for make in (bm.wilson, bm.agresti_coull, bm.jeffreys, bm.clopper_pearson, bm.delong):
        with pytest.raises((TypeError, ValueError), match=r"`(level|interval)`"):
            make(level)
    if level is not None:
        with pytest.raises((TypeError, ValueError), match=r"`(level|interval)`"):
            counts((1, 1, 1, 1)).binmetrics.rates("recall", interval=level)


def test_delong_takes_no_weights() -> None:
    frame = pl.DataFrame({"s": [0.9, 0.1], "y": [1, 0], "w": [1.0, 1.0]})
    with pytest.raises(ValueError, match="weights"):
        frame.binmetrics.evaluate("s", "y", weight="w", metrics="roc_auc", interval=0.95)


def test_no_two_columns_have_one_name() -> None:
    frame = pl.DataFrame({"s": [0.9, 0.1], "y": [1, 0], "recall_low": ["a", "b"]})
    with pytest.raises(DuplicateError, match="recall_low"):
        frame.binmetrics.evaluate("s", "y", by="recall_low", metrics="recall", interval=0.95)
    metrics = ["recall", bm.precision.alias("recall_low")]
    with pytest.raises(DuplicateError, match="recall_low"):
        frame.binmetrics.evaluate("s", "y", metrics=metrics, interval=0.95)
    with pytest.raises(DuplicateError, match="recall_low"):
        counts((1, 1, 1, 1)).with_columns(recall_low=1).binmetrics.rates("recall", interval=0.9)


@pytest.mark.parametrize("name", ["recall", "f1", "mcc", "diagnostic_odds_ratio"])
def test_95_percent_of_the_intervals_hold_the_true_value(name: str) -> None:
    cells = np.array([0.2, 0.1, 0.15, 0.55])
    drawn = np.random.default_rng(5).multinomial(400, cells, size=2000)
    table = pl.DataFrame(drawn, schema=CELLS).binmetrics.rates(name, interval=0.95)
    true = counts((20, 10, 15, 55)).binmetrics.rates(name)[name].item()
    held = table.select(pl.lit(true).is_between(f"{name}_low", f"{name}_high").mean()).item()
    assert 0.935 < held < 0.965


@pytest.mark.parametrize("logit", [False, True])
def test_95_percent_of_the_intervals_hold_the_true_area(logit: bool) -> None:
    sets, rows = 2000, 200
    random = np.random.default_rng(6)
    label = np.tile(np.arange(rows) < rows // 3, sets)
    frame = pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), rows),
            "y": label,
            "s": random.normal(size=sets * rows) + label,
        }
    )
    table = frame.binmetrics.evaluate(
        "s", "y", by="set", metrics="roc_auc", interval=bm.delong(logit=logit), thresholds=None
    )
    true = NormalDist().cdf(1 / sqrt(2))
    held = table.select(pl.lit(true).is_between("roc_auc_low", "roc_auc_high").mean()).item()
    assert 0.935 < held < 0.965
