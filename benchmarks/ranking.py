"""Ranks and curves beside other ways to them, and beside a sort."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import duckdb
import polarbearings
import polars as pl
import polars_ds  # type: ignore[import-untyped]
from polars.testing import assert_frame_equal
from sklearn import metrics as sk  # type: ignore[import-untyped]

import polars_binmetrics as bm
from benchmarks import contest

MODEL = "model_1"
TOGETHER = ["roc_auc", "average_precision", "ks", bm.partial_auc(fpr=(0, 0.1))]
Plan = Callable[[], pl.DataFrame]


def ours(rows: pl.DataFrame, by: str | None, metrics: Any = "roc_auc") -> pl.DataFrame:
    """The frame verb."""
    plan = bm.of(rows.lazy()).evaluate(MODEL, "label", metrics=metrics, by=by, thresholds=None)
    return plan.collect(engine="streaming")


def aggregated(rows: pl.DataFrame, by: str | None, metric: pl.Expr) -> pl.DataFrame:
    """An expression, per segment or over all rows."""
    lazy = rows.lazy()
    metric = metric.alias("roc_auc")
    plan = lazy.select(metric) if by is None else lazy.group_by(by).agg(metric)
    return plan.collect()


def with_duckdb(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """SQL: ranks by window functions, then sums."""
    database = duckdb.connect()
    database.register("rows", rows.select(by, "label", MODEL))
    table: pl.DataFrame = database.sql(
        f"""
        WITH ranked AS (
            SELECT {by}, label, rank() OVER w + (count(*) OVER ties - 1) / 2.0 AS r
            FROM rows WINDOW w AS (PARTITION BY {by} ORDER BY {MODEL}),
                ties AS (PARTITION BY {by}, {MODEL})
        ), sums AS (
            SELECT {by}, sum(r) FILTER (label) AS s, count(*) FILTER (label) AS p,
                count(*) FILTER (NOT label) AS n
            FROM ranked GROUP BY {by}
        )
        SELECT {by}, (s - p * (p + 1) / 2.0) / (p * n) AS roc_auc FROM sums
        """
    ).pl()
    return table


def in_a_loop(rows: pl.DataFrame, by: str) -> pl.DataFrame:
    """scikit-learn, a segment after the other."""
    table = [
        (key, sk.roc_auc_score(group["label"].to_numpy(), group[MODEL].to_numpy()))
        for (key,), group in rows.partition_by(by, as_dict=True).items()
    ]
    return pl.DataFrame(table, schema=[by, "roc_auc"], orient="row")


def curve(rows: pl.DataFrame, *, drop_collinear: bool = False) -> pl.DataFrame:
    """The ROC curve of each segment."""
    plan = bm.of(rows.lazy()).roc_curve(MODEL, "label", by="segment", drop_collinear=drop_collinear)
    return plan.collect(engine="streaming")


def curve_of_polarbearings(rows: pl.DataFrame) -> pl.DataFrame:
    """Its counts at every score of each segment."""
    return polarbearings.confusion_curve(rows.lazy(), "label", MODEL, by="segment").collect()


def curves_in_a_loop(rows: pl.DataFrame) -> pl.DataFrame:
    """scikit-learn, a segment after the other, without collinear points."""
    tables = []
    for (segment,), group in rows.partition_by("segment", as_dict=True).items():
        fpr, tpr, at = sk.roc_curve(group["label"].to_numpy(), group[MODEL].to_numpy())
        tables.append(
            pl.DataFrame({"threshold": at, "fpr": fpr, "tpr": tpr}).with_columns(segment=segment)
        )
    return pl.concat(tables)


def agree(expected: pl.DataFrame, actual: pl.DataFrame, by: str | None) -> None:
    """The areas are the same, but for how one class only is said."""
    names = ["roc_auc"] if by is None else [by, "roc_auc"]
    left, right = (each.select(names).fill_nan(None) for each in (expected, actual))
    if by is not None:
        left, right = left.sort(by), right.sort(by).cast({by: left.schema[by]})
    assert_frame_equal(left, right, rel_tol=1e-9)


def race(
    title: str, ours_: Plan, rivals: dict[str, tuple[Plan, str]], repeats: int, by: str | None
) -> list[contest.Line]:
    """Agree, then time."""
    expected = ours_()
    runs: dict[str, Plan] = {title: ours_}
    for name, (rival, _) in rivals.items():
        actual = rival()
        if "roc_auc" in actual.columns and "roc_auc" in expected.columns:
            agree(expected, actual, by)
        runs[name] = rival
    times = contest.race(runs, repeats)
    targets = {title: "", **{name: target for name, (_, target) in rivals.items()}}
    return [
        contest.Line(
            name, statistics.median(taken), contest.ratio(times, name, title), targets[name]
        )
        for name, taken in times.items()
    ]


def compare(rows: pl.DataFrame, repeats: int) -> str:
    """All tables."""
    bears = polarbearings.roc_auc("label", MODEL)
    plugin = polars_ds.query_roc_auc("label", MODEL)
    label, scores = rows["label"].to_numpy(), rows[MODEL].to_numpy()
    whole = race(
        "AUC of all rows",
        lambda: ours(rows, None),
        {
            "Polars, a sort of the bare score": (
                lambda: rows.lazy().select(MODEL).sort(MODEL).collect(engine="streaming"),
                "at least 0.4",
            ),
            "polarbearings": (lambda: aggregated(rows, None, bears), "at least 3"),
            "polars-ds": (lambda: aggregated(rows, None, plugin), "at least 3"),
            "scikit-learn": (
                lambda: pl.DataFrame({"roc_auc": [sk.roc_auc_score(label, scores)]}),
                "at least 10",
            ),
        },
        repeats,
        None,
    )
    segments = race(
        "AUC of 100 segments",
        lambda: ours(rows, "segment"),
        {
            "polarbearings": (lambda: aggregated(rows, "segment", bears), "at least 1.8"),
            "polars-ds": (lambda: aggregated(rows, "segment", plugin), "at least 1.8"),
            "DuckDB, window functions": (lambda: with_duckdb(rows, "segment"), "at least 1.8"),
            "scikit-learn, a loop": (lambda: in_a_loop(rows, "segment"), "at least 4"),
            "ours: AUC, AP, KS and partial AUC": (
                lambda: ours(rows, "segment", TOGETHER),
                "at most 1.6",
            ),
        },
        repeats,
        "segment",
    )
    many = race(
        "AUC of 100,000 segments",
        lambda: ours(rows, "many"),
        {
            "polarbearings": (lambda: aggregated(rows, "many", bears), "at least 1.5"),
            "polars-ds": (lambda: aggregated(rows, "many", plugin), "at least 50"),
        },
        1,
        "many",
    )
    curves = race(
        "`roc_curve` of 100 segments, every score",
        lambda: curve(rows),
        {"polarbearings, `confusion_curve`": (lambda: curve_of_polarbearings(rows), "at least 3")},
        repeats,
        None,
    )
    bent = race(
        "`roc_curve` of 100 segments, `drop_collinear`",
        lambda: curve(rows, drop_collinear=True),
        {"scikit-learn, a loop": (lambda: curves_in_a_loop(rows), "at least 3")},
        repeats,
        None,
    )
    return "\n\n".join(
        [
            contest.table("Exact AUC, all rows", "times ours", whole),
            contest.table("Exact AUC, 100 segments", "times ours", segments),
            contest.table("Exact AUC, 100,000 segments", "times ours", many),
            contest.table("ROC curves", "times that above", [*curves, *bent]),
        ]
    )
