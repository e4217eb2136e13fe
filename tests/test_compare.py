"""Models on the same rows: definitions, published values, and how often intervals hold."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf, isclose, log, nan, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.exceptions import DuplicateError
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.expected import EXPECTED
from tests.rows import auc, frames, losses, two_sided

Z = NormalDist().inv_cdf(0.975)
FIGURES = ["difference", "standard_error", "low", "high", "z", "p_value"]
#: What the model and the baseline call a row, and how it is.
CELLS = [(one, other, y) for y in (True, False) for one in (1.0, 0.0) for other in (1.0, 0.0)]
OTHERS = ["precision", "npv", "f1", "mcc", "balanced_accuracy", "cohen_kappa", "jaccard"]
SHARES = ["accuracy", "error_rate", "tpr", "fnr", "tnr", "fpr", "predicted_positive_rate"]


def joint(counts: tuple[int, ...]) -> pl.DataFrame:
    """Rows that fall so often in each of the eight cells."""
    rows = [cell for cell, n in zip(CELLS, counts, strict=True) for _ in range(n)]
    schema = {"a": pl.Float64, "b": pl.Float64, "y": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def discordant(b: int, c: int) -> pl.DataFrame:
    """Positives of which the model alone finds b, the baseline alone c, and both 7."""
    return joint((7, b, c, 0, 0, 0, 0, 0))


@given(frame=frames())
@settings(max_examples=20)
def test_areas_are_compared_as_delong_delong_and_clarke_pearson_define_it(
    frame: pl.DataFrame,
) -> None:
    table = frame.binmetrics.compare(["a", "b"], "y", metrics="roc_auc", by="segment")
    for row in table.iter_rows(named=True):
        rows = frame.filter(pl.col("segment").eq_missing(row["segment"]))
        used = rows.select("a", "b", "y").drop_nulls().rows()
        assert row["n"] == len(used)
        assert row["n_missing"] == rows.height - len(used)
        areas = [auc([(each[i], each[2], Fraction(1)) for each in used]) for i in (0, 1)]
        if None in areas:
            assert [row[name] for name in FIGURES] == [None] * len(FIGURES)
            continue
        assert row["value"] == pytest.approx(float(areas[0]))  # type: ignore[arg-type]
        assert row["baseline_value"] == pytest.approx(float(areas[1]))  # type: ignore[arg-type]
        lost = [losses([(each[i], each[2]) for each in used]) for i in (0, 1)]
        more = [one - other for one, other in zip(*lost, strict=True)]
        variance: Fraction | None = Fraction(0)
        for side in (True, False):
            of_class = [d for d, (_, _, y) in zip(more, used, strict=True) if y is side]
            n = len(of_class)
            if n == 1:
                variance = None
                break
            mean = sum(of_class, Fraction(0)) / n
            variance += sum((d - mean) ** 2 for d in of_class) / (n - 1) / n  # type: ignore[operator]
        if variance is None:
            assert row["standard_error"] is None
            continue
        se = sqrt(variance)
        difference = row["value"] - row["baseline_value"]
        assert row["standard_error"] == pytest.approx(se, abs=1e-8)
        assert row["low"] == pytest.approx(max(difference - Z * se, -1), abs=1e-7)
        assert row["high"] == pytest.approx(min(difference + Z * se, 1), abs=1e-7)
        if variance > 0:
            assert row["z"] == pytest.approx(difference / se, abs=1e-7)
            assert row["p_value"] == pytest.approx(two_sided(difference / se), abs=1e-7)


def counts(cells: list[Fraction], side: int) -> list[Fraction]:
    """The confusion matrix of the model or of the baseline."""
    order = [(1.0, True), (1.0, False), (0.0, True), (0.0, False)]
    found = dict.fromkeys(order, Fraction(0))
    for n, cell in zip(cells, CELLS, strict=True):
        found[cell[side], cell[2]] += n
    return [found[each] for each in order]


@given(frame=frames())
@settings(max_examples=10)
def test_means_have_the_variance_of_the_rows_differences(frame: pl.DataFrame) -> None:
    table = frame.binmetrics.compare(["a", "b"], "y", metrics="brier", by="segment")
    for row in table.iter_rows(named=True):
        own = frame.filter(pl.col("segment").eq_missing(row["segment"]))
        used = own.drop_nulls(["a", "b", "y"])
        if used.height < 2:
            assert row["standard_error"] is row["z"] is None
            continue
        y = used["y"].cast(pl.Float64).to_numpy()
        more = (used["a"].to_numpy() - y) ** 2 - (used["b"].to_numpy() - y) ** 2
        se = more.std(ddof=1) / sqrt(len(more))
        assert row["difference"] == pytest.approx(more.mean(), abs=1e-12)
        assert row["standard_error"] == pytest.approx(se, abs=1e-7)
        if se > 1e-6:
            assert row["p_value"] == pytest.approx(two_sided(more.mean() / se), abs=1e-6)


@pytest.mark.parametrize("name", [*OTHERS, *SHARES])
@given(cells=st.tuples(*[st.integers(1, 9)] * 8))
@settings(max_examples=6)
def test_metrics_of_the_counts_have_the_delta_method_over_eight_cells(
    name: str, cells: tuple[int, ...]
) -> None:
    row = joint(cells).binmetrics.compare(["a", "b"], "y", metrics=name).row(0, named=True)
    h = Fraction(1, 10**4)

    def values(cells: list[Fraction]) -> list[float]:
        return [float(EXPECTED[name](*counts(cells, side))) for side in (0, 1)]  # type: ignore[arg-type]

    one, other = values(list(map(Fraction, cells)))
    variance = relative = 0.0
    for i, n in enumerate(cells):
        above, below = (
            values([Fraction(m) + (step if i == j else 0) for j, m in enumerate(cells)])
            for step in (h, -h)
        )
        slopes = [(up - down) / float(2 * h) for up, down in zip(above, below, strict=True)]
        variance += n * (slopes[0] - slopes[1]) ** 2
        relative += n * (slopes[0] / one - slopes[1] / other) ** 2 if one and other else nan
    assert row["value"] == pytest.approx(one)
    assert row["difference"] == pytest.approx(one - other)
    assert row["standard_error"] == pytest.approx(sqrt(variance), rel=1e-5, abs=1e-7)
    if one / other > 0 if other else False:
        assert log(row["ratio_high"] / row["ratio"]) == pytest.approx(
            Z * sqrt(relative), rel=1e-4, abs=1e-6
        )
    if name in OTHERS and variance > 1e-9:
        assert row["z"] == pytest.approx((one - other) / sqrt(variance), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("b", "c", "plain", "corrected", "exact"),
    [
        (10, 20, 0.0678891548618291, 0.10034824646229, 0.0987371467053889),
        (3, 12, 0.0201367515503464, 0.0388671038124172, 0.03515625),
        (150, 86, 3.09929344104522e-05, 4.11456228134594e-05, 3.71593613957143e-05),
        (0, 5, 0.0253473186774683, 0.0736382701203028, 0.0625),
        (1, 1, 1, 1, 1),
    ],
)
def test_mcnemar_is_that_of_r(b: int, c: int, plain: float, corrected: float, exact: float) -> None:
    """R 4.2.2, mcnemar.test and binom.test."""
    frame = discordant(b, c)

    def p_value(test: Any) -> float:
        return frame.binmetrics.compare(["a", "b"], "y", metrics="tpr", test=test)["p_value"].item()

    assert p_value(None) == pytest.approx(plain, rel=1e-12)
    assert p_value(bm.mcnemar()) == p_value(None)
    assert p_value(bm.mcnemar(corrected=True)) == pytest.approx(corrected, rel=1e-12)
    assert p_value(bm.mcnemar_exact()) == pytest.approx(exact, rel=1e-12)


@given(b=st.integers(0, 30), c=st.integers(0, 30))
@settings(max_examples=20)
def test_mid_p_counts_what_was_seen_by_half(b: int, c: int) -> None:
    table = discordant(b, c).binmetrics.compare(
        ["a", "b"], "y", metrics="tpr", test=bm.mcnemar_exact(mid_p=True)
    )
    least, n = min(b, c), b + c
    tail = sum(comb(n, i) for i in range(least)) + Fraction(comb(n, least), 2)
    assert table["p_value"].item() == pytest.approx(float(min(tail * 2 / 2**n, 1)))
    assert table["z"].item() is None


@pytest.mark.parametrize("name", SHARES)
@given(cells=st.tuples(*[st.integers(0, 9)] * 8))
@settings(max_examples=6)
def test_shares_of_the_same_rows_are_tested_by_the_discordant_ones(
    name: str, cells: tuple[int, ...]
) -> None:
    row = joint(cells).binmetrics.compare(["a", "b"], "y", metrics=name).row(0, named=True)
    of_positives, of_negatives = name in ("tpr", "fnr"), name in ("tnr", "fpr")
    right = name in ("accuracy", "tpr", "tnr")
    b = c = 0
    for n, (one, other, y) in zip(cells, CELLS, strict=True):
        if (of_positives and not y) or (of_negatives and y) or one == other:
            continue
        hit = one == 1.0 if name == "predicted_positive_rate" else ((one == 1.0) is y) is right
        b, c = (b + n, c) if hit else (b, c + n)
    if row["value"] is None:
        assert row["z"] is row["p_value"] is None
    else:
        z = (b - c) / sqrt(b + c) if b + c else 0.0
        assert row["z"] == pytest.approx(z, abs=1e-7)
        assert row["p_value"] == pytest.approx(two_sided(z))


def test_identical_models_differ_by_0_with_a_p_value_of_1() -> None:
    frame = pl.DataFrame({"a": [0.1, 0.7, 0.4, 0.4, 0.9, 0.6], "y": [0, 0, 1, 0, 1, 1]})
    frame = frame.with_columns(b="a")
    metrics = ["roc_auc", "gini", "brier", "log_loss", *SHARES, *OTHERS]
    table = frame.binmetrics.compare(["a", "b"], "y", metrics=metrics)
    assert table.select(FIGURES).unique().rows() == [(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)]
    assert table.select("ratio", "ratio_low", "ratio_high").unique().rows() == [(1.0, 1.0, 1.0)]


def test_a_pair_counts_the_rows_that_both_have() -> None:
    frame = pl.DataFrame(
        {
            "a": [0.2, 0.9, 0.4, 0.6, 0.3, 0.8, None],
            "b": [0.3, 0.7, None, 0.8, 0.6, 0.4, 0.9],
            "c": [None, 0.8, 0.4, 0.6, 0.7, 0.2, 0.1],
            "y": [0, 1, 1, 0, 0, 1, 1],
        }
    )
    metrics = ["roc_auc", "ks", "brier", "accuracy", "precision"]
    table = frame.binmetrics.compare(["a", "b", "c"], "y", metrics=metrics)
    assert table.select("model", "baseline").unique(maintain_order=True).rows() == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    for (model, baseline), pair in table.group_by("model", "baseline"):
        used = frame.select(model, baseline, "y").drop_nulls()
        assert set(pair["n"]) == {used.height}
        assert set(pair["n_missing"]) == {frame.height - used.height}
        alone = used.binmetrics.compare([model, baseline], "y", metrics=metrics)
        assert_frame_equal(pair.drop("n_missing"), alone.drop("n_missing"), abs_tol=1e-12)
        for name, side in ((model, "value"), (baseline, "baseline_value")):
            expected = used.binmetrics.evaluate(name, "y", metrics=metrics).select(metrics).row(0)
            assert pair[side].to_list() == pytest.approx(list(expected), abs=1e-12)


def test_each_model_may_have_a_threshold_of_its_own() -> None:
    frame = pl.DataFrame({"a": [0.2, 0.4, 0.3, 0.9], "b": [0.5, 0.9, 0.8, 0.6], "y": [0, 1, 0, 1]})
    cuts = {"a": 0.35, "b": 0.6}
    table = frame.binmetrics.compare(
        ["a", "b"], "y", metrics=["accuracy", "net_benefit"], threshold=cuts
    )
    for name, side in (("a", "value"), ("b", "baseline_value")):
        own = frame.binmetrics.evaluate(
            name, "y", metrics=["accuracy", "net_benefit"], thresholds=cuts[name]
        )
        assert table[side].to_list() == list(own.select("accuracy", "net_benefit").row(0))
    strict = frame.binmetrics.compare(["a", "b"], "y", metrics="tpr", threshold=cuts, strict=True)
    assert strict.select("value", "baseline_value").row(0) == (1.0, 0.5)


def test_all_other_models_are_held_against_a_baseline() -> None:
    frame = pl.DataFrame({name: [0.1, 0.9] for name in "dacb"}).with_columns(y=pl.Series([0, 1]))
    table = frame.binmetrics.compare(
        ["d", "a", "c", "b"], "y", metrics=["tnr", "roc_auc"], baseline="c"
    )
    assert table.select("model", "baseline", "metric").rows() == [
        (model, "c", metric) for model in "abd" for metric in ("tnr", "roc_auc")
    ]


@given(frame=frames())
@settings(max_examples=5)
def test_both_engines_agree_and_a_segment_is_as_if_alone(frame: pl.DataFrame) -> None:
    ask: dict[str, Any] = {"metrics": ["roc_auc", "ks", "log_loss", "tpr", "f1"]}
    lazy = frame.lazy().binmetrics.compare(["a", "b"], "y", by="segment", **ask)
    engines: list[Literal["in-memory", "streaming"]] = ["in-memory", "streaming"]
    one, other = (lazy.collect(engine=engine) for engine in engines)
    assert_frame_equal(one, other, rel_tol=1e-12, abs_tol=1e-12)
    for (segment,), rows in frame.group_by("segment"):
        alone = rows.binmetrics.compare(["a", "b"], "y", **ask)
        part = one.filter(pl.col("segment").eq_missing(segment)).drop("segment")
        assert_frame_equal(part, alone, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_few_rows(n: int) -> None:
    frame = pl.DataFrame({"a": [0.2, 0.6], "b": [0.7, 0.9], "y": [0, 1]}).head(n)
    table = frame.binmetrics.compare(["a", "b"], "y", metrics=["roc_auc", "accuracy", "precision"])
    assert table["n"].to_list() == [n] * 3
    assert table.filter(metric="roc_auc")["p_value"].item() is None
    for value in table.select(pl.col(pl.Float64)).rows():
        assert not any(x is not None and x != x for x in value)


def test_one_class_has_no_area_to_compare_but_shares() -> None:
    table = joint((3, 2, 1, 4, 0, 0, 0, 0)).binmetrics.compare(
        ["a", "b"], "y", metrics=["roc_auc", "tpr", "tnr"]
    )
    assert table["difference"].to_list() == [None, pytest.approx(0.1), None]


def test_a_fault_in_either_model_makes_all_figures_null() -> None:
    frame = pl.DataFrame(
        {"a": [0.2, nan, 0.3, 0.8], "b": [0.1, 0.4, 0.2, 0.9], "y": [0, 1] * 2, "g": [1, 1, 2, 2]}
    )
    for scores in (["a", "b"], ["b", "a"]):
        table = frame.binmetrics.compare(scores, "y", metrics=["tpr", "roc_auc", "ks"], by="g")
        faulty, sound = table.filter(g=1), table.filter(g=2)
        assert faulty.select("value", "baseline_value", *FIGURES).null_count().row(0) == (3,) * 8
        assert sound["value"].null_count() == 0
    covered = frame.with_columns(b=pl.when(pl.col("a").is_not_nan()).then("b"))
    table = covered.binmetrics.compare(["a", "b"], "y", metrics="tnr", by="g")
    assert table["n_missing"].to_list() == [1, 0]
    assert table["value"].null_count() == 0


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_no_spread_is_no_test_however_many_rows(engine: Literal["in-memory", "streaming"]) -> None:
    """A perfect model and a constant one: what rounding leaves of their errors is no spread."""
    n = 3_000_017
    frame = pl.select(i=pl.int_range(n)).select(y=pl.col("i") * 7919 % 1000 < 370, half=0.5)
    frame = frame.with_columns(good=pl.col("y").cast(pl.Float64))
    lazy = frame.lazy().binmetrics.compare(["good", "half"], "y", metrics="roc_auc")
    found = lazy.select("difference", "standard_error", "z").collect(engine=engine)
    assert found.row(0) == (0.5, 0.0, None)


@pytest.mark.parametrize("n", [4, 22, 98])
@pytest.mark.parametrize("name", ["mcc", "balanced_accuracy", "informedness"])
def test_rounding_is_no_spread(name: str, n: int) -> None:
    frame = pl.DataFrame({"y": [1] * 2 + [0] * n}).with_columns(a=pl.col("y").cast(pl.Float64))
    frame = frame.with_columns(b=1 - pl.col("a"))
    table = frame.binmetrics.compare(["a", "b"], "y", metrics=name)
    assert table.select("standard_error", "z", "p_value").row(0) == (0.0, None, None)


def test_a_metric_may_be_called_like_any_column() -> None:
    frame = pl.DataFrame({"a": [0.2, 0.9, 0.4], "b": [0.3, 0.4, 0.7], "y": [0, 1, 1], "g": 1})
    plain = frame.binmetrics.compare(["a", "b"], "y", metrics=["ks", "brier", "tpr"], by="g")
    for name in ("n_positive", "n_faulty", "model", "group", "key g", "value", "place"):
        metrics = [bm.ks.alias(name), bm.brier.alias("other"), bm.recall.alias("trials")]
        table = frame.binmetrics.compare(["a", "b"], "y", metrics=metrics, by="g")
        assert_frame_equal(table.drop("metric"), plain.drop("metric"))
        gaps = frame.binmetrics.gaps("a", "y", "g", metrics=metrics)
        assert gaps["metric"].to_list() == [name, "other", "trials"]


def test_endless_ratios_have_an_endless_interval() -> None:
    frame = joint((1, 3, 0, 2, 0, 0, 0, 0))
    table = frame.binmetrics.compare(["a", "b"], "y", metrics="tpr", interval=bm.bootstrap(seed=1))
    assert table["ratio_high"].item() == inf


def test_names_of_columns_are_free() -> None:
    frame = pl.DataFrame(
        {
            "model of pair 0": [0.2, 0.9, 0.4],
            "group": [0.3, 0.4, 0.7],
            "base": ["x", "x", "x"],
            "left": [0, 1, 1],
        }
    )
    table = frame.binmetrics.compare(
        ["model of pair 0", "group"], "left", by="base", metrics=["roc_auc", "tpr", "ks"]
    )
    assert table["base"].unique().to_list() == ["x"]
    assert table["value"].to_list() == [1.0, 0.5, 1.0]
    with pytest.raises(DuplicateError, match="'z'"):
        frame.rename({"base": "z"}).binmetrics.compare(
            ["group", "model of pair 0"], "left", by="z", metrics="tpr"
        )


def test_the_bootstrap_draws_the_rows_of_both_models_together() -> None:
    cells = (30, 12, 5, 9, 8, 6, 4, 40)
    frame = joint(cells)
    table = frame.binmetrics.compare(
        ["a", "b"],
        "y",
        metrics=["f1", "roc_auc"],
        interval=bm.bootstrap(seed=3, n=4000, corrected=False),
    )
    random = np.random.default_rng(5)
    differences = []
    for drawn in random.multinomial(sum(cells), np.array(cells) / sum(cells), 4000):
        one, other = (EXPECTED["f1"](*map(int, counts(list(drawn), side))) for side in (0, 1))
        differences.append(float(one - other))  # type: ignore[operator, arg-type]
    low, high = np.quantile(differences, [0.025, 0.975])
    assert table["low"][0] == pytest.approx(low, abs=0.01)
    assert table["high"][0] == pytest.approx(high, abs=0.01)
    plain = frame.binmetrics.compare(["a", "b"], "y", metrics="roc_auc")
    assert table["low"][1] == plain["low"].item()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"baseline": "c"}, ValueError, "`baseline`: 'c' is none of the models 'a', 'b'"),
        ({"scores": "a"}, ValueError, "`scores` should name at least two columns"),
        ({"interval": 95}, ValueError, "`level` should be above 0 and below 1"),
        ({"interval": "0.95"}, TypeError, "`interval` should be a level"),
        ({"interval": bm.wilson}, TypeError, "`interval` should be a level"),
        ({"metrics": []}, ValueError, "`metrics` should name at least 1"),
        ({"threshold": {"a": 0.5}}, ValueError, "`threshold` should be a number for each of"),
        ({"threshold": "0.5"}, TypeError, "`threshold` should be a number"),
        ({"test": "exact"}, TypeError, "`test` should be made by bm.mcnemar"),
        ({"metrics": "nope"}, ValueError, "there is no metric 'nope'"),
        ({"weight": "w"}, TypeError, "weight"),
    ],
)
def test_bad_arguments_are_named(options: Any, error: type[Exception], match: str) -> None:
    frame = pl.DataFrame({"a": [0.1, 0.9], "b": [0.2, 0.3], "y": [0, 1]})
    ask = {"scores": ["a", "b"], "label": "y", "metrics": "tpr"} | options
    with pytest.raises(error, match=match):
        frame.binmetrics.compare(**ask)


def simulated(sets: int, rows: int, gap: float) -> pl.DataFrame:
    """Sets of rows with two scores that have much in common, the first the better one."""
    random = np.random.default_rng(7)
    n = sets * rows
    y = random.random(n) < 0.4
    shared = random.normal(size=n)
    a, b = (y * s + shared + random.normal(size=n) for s in (1 + gap, 1.0))
    return pl.DataFrame({"set": np.arange(n) // rows, "y": y, "a": a, "b": b})


def test_95_percent_of_the_intervals_hold_the_true_difference() -> None:
    metrics = ["roc_auc", "accuracy", "tpr", "precision", "f1"]
    truth = simulated(1, 1_000_000, 0.3).binmetrics.compare(
        ["a", "b"], "y", metrics=metrics, threshold=0.5
    )
    table = simulated(2000, 300, 0.3).binmetrics.compare(["a", "b"], "y", metrics=metrics, by="set")
    true = truth.select("metric", true="difference")
    share = (
        table.join(true, on="metric")
        .group_by("metric")
        .agg(pl.col("true").is_between("low", "high").mean())
    )
    assert share.filter(~pl.col("true").is_between(0.935, 0.965)).rows() == []


def test_5_percent_of_the_tests_of_equal_models_are_false_alarms() -> None:
    table = simulated(2000, 300, 0).binmetrics.compare(
        ["a", "b"], "y", metrics=["roc_auc", "accuracy", "tpr", "precision"], by="set"
    )
    share = table.group_by("metric").agg((pl.col("p_value") < 0.05).mean())
    assert share.filter(~pl.col("p_value").is_between(0.035, 0.065)).rows() == []
    assert isclose(table["difference"].mean(), 0, abs_tol=0.005)  # type: ignore[arg-type]
