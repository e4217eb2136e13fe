"""An expression works wherever Polars takes an aggregation."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

import polars_binmetrics as bm

FRAME = pl.DataFrame(
    {
        "day": [date(2024, 1, day) for day in (1, 2, 3, 4, 5, 6)],
        "half": ["first"] * 3 + ["second"] * 3,
        "p_a": [0.1, 0.8, 0.6, 0.4, 0.9, 0.2],
        "p_b": [0.7, 0.6, 0.2, 0.3, 0.5, 0.5],
        "cut": [0.5, 0.9, 0.5, 0.5, 0.5, 0.1],
        "y": [0, 1, 0, 1, 1, 0],
    }
)


def rows_of(frame: pl.DataFrame, *columns: str) -> list[Any]:
    return frame.select(columns).rows()


def test_in_select_and_with_columns() -> None:
    recall = pl.col("p_a").binmetrics.recall("y")
    assert FRAME.select(recall).item() == 2 / 3
    assert FRAME.with_columns(recall)["p_a"].to_list() == [2 / 3] * 6


def test_in_group_by() -> None:
    aggregated = FRAME.group_by("half").agg(
        pl.col("p_a").binmetrics.roc_auc("y"), pl.col("p_b").binmetrics.precision("y")
    )
    assert aggregated.sort("half").rows() == [("first", 1.0, 0.5), ("second", 1.0, 0.5)]


def test_over_a_window() -> None:
    auc = pl.col("p_b").binmetrics.roc_auc("y").over("half")
    assert FRAME.select(auc)["p_b"].to_list() == [0.5] * 3 + [0.25] * 3


def test_in_dynamic_groups() -> None:
    weekly = FRAME.group_by_dynamic("day", every="3d", start_by="datapoint").agg(
        pl.col("p_a").binmetrics.tp("y"), pl.col("p_b").binmetrics.roc_auc("y")
    )
    assert rows_of(weekly, "p_a", "p_b") == [(1, 0.5), (1, 0.25)]


def test_in_rolling_windows() -> None:
    rolled = FRAME.rolling("day", period="2d").agg(
        pl.col("p_a").binmetrics.accuracy("y"),
        pl.col("p_b").binmetrics.roc_auc("y"),
        pl.col("p_a").binmetrics.confusion("y").alias("c"),
    )
    assert rolled["p_a"].to_list() == [1.0, 1.0, 0.5, 0.0, 0.5, 1.0]
    assert rolled["p_b"].to_list() == [None, 0.0, 1.0, 1.0, None, 0.5]
    assert rolled["c"][1] == {"tp": 1, "fp": 0, "fn": 0, "tn": 1}


@pytest.mark.parametrize(
    "scores", [pl.col("p_a", "p_b"), cs.starts_with("p_"), pl.col("^p_.*$")], ids=str
)
def test_many_scores_give_a_column_each(scores: pl.Expr) -> None:
    for name in ("recall", "roc_auc", "confusion", "brier"):
        one_by_one = [getattr(bm.of(pl.col(score)), name)("y") for score in ("p_a", "p_b")]
        together = FRAME.select(getattr(bm.of(scores), name)("y"))
        assert together.equals(FRAME.select(one_by_one))


def test_scores_may_be_computed() -> None:
    mean = pl.mean_horizontal("p_a", "p_b").alias("mean")
    assert FRAME.select(mean.binmetrics.recall("y")).columns == ["mean"]


def test_threshold_may_differ_by_row() -> None:
    # The second row falls below its own threshold, the last reaches it.
    confusion = pl.col("p_a").binmetrics.confusion("y", "cut")
    assert FRAME.select(confusion).item() == {"tp": 1, "fp": 2, "fn": 2, "tn": 1}


def test_threshold_may_be_computed_per_group() -> None:
    recall = pl.col("p_a").binmetrics.recall("y", pl.col("p_a").median())
    assert FRAME.group_by("half", maintain_order=True).agg(recall)["p_a"].to_list() == [1.0, 1.0]


def test_a_null_threshold_skips_its_row_and_nan_makes_the_result_null() -> None:
    cut = pl.Series("cut", [0.5, None, 0.5, 0.5, 0.5, 0.5])
    tp = pl.col("p_a").binmetrics.tp("y", "cut")
    assert FRAME.with_columns(cut).select(tp).item() == 1
    assert FRAME.with_columns(cut.fill_null(float("nan"))).select(tp).item() is None


def test_net_benefit_needs_one_threshold() -> None:
    at_half = pl.col("p_a").binmetrics.net_benefit("y", pl.lit(0.5))
    at_many = pl.col("p_a").binmetrics.net_benefit("y", "cut")
    assert FRAME.select(at_half).item() == pytest.approx(1 / 6)
    assert FRAME.select(at_many).item() is None


def test_strict_excludes_the_threshold_itself() -> None:
    called = pl.col("p_b").binmetrics.predicted_positive_rate
    assert FRAME.select(called("y", 0.5)).item() == 4 / 6
    assert FRAME.select(called("y", 0.5, strict=True)).item() == 2 / 6


def test_float32_scores_are_compared_as_float64() -> None:
    # The nearest Float32 to 0.7 is below it.
    frame = pl.DataFrame({"s": pl.Series([0.7], dtype=pl.Float32), "y": [1]})
    assert frame.select(pl.col("s").binmetrics.tp("y", 0.7)).item() == 0
    assert frame.binmetrics.counts("s", "y", thresholds=0.7)["tp"].item() == 0


def test_infinite_scores_are_ordinary() -> None:
    inf = float("inf")
    frame = pl.DataFrame({"s": [-inf, 0.0, inf, inf], "y": [0, 0, 1, 1]})
    score = pl.col("s").binmetrics
    assert frame.select(score.roc_auc("y")).item() == 1.0
    assert frame.select(score.recall("y", inf)).item() == 1.0
    assert frame.select(score.recall("y", inf, strict=True)).item() == 0.0
    assert frame.select(score.fpr("y", -inf)).item() == 1.0


def test_weighted_auc_is_the_published_one() -> None:
    # Example of the R package WeightedROC, `WeightedAUC`.
    frame = pl.DataFrame({"y": [0, 0, 1, 1, 1], "w": [1, 1, 1, 4, 5], "s": [1, 2, 3, 1, 1]})
    assert frame.select(pl.col("s").binmetrics.roc_auc("y", weight="w")).item() == 0.325


def test_log_loss_of_a_sure_miss_is_infinite() -> None:
    frame = pl.DataFrame({"s": [0.0, 0.5], "y": [1, 1], "w": [0.0, 1.0]})
    assert frame.select(pl.col("s").binmetrics.log_loss("y")).item() == float("inf")
    weighted = pl.col("s").binmetrics.log_loss("y", weight="w")
    assert frame.select(weighted).item() == pytest.approx(0.6931471805599453, rel=1e-15)
