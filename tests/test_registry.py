"""Nothing about a metric can be forgotten."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

import polars_binmetrics as bm
from polars_binmetrics import areas, probability, rates
from polars_binmetrics.metric import AnyMetric, Metric
from polars_binmetrics.namespaces import ExprNamespace
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, SCORE_METRICS, SYNONYMS


def test_every_metric_has_its_line_of_test_data() -> None:
    assert set(METRICS) == {*EXPECTED, *SYNONYMS, *SCORE_METRICS}


def test_every_declared_metric_is_exported() -> None:
    for module in (areas, probability, rates):
        declared = {name for name, value in vars(module).items() if isinstance(value, Metric)}
        assert declared == set(module.__all__)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_in_the_package_and_on_expressions(name: str) -> None:
    assert getattr(bm, name) is METRICS[name]
    assert METRICS[name].name == name
    assert vars(ExprNamespace)[name].__name__ == name


def test_expressions_have_no_other_methods() -> None:
    public = {name for name in vars(ExprNamespace) if not name.startswith("_")}
    assert public == {*METRICS, "confusion"}


@pytest.mark.parametrize(("synonym", "name"), SYNONYMS.items())
def test_a_synonym_differs_in_its_name_alone(synonym: str, name: str) -> None:
    assert METRICS[synonym].formula is METRICS[name].formula
    assert METRICS[synonym].name == synonym
    table = pl.DataFrame({"tp": [3], "fp": [1], "fn": [1], "tn": [5]}).binmetrics.rates(synonym)
    assert table.columns[-1] == synonym


def test_a_metric_shows_its_name_and_parameters() -> None:
    assert repr(bm.recall) == "<metric recall>"
    assert repr(bm.fbeta(2.0).alias("f2")) == "<metric f2(beta=2.0)>"


def test_metrics_are_values() -> None:
    assert bm.fbeta(2.0) == bm.fbeta(beta=2.0) != bm.fbeta(1.0)
    assert {bm.recall, bm.recall.alias("recall"), bm.fbeta(2.0), bm.fbeta(2.0)} == {
        bm.recall,
        bm.fbeta(2.0),
    }


@pytest.mark.parametrize(
    "metric",
    [*METRICS.values(), bm.fbeta(2.0).alias("f2"), bm.partial_auc(fpr=(0, 0.1))],
    ids=repr,
)
def test_metrics_survive_pickle(metric: AnyMetric) -> None:
    restored = pickle.loads(pickle.dumps(metric))
    assert restored == metric
    assert restored.__doc__ == metric.__doc__
