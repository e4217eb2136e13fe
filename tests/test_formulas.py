"""Every metric of the counts is its formula, whatever the counts are."""

from __future__ import annotations

from math import inf, isnan

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_binmetrics as bm
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, PARAMETERS, SYNONYMS, Value

Counts = tuple[int, int, int, int]
COUNT = st.one_of(st.integers(0, 3), st.integers(0, 100), st.integers(0, 10**12))
COUNTS = st.tuples(COUNT, COUNT, COUNT, COUNT)
PERFECT = [(1, 0, 0, 1), (49, 0, 0, 49), (3, 0, 0, 10**12), (10**12, 0, 0, 10**12 - 1)]


def metric(name: str) -> CountMetric[...]:
    found = METRICS[name]
    assert isinstance(found, CountMetric)
    return found(**PARAMETERS.get(SYNONYMS.get(name, name), {}))


def value(name: str, counts: Counts, **parameters: float) -> float | None:
    tp, fp, fn, tn = counts
    chosen = metric(name)(**parameters) if parameters else metric(name)
    return chosen.of_counts(tp=tp, fp=fp, fn=fn, tn=tn, threshold=0.5)


def same(actual: float | None, expected: Value) -> bool:
    if actual is None or expected is None:
        return actual is expected
    if expected == inf:
        return actual == inf
    return actual == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", EXPECTED)
@given(counts=COUNTS)
def test_metric_equals_its_formula_in_exact_arithmetic(name: str, counts: Counts) -> None:
    assert same(value(name, counts), EXPECTED[name](*counts))


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)], ids=str
)
def test_undefined_is_null_and_only_undefined_is(name: str, counts: Counts) -> None:
    actual, expected = value(name, counts), EXPECTED[name](*counts)
    assert same(actual, expected)
    assert actual is None or not isnan(actual)


@pytest.mark.parametrize("name", EXPECTED)
@given(counts=COUNTS)
def test_value_is_in_the_declared_range(name: str, counts: Counts) -> None:
    low, high = metric(name).range
    actual = value(name, counts)
    assert actual is None or low <= actual <= high


@pytest.mark.parametrize("name", [name for name in EXPECTED if metric(name).best is not None])
@pytest.mark.parametrize("counts", PERFECT, ids=str)
def test_perfect_classifier_reaches_exactly_the_best_value(name: str, counts: Counts) -> None:
    best = metric(name).best
    if name == "net_benefit":  # Its best is the prevalence, which reaches 1 without negatives.
        best = value("prevalence", counts)
    assert value(name, counts) == best


@pytest.mark.parametrize("name", ["mcc", "informedness", "markedness"])
@pytest.mark.parametrize("counts", [(0, 7, 49, 0), (0, 10**12, 3, 0)], ids=str)
def test_a_classifier_that_is_always_wrong_correlates_at_minus_one(
    name: str, counts: Counts
) -> None:
    assert value(name, counts) == pytest.approx(-1, abs=1e-15)


@given(counts=COUNTS)
def test_rates_of_one_class_add_up_to_one(counts: Counts) -> None:
    for one, other in [("tpr", "fnr"), ("tnr", "fpr"), ("precision", "false_discovery_rate")]:
        a, b = value(one, counts), value(other, counts)
        assert (a is None) == (b is None)
        assert a is None or b is None or a + b == pytest.approx(1, abs=1e-15)


@given(counts=COUNTS)
def test_counts_keep_their_type_and_rates_are_floats(counts: Counts) -> None:
    frame = pl.DataFrame([counts], schema=["tp", "fp", "fn", "tn"], orient="row")
    table = frame.with_columns(threshold=0.5)
    for name in EXPECTED:
        expected = pl.Int64 if metric(name).additive else pl.Float64
        assert table.select(metric(name).expr()).dtypes == [expected]


@pytest.mark.parametrize("dtype", [pl.UInt32, pl.Int32, pl.Int64, pl.Float64])
def test_sums_and_products_of_counts_do_not_overflow(dtype: pl.DataType) -> None:
    counts = (2 * 10**9, 10**9, 10**9, 2 * 10**9)
    table = pl.DataFrame(
        [counts], schema=dict.fromkeys(["tp", "fp", "fn", "tn"], dtype), orient="row"
    )
    for name in ("n", "mcc", "cohen_kappa", "diagnostic_odds_ratio"):
        assert same(table.select(metric(name).expr()).item(), EXPECTED[name](*counts))


# Bayes' rule at a prevalence other than the data's.


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("precision", 0.05 / (0.05 + 0.045)),
        ("npv", 0.855 / (0.855 + 0.05)),
        ("false_discovery_rate", 0.045 / (0.05 + 0.045)),
        ("false_omission_rate", 0.05 / (0.855 + 0.05)),
        ("misclassification_error", 0.1 * 0.5 + 0.9 * 0.05),
    ],
)
def test_prevalence_replaces_the_one_of_the_data(name: str, expected: float) -> None:
    # TPR 0.5, TNR 0.95, from classes of very different sizes.
    assert value(name, (5, 50, 5, 950), prevalence=0.1) == pytest.approx(expected, rel=1e-12)


@given(counts=st.tuples(*[st.integers(1, 100)] * 4))
def test_at_the_prevalence_of_the_data_nothing_changes(counts: Counts) -> None:
    prevalence = value("prevalence", counts)
    assert prevalence is not None
    for name in ["precision", "npv", "false_discovery_rate", "false_omission_rate"]:
        expected = value(name, counts)
        assert same(value(name, counts, prevalence=prevalence), expected)


def test_expected_cost_weighs_both_errors() -> None:
    cost = bm.expected_cost(fp=2, fn=10, prevalence=0.25)
    # TPR 0.5, TNR 0.95: pi C_fn FNR + (1 - pi) C_fp FPR.
    expected = 0.25 * 10 * 0.5 + 0.75 * 2 * 0.05
    assert cost.of_counts(tp=5, fp=50, fn=5, tn=950) == pytest.approx(expected, rel=1e-12)


# F-beta between its ends.


@given(counts=COUNTS)
def test_fbeta_goes_from_precision_to_recall(counts: Counts) -> None:
    if counts[0] == 0:
        return
    assert value("fbeta", counts, beta=0) == value("precision", counts)
    assert value("fbeta", counts, beta=1) == value("f1", counts)
    for beta in (1e9, 1e200, inf):
        assert value("fbeta", counts, beta=beta) == pytest.approx(value("recall", counts), rel=1e-5)


def test_net_benefit_is_null_for_a_threshold_that_is_no_probability() -> None:
    def at(threshold: float | None) -> float | None:
        return bm.net_benefit.of_counts(tp=30, fp=10, fn=20, tn=40, threshold=threshold)

    assert at(0.0) == 0.3
    assert at(0.2) == pytest.approx(0.3 - 0.1 / 4)
    assert [at(-0.1), at(1.0), at(inf), at(None)] == [None] * 4


# Parameters that can't be are refused when they are given.


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bm.precision(prevalence=1.5), ValueError, "`prevalence` should be between 0 and"),
        (lambda: bm.npv(prevalence=float("nan")), ValueError, "`prevalence` should be between"),
        (lambda: bm.fbeta(-1), ValueError, "`beta` should be at least 0, got -1"),
        (lambda: bm.fbeta(float("nan")), ValueError, "`beta` should be at least 0, got nan"),
        (lambda: bm.expected_cost(fp=-1, fn=1), ValueError, "`fp` should be a cost of at least 0"),
        (lambda: bm.expected_cost(fp=1, fn=inf), ValueError, "`fn` should be a cost of at least"),
        (lambda: bm.expected_cost(fp=1), TypeError, "missing a required argument: 'fn'"),
        (lambda: bm.recall(beta=2), TypeError, "unexpected keyword argument 'beta'"),
        (lambda: pl.col("s").binmetrics.fbeta("y"), TypeError, "missing a required argument: 'bet"),
    ],
)
def test_a_wrong_parameter_is_refused(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=message):
        call()
