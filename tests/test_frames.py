"""The tables: which rows, which columns, in which order, of which types."""

from __future__ import annotations

import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.rows import frames, tally

FRAME = pl.DataFrame(
    {
        "g": ["b", "b", "a", "a", None],
        "h": [1, 2, 1, 2, 1],
        "p_b": [0.1, 0.9, 0.4, 0.6, 0.5],
        "p_a": [0.3, 0.8, 0.7, 0.2, 0.1],
        "y": [0, 1, 1, 0, 1],
        "w": [1.0, 2.0, 0.5, 1.0, 1.0],
    }
)
CELLS = ["tp", "fp", "fn", "tn"]
SIZES = ["n", "n_positive", "n_negative", "n_missing"]


@given(frame=frames())
def test_counts_are_those_of_counting_row_by_row(frame: pl.DataFrame) -> None:
    thresholds = [0.0, 0.3, 0.55, 1.0]
    table = frame.binmetrics.counts(["a", "b"], "y", by="segment", thresholds=thresholds)
    expected = [
        (segment, model, threshold, *tally(rows.select(model, "y").rows(), threshold))
        for (segment,), rows in frame.group_by("segment")
        for model in ("a", "b")
        for threshold in thresholds
    ]
    order = sorted(expected, key=lambda row: (row[0] is not None, row[0] or "", row[1:3]))
    assert table.rows() == order


@given(frame=frames())
def test_every_row_is_used_or_missing(frame: pl.DataFrame) -> None:
    table = frame.binmetrics.evaluate(["a", "b"], "y", metrics=[], by="segment", thresholds=[0, 1])
    sizes = dict(frame.group_by("segment").len().rows())
    for segment, n, missing in table.select("segment", "n", "n_missing").rows():
        assert n + missing == sizes[segment]


def test_one_row_per_segment_model_and_threshold_in_order() -> None:
    table = FRAME.lazy().binmetrics.counts(
        ["p_b", "p_a"], "y", by=["g", "h"], thresholds=[0.7, 0.2]
    )
    keys = [(None, 1), ("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    expected = [(*key, m, t) for key in keys for m in ("p_a", "p_b") for t in (0.2, 0.7)]
    assert table.collect().select("g", "h", "model", "threshold").rows() == expected


def test_columns_of_counts() -> None:
    table = FRAME.binmetrics.counts("p_a", "y", by=["g", "h"])
    assert table.columns == ["g", "h", "model", "threshold", *CELLS]
    assert table.dtypes == [pl.String, pl.Int64, pl.String, pl.Float64, *[pl.Int64] * 4]
    weighted = FRAME.binmetrics.counts("p_a", "y", by=["g", "h"], weight="w")
    assert weighted.dtypes == [pl.String, pl.Int64, pl.String, pl.Float64, *[pl.Float64] * 4]


def test_columns_of_evaluate_come_in_the_order_asked_for() -> None:
    metrics = ["roc_auc", bm.fbeta(2.0), "recall", "sensitivity", bm.precision(prevalence=0.1)]
    table = FRAME.binmetrics.evaluate("p_a", "y", metrics=metrics, by="g")
    names = ["roc_auc", "fbeta", "recall", "sensitivity", "precision"]
    assert table.columns == ["g", "model", "threshold", *CELLS, *SIZES, *names]
    assert table.select(CELLS + SIZES).dtypes == [pl.Int64] * 8
    assert table.select(names).dtypes == [pl.Float64] * 5


def test_a_count_asked_for_is_not_there_twice() -> None:
    table = FRAME.binmetrics.evaluate("p_a", "y", metrics=["tp", "n", "recall", "n_negative"])
    assert table.columns == ["model", "threshold", *CELLS, *SIZES, "recall"]


def test_threshold_free_metrics_stand_at_every_threshold() -> None:
    table = FRAME.binmetrics.evaluate(
        ["p_a", "p_b"], "y", metrics=["roc_auc"], by="h", thresholds=[0.1, 0.5]
    )
    alone = FRAME.group_by("h").agg(cs.starts_with("p_").binmetrics.roc_auc("y")).sort("h")
    assert table["roc_auc"].to_list() == [
        alone.filter(h=h)[model].item() for h in (1, 2) for model in ("p_a", "p_b") for _ in "tt"
    ]


def test_net_benefit_is_taken_at_the_threshold_of_its_row() -> None:
    table = FRAME.binmetrics.evaluate("p_b", "y", metrics="net_benefit", thresholds=[0.2, 0.5])
    # Called positive at 0.2: three positives, one negative; at 0.5: two and one.
    assert table["net_benefit"].to_list() == pytest.approx([3 / 5 - 1 / 5 / 4, 2 / 5 - 1 / 5])


@pytest.mark.parametrize(
    "scores",
    [
        ["p_a", "p_b"],
        ("p_b", "p_a"),
        cs.starts_with("p_"),
        [pl.col("p_a"), "p_b"],
        pl.col("p_b", "p_a"),
        [cs.by_name("p_a"), pl.col("p_b").clip(0, 1)],
    ],
    ids=str,
)
def test_scores_may_be_names_expressions_and_selectors(scores: object) -> None:
    expected = FRAME.binmetrics.counts(["p_a", "p_b"], "y", by="g")
    assert_frame_equal(FRAME.binmetrics.counts(scores, "y", by="g"), expected)


@pytest.mark.parametrize(
    "by", ["g", ["g"], pl.col("g"), cs.by_name("g"), pl.col("g").fill_null(pl.lit(None))], ids=str
)
def test_by_may_be_names_expressions_and_selectors(by: object) -> None:
    expected = FRAME.binmetrics.evaluate("p_a", "y", metrics="roc_auc", by="g")
    assert_frame_equal(FRAME.binmetrics.evaluate("p_a", "y", metrics="roc_auc", by=by), expected)


def test_label_and_weight_may_be_expressions() -> None:
    label = pl.col("y").replace_strict({0: "no", 1: "yes"})
    table = FRAME.binmetrics.counts(
        (pl.col("p_a") + pl.col("p_b")) / 2, label, positive="yes", weight=pl.col("w") * 2
    )
    assert table.row(0) == ("p_a", 0.5, 5.0, 0.0, 2.0, 4.0)


def test_a_key_may_be_the_label_or_a_score() -> None:
    table = FRAME.binmetrics.evaluate("p_a", "y", metrics=["recall", "roc_auc"], by=["y"])
    assert table.select("y", "recall", "roc_auc").rows() == [(0, None, None), (1, 2 / 3, None)]


def test_strict_calls_no_score_at_the_threshold() -> None:
    loose = FRAME.binmetrics.counts("p_b", "y", thresholds=0.5)
    strict = FRAME.binmetrics.counts("p_b", "y", thresholds=0.5, strict=True)
    assert loose.select(CELLS).row(0) == (2, 1, 1, 1)
    assert strict.select(CELLS).row(0) == (1, 1, 2, 1)
    evaluated = FRAME.binmetrics.evaluate("p_b", "y", metrics=[], thresholds=0.5, strict=True)
    assert evaluated.select(CELLS).row(0) == (1, 1, 2, 1)


def test_rates_leave_the_frame_as_it_is_and_append() -> None:
    counts = FRAME.binmetrics.counts(["p_a", "p_b"], "y", by="g")
    table = counts.binmetrics.rates(bm.recall, ["precision", bm.fbeta(0.5)])
    assert_frame_equal(table.select(counts.columns), counts)
    assert table.columns == [*counts.columns, "recall", "precision", "fbeta"]


def test_a_count_that_is_a_column_stays_as_it_is() -> None:
    counts = FRAME.binmetrics.counts("p_a", "y")
    assert counts.binmetrics.rates("tp", "n", "recall").columns == [*counts.columns, "n", "recall"]


def test_rates_of_a_table_made_by_hand() -> None:
    # 344 liver scans against pathology: D. Altman and M. Bland, BMJ 308, 1994, p. 1552, and
    # BMJ 309, 1994, p. 102.
    scans = pl.DataFrame({"tp": [231], "fp": [32], "fn": [27], "tn": [54]})
    rates = scans.binmetrics.rates("sensitivity", "specificity", "ppv", "npv", "prevalence").select(
        pl.exclude("tp", "fp", "fn", "tn").round(2)
    )
    assert rates.row(0) == (0.90, 0.63, 0.88, 0.67, 0.75)
