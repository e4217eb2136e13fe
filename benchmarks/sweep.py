"""Sweeps over many thresholds beside other ways to them, and beside themselves."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import duckdb
import numpy as np
import polarbearings
import polars as pl
from polars.testing import assert_frame_equal
from sklearn.metrics import roc_curve  # type: ignore[import-untyped]

import polars_binmetrics as bm
from benchmarks import contest
from benchmarks.data import MODELS, SEGMENTS

CELLS = ["tp", "fp", "fn", "tn"]
#: Twenty metrics of the counts.
METRICS = [
    *["accuracy", "balanced_accuracy", "cohen_kappa", "diagnostic_odds_ratio", "error_rate"],
    *["f1", "fnr", "fpr", "g_mean", "jaccard", "lr_negative", "lr_positive", "markedness"],
    *["mcc", "npv", "precision", "predicted_positive_rate", "prevalence", "recall", "youden_j"],
]


def ours(
    rows: pl.DataFrame,
    *,
    thresholds: int = 101,
    by: str | list[str] = "segment",
    models: list[str] = MODELS,
) -> pl.DataFrame:
    """One plan."""
    plan = bm.of(rows.lazy()).counts(models, "label", thresholds=bm.uniform(thresholds), by=by)
    return plan.collect(engine="streaming")


def evaluated(rows: pl.DataFrame) -> pl.DataFrame:
    """One plan, with twenty metrics."""
    plan = bm.of(rows.lazy()).evaluate(
        MODELS, "label", metrics=METRICS, thresholds=bm.uniform(101), by="segment"
    )
    return plan.collect(engine="streaming")


def plain(rows: pl.DataFrame, by: str | list[str] = "segment") -> list[pl.DataFrame]:
    """What any aggregation of each model costs at the least."""
    plan = rows.lazy().group_by(by).agg(pl.len(), pl.col("label").sum())
    return [plan.collect(engine="streaming") for _ in MODELS]


def with_polarbearings(rows: pl.DataFrame) -> pl.DataFrame:
    """`confusion_curve` of each model."""
    tables = [
        polarbearings.confusion_curve(
            rows.lazy(), "label", model, thresholds=bm.uniform(101), by="segment"
        )
        .collect()
        .select("segment", "threshold", *CELLS, model=pl.lit(model))
        for model in MODELS
    ]
    return _in_order(pl.concat(tables))


def boolean_sums(rows: pl.DataFrame) -> pl.DataFrame:
    """Polars by hand: a sum a threshold and class, all models in one plan."""
    positive = pl.col("label")
    thresholds = bm.uniform(101)
    sums = {
        f"{cell} {model} {threshold}": ((pl.col(model) >= threshold) & of_class)
        .cast(pl.Int64)
        .sum()
        for model in MODELS
        for threshold in thresholds
        for cell, of_class in (("tp", positive), ("fp", ~positive))
    }
    totals = {"p": positive.cast(pl.Int64).sum(), "n": (~positive).cast(pl.Int64).sum()}
    wide = rows.lazy().group_by("segment").agg(**sums, **totals).collect(engine="streaming")
    tables = [
        wide.select(
            "segment",
            pl.lit(model).alias("model"),
            pl.lit(threshold).alias("threshold"),
            pl.col(f"tp {model} {threshold}").alias("tp"),
            pl.col(f"fp {model} {threshold}").alias("fp"),
            (pl.col("p") - pl.col(f"tp {model} {threshold}")).alias("fn"),
            (pl.col("n") - pl.col(f"fp {model} {threshold}")).alias("tn"),
        )
        for model in MODELS
        for threshold in thresholds
    ]
    return _in_order(pl.concat(tables))


def with_scikit_learn(rows: pl.DataFrame) -> pl.DataFrame:
    """`roc_curve` of each segment and model, then a look-up of the thresholds."""
    thresholds = np.array(bm.uniform(101))
    tables = []
    for (segment,), group in rows.partition_by("segment", as_dict=True).items():
        label = group["label"].to_numpy()
        p, n = int(label.sum()), int((~label).sum())
        for model in MODELS:
            fpr, tpr, at = roc_curve(label, group[model].to_numpy(), drop_intermediate=False)
            # The last of the scores, in falling order, that reaches the threshold.
            found = np.searchsorted(-at, -thresholds, side="right") - 1
            tp, fp = np.rint(tpr[found] * p).astype(int), np.rint(fpr[found] * n).astype(int)
            columns = {"threshold": thresholds, "tp": tp, "fp": fp, "fn": p - tp, "tn": n - fp}
            tables.append(pl.DataFrame(columns).with_columns(segment=segment, model=pl.lit(model)))
    return _in_order(pl.concat(tables))


def with_duckdb(rows: pl.DataFrame) -> pl.DataFrame:
    """SQL: each row joined to the last threshold that it reaches, then running sums."""
    database = duckdb.connect()
    database.register("rows", rows)
    database.register("grid", pl.DataFrame({"threshold": bm.uniform(101)}))
    running = (
        "coalesce(sum({0}) OVER (PARTITION BY segment ORDER BY threshold DESC), 0) AS {1},"
        " coalesce(sum({0}) OVER (PARTITION BY segment), 0) - {1} AS {2}"
    )
    tables = [
        database.sql(
            f"""
            WITH bins AS (
                SELECT segment, threshold, sum(label::INT) AS p, sum((NOT label)::INT) AS n
                FROM rows ASOF JOIN grid ON {model} >= threshold GROUP BY ALL
            )
            SELECT segment, threshold, '{model}' AS model,
                {running.format("p", "tp", "fn")}, {running.format("n", "fp", "tn")}
            FROM (SELECT DISTINCT segment FROM rows) CROSS JOIN grid
            LEFT JOIN bins USING (segment, threshold)
            """
        ).pl()
        for model in MODELS
    ]
    return _in_order(pl.concat(tables))


def _in_order(table: pl.DataFrame) -> pl.DataFrame:
    keys = ["segment", "model", "threshold"]
    whole = [pl.col(name).cast(pl.Int64) for name in ("segment", *CELLS)]
    return table.with_columns(whole).select(*keys, *CELLS).sort(keys)


# rapidstats gives null for a count of 0, and polars-ds panics where a threshold calls no row of a
# segment positive: neither agrees.
RIVALS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "Polars by hand, a sum a threshold": (boolean_sums, "at least 8"),
    "DuckDB, an ASOF join and window sums": (with_duckdb, ""),
    "scikit-learn, `roc_curve` and a look-up": (with_scikit_learn, "at least 15"),
    "polarbearings, `confusion_curve`": (with_polarbearings, "at least 150"),
}


def beside_others(rows: pl.DataFrame, repeats: int) -> str:
    """Agree, then time."""
    for name, (rival, _) in RIVALS.items():
        try:
            assert_frame_equal(ours(rows), rival(rows))
        except AssertionError as error:
            raise AssertionError(f"{name} disagrees") from error
    first = "polars-binmetrics"
    runs: dict[str, Callable[[], object]] = {first: lambda: ours(rows)}
    targets = {first: ""}
    for name, (rival, target) in RIVALS.items():
        runs[name] = partial(rival, rows)
        targets[name] = target
    times = contest.race(runs, repeats)
    lines = [
        contest.Line(
            name, statistics.median(taken), contest.ratio(times, name, first), targets[name]
        )
        for name, taken in times.items()
    ]
    title = f"A sweep: {len(MODELS)} models, {SEGMENTS} segments, 101 thresholds"
    return contest.table(title, "times ours", lines)


def beside_itself(rows: pl.DataFrame, repeats: int) -> str:
    """How the cost grows."""
    six = [*MODELS, *(f"{model} again" for model in MODELS)]
    doubled = rows.with_columns(pl.col(model).alias(f"{model} again") for model in MODELS)
    runs: dict[str, Callable[[], object]] = {
        "plain": lambda: plain(rows),
        "sweep": lambda: ours(rows),
        "11": lambda: ours(rows, thresholds=11),
        "1001": lambda: ours(rows, thresholds=1001),
        "one": lambda: ours(rows, models=MODELS[:1]),
        "six": lambda: ours(doubled, models=six),
        "name": lambda: ours(rows, by="name"),
        "two": lambda: ours(rows, by=["tens", "ones"]),
        "evaluate": lambda: evaluated(rows),
    }
    times = contest.race(runs, repeats)
    many: dict[str, Callable[[], object]] = {
        "plain": lambda: plain(rows, by="many"),
        "many": lambda: ours(rows, by="many"),
    }
    slow = contest.race(many, 1)

    def line(text: str, name: str, base: str, target: str) -> contest.Line:
        return contest.Line(
            text, statistics.median(times[name]), contest.ratio(times, name, base), target
        )

    lines = [
        line(
            "a sweep, to three plain `group_by(segment).agg(len, sum)`",
            "sweep",
            "plain",
            "at most 5",
        ),
        line("1,001 thresholds, to 11", "1001", "11", "at most 2"),
        line("6 models, to 3", "six", "sweep", "about 2"),
        line("3 models, to 1", "sweep", "one", "about 3"),
        line("`evaluate` with 20 metrics, to `counts`", "evaluate", "sweep", "at most 1.2"),
        line("segments named by strings, to integers", "name", "sweep", ""),
        line("segments of two keys, to one", "two", "sweep", ""),
        contest.Line(
            "100,000 segments, 30 million rows of counts, to three plain `group_by`",
            statistics.median(slow["many"]),
            contest.ratio(slow, "many", "plain"),
            "",
        ),
    ]
    return contest.table("The same sweep, how its cost grows", "ratio", lines)
