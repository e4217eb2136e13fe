"""What a user writes, for the type checkers: mypy --strict and pyright strict accept this file."""

from typing import assert_type

import polars as pl
import polars.selectors as cs

import polars_binmetrics as bm


def run(df: pl.DataFrame) -> pl.DataFrame:
    score = bm.of(pl.col("logistic", "boosting"))
    recall = score.recall("visited_often", 0.3, weight=pl.lit(1), strict=True)
    assert_type(recall, pl.Expr)
    assert_type(score.fbeta("visited_often", pl.col("logistic").mean(), beta=2.0), pl.Expr)
    assert_type(score.expected_cost("visited_often", fp=1, fn=5, prevalence=0.1), pl.Expr)
    assert_type(score.roc_auc("visited_often", positive=True), pl.Expr)
    assert_type(score.confusion("visited_often"), pl.Expr)

    assert_type(bm.recall.name, str)
    assert_type(bm.precision.range, tuple[float, float])
    assert_type(bm.recall.of_counts(tp=3, fp=1, fn=1, tn=5), float | None)

    table = bm.of(df).evaluate(
        cs.float(),
        "visited_often",
        metrics=["precision", bm.recall, bm.fbeta(2.0).alias("f2"), bm.roc_auc],
        thresholds=[0.3, 0.5],
        by=["health"],
    )
    assert_type(table, pl.DataFrame)
    lazy = bm.of(df.lazy()).counts(["logistic"], "visited_often", by=pl.col("health"))
    assert_type(lazy, pl.LazyFrame)
    rated = bm.of(lazy).rates("mcc", bm.expected_cost(fp=1, fn=5), bm.precision(prevalence=0.1))
    assert_type(rated, pl.LazyFrame)
    for interval in (0.95, bm.wilson(), bm.delong(logit=True), bm.bootstrap(n=10, seed=1)):
        sure = bm.of(df).evaluate("logistic", "visited_often", metrics="recall", interval=interval)
        assert_type(sure, pl.DataFrame)
        assert_type(bm.of(lazy).rates("recall", interval=interval), pl.LazyFrame)
    compared = bm.of(df).compare(
        cs.float(),
        "visited_often",
        metrics=["roc_auc", bm.recall],
        baseline="logistic",
        threshold={"logistic": 0.3, "boosting": 0.4},
        test=bm.mcnemar(corrected=True),
    )
    assert_type(compared, pl.DataFrame)
    for reference in ("best", "good", {"health": "good"}):
        gaps = bm.of(df.lazy()).gaps(
            "logistic", "visited_often", "health", metrics="tpr", reference=reference
        )
        assert_type(gaps, pl.LazyFrame)
    assert_type(bm.holm("p_value"), pl.Expr)
    assert_type(bm.sample_size(auc=0.7, width=0.1), int)
    state = bm.of(df).histogram("logistic", "visited_often", bins=bm.dyadic(4), by="health")
    assert_type(bm.merge_histograms([state, state]), pl.DataFrame)
    assert_type(bm.merge_histograms([state.lazy()]), pl.LazyFrame)
    assert_type(bm.of(state).cumulate(), pl.DataFrame)
    assert_type(bm.of(state.lazy()).roc_auc(), pl.LazyFrame)
    for thresholds in (bm.uniform(11), bm.quantiles(11, per="segment"), bm.every_score(), 0.5):
        chosen = bm.of(df).best_threshold(
            "logistic",
            "visited_often",
            criterion=bm.maximum(bm.fbeta(2.0), bm.at_most("fpr", 0.1), bm.at_least("tpr", 0.1)),
            thresholds=thresholds,
            rollup=True,
        )
        assert_type(chosen, pl.DataFrame)
    assert rated.collect().columns[-3:] == ["mcc", "expected_cost", "precision"]
    return table


def test_user_code_runs() -> None:
    assert run(bm.load_example()).height == 2 * 2 * 4
