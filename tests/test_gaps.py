"""Segments and their reference: definitions, published values, and how often intervals hold."""

from __future__ import annotations

from fractions import Fraction
from math import nan, sqrt
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.exceptions import DuplicateError, InvalidOperationError
from polars.testing import assert_frame_equal
from scipy import stats

import polars_binmetrics as bm
from tests.expected import EXPECTED
from tests.rows import frames, losses, two_sided

CELL = st.integers(1, 9)
MATRIX = st.tuples(CELL, CELL, CELL, CELL)
#: So that there is a segment of this name, with both classes.
NORTH = pl.DataFrame(
    {"segment": "north", "a": [0.3, 0.7], "b": [0.3, 0.7], "y": [True, False], "w": 1.0}
).with_columns(copies=pl.lit(1, pl.Int64))
UNSURE = ["low", "high", "ratio_low", "ratio_high", "z", "p_value", "standard_error"]


def rows(segments: dict[Any, tuple[int, int, int, int]]) -> pl.DataFrame:
    """Rows of segments that have these confusion matrices, tp, fp, fn, tn."""
    cells = [(1.0, 1), (1.0, 0), (0.0, 1), (0.0, 0)]
    table = [
        (segment, *cell)
        for segment, matrix in segments.items()
        for cell, n in zip(cells, matrix, strict=True)
        for _ in range(n)
    ]
    return pl.DataFrame(table, schema=["g", "s", "y"], orient="row")


def of_shares(hits: dict[str, tuple[int, int]]) -> pl.DataFrame:
    """Rows of segments in which so many of so many positives are found."""
    return rows({name: (k, 0, n - k, 0) for name, (k, n) in hits.items()})


def test_the_interval_of_two_proportions_is_newcombes() -> None:
    """R. Newcombe, Statistics in Medicine 17, 1998, table II, method 10."""
    published = [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 20), (0.6791, 1)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ]
    for one, other, ends in published:
        table = of_shares({"a": one, "b": other}).binmetrics.gaps(
            "s", "y", "g", metrics="tpr", reference="b"
        )
        assert table.select("low", "high").row(0) == pytest.approx(ends, abs=5e-5)


@given(one=MATRIX, other=MATRIX)
@settings(max_examples=8)
def test_two_proportions_are_tested_as_a_table_of_two_by_two(
    one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    frame = rows({"a": one, "b": other})  # type: ignore[dict-item]
    for reference in ("b", "overall"):
        table = frame.binmetrics.gaps("s", "y", "g", metrics="tpr", reference=reference)
        row = table.row(0, named=True)
        # A segment differs from all rows where it differs from the others.
        found = [(each[0], each[2]) for each in (one, other)]
        p = stats.chi2_contingency(found, correction=False).pvalue
        assert row["p_value"] == pytest.approx(p, rel=1e-9)
        assert row["z"] == 0 or (row["z"] > 0) == (row["difference"] > 0)


@pytest.mark.parametrize("overall", [False, True])
@pytest.mark.parametrize("name", ["tpr", "precision", "f1", "mcc", "accuracy", "jaccard"])
@given(one=MATRIX, other=MATRIX)
@settings(max_examples=5)
def test_the_standard_error_is_the_delta_methods_over_all_rows(
    name: str, overall: bool, one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    frame = rows({"a": one, "b": other})  # type: ignore[dict-item]
    table = frame.binmetrics.gaps(
        "s", "y", "g", metrics=name, reference="overall" if overall else "b"
    )

    def gap(cells: list[Fraction]) -> float:
        mine, theirs = cells[:4], cells[4:]
        reference = [x + y for x, y in zip(mine, theirs, strict=True)] if overall else theirs
        value, against = (EXPECTED[name](*each) for each in (mine, reference))  # type: ignore[arg-type]
        return float(value) - float(against)  # type: ignore[arg-type]

    cells = [Fraction(n) for n in (*one, *other)]
    h = Fraction(1, 10**4)
    variance = 0.0
    for i, n in enumerate(cells):
        above, below = (
            gap([m + (step if i == j else 0) for j, m in enumerate(cells)]) for step in (h, -h)
        )
        variance += float(n) * ((above - below) / float(2 * h)) ** 2
    assert table["difference"][0] == pytest.approx(gap(cells), abs=1e-12)
    assert table["standard_error"][0] == pytest.approx(sqrt(variance), rel=1e-5, abs=1e-7)


@given(frame=frames())
@settings(max_examples=5)
def test_areas_of_two_segments_have_independent_errors(frame: pl.DataFrame) -> None:
    frame = pl.concat([frame, NORTH])
    metrics = ["roc_auc", "gini"]
    table = frame.binmetrics.gaps(["a", "b"], "y", "segment", metrics=metrics, reference="north")
    alone = frame.binmetrics.evaluate(
        ["a", "b"], "y", metrics=["roc_auc", "roc_auc_se"], by="segment", thresholds=None
    )
    found = {
        row[:2]: row[2:] for row in alone.select("segment", "model", "roc_auc", "roc_auc_se").rows()
    }
    for row in table.iter_rows(named=True):
        scale = 1 if row["metric"] == "roc_auc" else 2
        one, se = found[row["segment"], row["model"]]
        other, other_se = found.get(("north", row["model"]), (None, None))
        if one is None or other is None:
            assert row["difference"] is None
        elif not row["is_reference"] and se is not None and other_se is not None:
            together = sqrt(se**2 + other_se**2)
            assert row["difference"] == pytest.approx(scale * (one - other))
            assert row["standard_error"] == pytest.approx(scale * together)
            if se == 0 or other_se == 0:
                assert row["z"] is row["p_value"] is None
            else:
                assert row["z"] == pytest.approx((one - other) / together)
                assert row["p_value"] == pytest.approx(two_sided(row["z"]))


@pytest.mark.parametrize("overall", [False, True])
@given(frame=frames(null=False))
@settings(max_examples=5)
def test_means_have_the_errors_of_means(overall: bool, frame: pl.DataFrame) -> None:
    frame = pl.concat([frame, frame.filter(segment="north"), NORTH.select(frame.columns)])
    table = frame.binmetrics.gaps(
        "a", "y", "segment", metrics="brier", reference="overall" if overall else "north"
    )
    errors = (frame["a"] - frame["y"].cast(pl.Float64)).pow(2).to_numpy()
    north = (frame["segment"] == "north").fill_null(False).to_numpy()
    for row in table.filter(~pl.col("is_reference")).iter_rows(named=True):
        inside = frame["segment"].eq_missing(row["segment"]).to_numpy()
        # What each row adds to the difference of the two means.
        held = np.ones_like(inside) if overall else north
        n = inside.sum()
        assert row["difference"] == pytest.approx(errors[inside].mean() - errors[held].mean())
        if n < 2:
            assert row["standard_error"] is None
            continue
        variance = errors[inside].var(ddof=1) / n + errors[held].var(ddof=1) / held.sum()
        if overall:
            variance -= 2 * errors[inside].var(ddof=1) / len(errors)
        assert row["standard_error"] == pytest.approx(sqrt(max(variance, 0)), abs=1e-7)


@given(frame=frames(null=False))
@settings(max_examples=8)
def test_areas_of_a_segment_and_of_all_rows_share_the_rows_of_the_segment(
    frame: pl.DataFrame,
) -> None:
    table = frame.binmetrics.gaps("a", "y", "segment", metrics="roc_auc")
    whole = frame.select("a", "y").rows()
    classes = [sum(y is side for _, y in whole) for side in (True, False)]
    for row in table.iter_rows(named=True):
        inside = frame["segment"].eq_missing(row["segment"]).to_list()
        segment = [each for each, is_in in zip(whole, inside, strict=True) if is_in]
        own = [sum(y is side for _, y in segment) for side in (True, False)]
        if min(own) < 2 or row["is_reference"]:
            assert row["z"] is None
            continue
        # The error of each area is the sum of what its rows add to it.
        mine = map(float, losses(segment))
        pairs = [
            (y, lost, next(mine) if is_in else None)
            for (_, y), lost, is_in in zip(whole, map(float, losses(whole)), inside, strict=True)
        ]
        variance = 0.0
        for side, m, n in zip((True, False), own, classes, strict=True):
            of_all = np.array([lost for y, lost, _ in pairs if y is side])
            both = np.array(
                [(one, lost) for y, lost, one in pairs if y is side and one is not None]
            )
            variance += both[:, 0].var(ddof=1) / m + of_all.var(ddof=1) / n
            variance -= 2 * np.cov(both.T, ddof=1)[0, 1] / n
        expected = sqrt(max(variance, 0))
        assert row["standard_error"] == pytest.approx(expected, abs=1e-7)


@given(one=MATRIX, other=MATRIX)
@settings(max_examples=8)
def test_a_ratio_can_be_1_where_a_difference_can_be_0(
    one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    frame = rows({"a": one, "b": other})  # type: ignore[dict-item]
    for reference in ("b", "overall"):
        table = frame.binmetrics.gaps(
            "s", "y", "g", metrics=["tpr", "precision", "f1", "roc_auc"], reference=reference
        )
        for row in table.drop_nulls("low").iter_rows(named=True):
            assert (row["low"] < 0 < row["high"]) == (row["ratio_low"] < 1 < row["ratio_high"])


def test_the_interval_of_a_ratio_is_donner_and_zous() -> None:
    """The ends are those R at which value - R reference has an interval with an end of 0."""
    frame = of_shares({"a": (7, 9), "b": (12, 20)})
    ask: dict[str, Any] = {"metrics": "tpr", "reference": "b"}
    row = frame.binmetrics.gaps("s", "y", "g", **ask).row(0, named=True)
    own = frame.binmetrics.evaluate("s", "y", metrics="tpr", by="g", interval=0.95)
    (p, p_low, p_high), (q, q_low, q_high) = own.select("tpr", "tpr_low", "tpr_high").rows()
    for r, below, above in (
        (row["ratio_low"], p - p_low, q_high - q),
        (row["ratio_high"], p_high - p, q - q_low),
    ):
        assert abs(p - r * q) == pytest.approx(sqrt(below**2 + (r * above) ** 2))


def test_no_spread_is_no_certainty() -> None:
    """An area of 1 has no variance, however few rows it is of."""
    frame = pl.DataFrame(
        {
            "g": ["a"] * 6 + ["b"] * 6,
            "y": [0, 0, 0, 1, 1, 1] * 2,
            "s": [*range(6), 1, 3, 2, 4, 0, 5],
        }
    )
    row = frame.binmetrics.gaps("s", "y", "g", metrics="roc_auc", reference="b").row(0, named=True)
    assert row["value"] == 1
    assert row["difference"] is not None
    assert [row[name] for name in UNSURE if name != "standard_error"] == [None] * 6


def test_the_reference_is_the_one_that_was_asked_for() -> None:
    frame = of_shares({"a": (3, 4), "b": (2, 5), "c": (2, 2), "d": (4, 5)})

    def reference(**options: Any) -> list[str]:
        table = frame.binmetrics.gaps("s", "y", "g", metrics="tpr", **options)
        chosen = table.filter("is_reference")
        assert chosen["difference"].to_list() == [0.0] * chosen.height
        assert chosen["ratio"].to_list() == [1.0] * chosen.height
        assert chosen.select(UNSURE).null_count().row(0) == (chosen.height,) * len(UNSURE)
        assert table["reference_value"].n_unique() == 1
        return chosen["g"].to_list()

    assert reference() == []
    assert reference(reference="b") == ["b"]
    assert reference(reference={"g": "d"}) == ["d"]
    assert reference(reference="largest") == ["b"]  # The first of the largest.
    assert reference(reference="best") == ["c"]
    assert reference(reference="best", min_n=3) == ["d"]


def test_the_best_segment_is_that_of_each_metric() -> None:
    frame = rows({"a": (9, 5, 1, 5), "b": (5, 1, 5, 9)})
    metrics = ["tpr", "fpr", "lr_positive", bm.expected_cost(fp=1, fn=1)]
    table = frame.binmetrics.gaps("s", "y", "g", metrics=metrics, reference="best")
    assert table.filter("is_reference").select("metric", "g").sort("metric").rows() == [
        ("expected_cost", "a"),
        ("fpr", "b"),
        ("lr_positive", "b"),
        ("tpr", "a"),
    ]
    with pytest.raises(ValueError, match="`reference`: no value of 'prevalence' is best"):
        frame.binmetrics.gaps("s", "y", "g", metrics="prevalence", reference="best")


def test_small_segments_are_kept_and_marked() -> None:
    frame = of_shares({"a": (3, 4), "b": (2, 4), "c": (1, 1), "d": (0, 3)})
    table = frame.binmetrics.gaps("s", "y", "g", metrics="tpr", min_n=4)
    assert table.select("g", "n", "below_min_n").rows() == [
        ("a", 4, False),
        ("b", 4, False),
        ("c", 1, True),
        ("d", 3, True),
    ]
    assert table["value"].to_list() == [0.75, 0.5, 1.0, 0.0]
    assert table["largest_gap"].to_list() == [0.25] * 4
    assert table["ratio_of_extremes"].to_list() == [pytest.approx(2 / 3)] * 4
    plain = frame.binmetrics.gaps("s", "y", "g", metrics="tpr")
    assert plain.select("largest_gap", "ratio_of_extremes").unique().rows() == [(1.0, 0.0)]


def test_small_counts() -> None:
    """0 of 3, 3 of 3, 0 of 0."""
    frame = of_shares({"none": (0, 3), "all": (3, 3)}).vstack(
        pl.DataFrame({"g": ["empty"], "s": [1.0], "y": [0]})
    )
    table = frame.binmetrics.gaps("s", "y", "g", metrics="tpr", reference="all")
    none = table.filter(g="none").row(0, named=True)
    assert none["difference"] == -1
    assert none["low"] == -1
    assert -0.5 < none["high"] < 0
    assert none["z"] == pytest.approx(-sqrt(6))
    empty = table.filter(g="empty").select("value", "difference", *UNSURE)
    assert empty.row(0) == (None,) * empty.width


def test_keys_may_be_several_and_null() -> None:
    frame = rows({"a": (3, 1, 1, 3), None: (1, 1, 1, 1)}).with_columns(
        year=pl.when(pl.col("y") == 1).then(2025).otherwise(2026)
    )
    table = frame.binmetrics.gaps(
        "s", "y", ["g", "year"], metrics="accuracy", reference={"g": None, "year": 2025}
    )
    assert table.filter("is_reference").select("g", "year").rows() == [(None, 2025)]
    assert frame.binmetrics.gaps("s", "y", "g", metrics="tpr", reference=None)[
        "is_reference"
    ].to_list() == [True, False]
    with pytest.raises(InvalidOperationError, match="no segment has the key 'z'"):
        frame.binmetrics.gaps("s", "y", "g", metrics="tpr", reference="z")
    for wrong in ("a", {"g": "a"}, {"g": "a", "month": 1}):
        with pytest.raises(ValueError, match="`reference` should be 'overall'"):
            frame.binmetrics.gaps("s", "y", ["g", "year"], metrics="tpr", reference=wrong)


def test_only_a_mapping_names_a_key_that_is_called_like_a_rule() -> None:
    frame = of_shares({"best": (1, 4), "overall": (2, 4)})
    table = frame.binmetrics.gaps("s", "y", "g", metrics="tpr", reference={"g": "best"})
    assert table["reference_value"].to_list() == [0.25, 0.25]


@given(frame=frames())
@settings(max_examples=4)
def test_both_engines_agree(frame: pl.DataFrame) -> None:
    engines: list[Literal["in-memory", "streaming"]] = ["in-memory", "streaming"]
    for reference in ("overall", "largest", "best"):
        lazy = frame.lazy().binmetrics.gaps(
            ["a", "b"],
            "y",
            "segment",
            metrics=["roc_auc", "ks", "brier", "tpr", "f1"],
            reference=reference,
            threshold={"a": 0.3, "b": 0.5},
        )
        one, other = (lazy.collect(engine=engine) for engine in engines)
        assert_frame_equal(one, other, rel_tol=1e-9, abs_tol=1e-9)


def test_values_are_those_of_evaluate() -> None:
    frame = bm.load_example()
    metrics = ["roc_auc", "ks", "brier", "tpr", "f1"]
    models = ["logistic", "boosting"]
    table = frame.binmetrics.gaps(models, "visited_often", "health", metrics=metrics)
    own = frame.binmetrics.evaluate(models, "visited_often", metrics=metrics, by="health")
    long = own.unpivot(metrics, index=["health", "model"], variable_name="metric")
    whole = frame.binmetrics.evaluate(models, "visited_often", metrics=metrics)
    against = whole.unpivot(
        metrics, index="model", variable_name="metric", value_name="reference_value"
    )
    expected = long.join(against, on=["model", "metric"])
    assert_frame_equal(
        table.select("health", "model", "metric", "value", "reference_value"),
        expected,
        check_row_order=False,
        check_column_order=False,
    )


def test_a_bootstrap_gives_intervals_where_there_is_no_closed_form() -> None:
    frame = bm.load_example().with_columns(pl.col("logistic").round(1))
    ask: dict[str, Any] = {"metrics": ["ks", "tpr"], "reference": "good", "threshold": 0.3}
    drawn = frame.binmetrics.gaps(
        "logistic", "visited_often", "health", interval=bm.bootstrap(n=300, seed=1), **ask
    )
    rest = drawn.filter(~pl.col("is_reference"))
    assert rest.select("low", "high").null_count().row(0) == (0, 0)
    plain = frame.binmetrics.gaps("logistic", "visited_often", "health", **ask)
    assert plain.filter(pl.col("metric") == "ks")["low"].null_count() == plain.height // 2
    both = [each.filter(metric="tpr").drop_nulls() for each in (drawn, plain)]
    for end in ("low", "high"):
        assert both[0][end].to_list() == pytest.approx(both[1][end].to_list(), abs=0.02)


def test_a_fault_in_one_segment_is_a_fault_in_all_rows() -> None:
    frame = pl.DataFrame(
        {"s": [0.2, nan, 0.3, 0.8, 0.4, 0.9], "y": [0, 1] * 3, "g": [1, 1, 2, 2, 2, 2]}
    )
    metrics = ["tpr", "roc_auc"]
    table = frame.binmetrics.gaps("s", "y", "g", metrics=metrics)
    assert table.filter(g=2)["value"].null_count() == 0
    assert table["difference"].null_count() == 4
    table = frame.binmetrics.gaps("s", "y", "g", metrics=metrics, reference=2)
    assert table.filter(g=1)["difference"].to_list() == [None, None]
    other = pl.concat([frame, frame.filter(g=2).with_columns(g=pl.lit(3, pl.Int64))])
    clean = other.filter(pl.col("g") > 1)
    both = [
        each.binmetrics.gaps(["s"], "y", "g", metrics=metrics, reference=2).filter(g=3)
        for each in (other, clean)
    ]
    assert_frame_equal(both[0], both[1])


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"min_n": 2.5}, TypeError, "`min_n` should be an integer"),
        ({"reference": {"h": "a"}}, ValueError, "`reference` should be"),
        ({"interval": 2}, ValueError, "`level` should be above 0"),
        ({"threshold": {"t": 0.5}}, ValueError, "`threshold` should be a number for each"),
        ({"weight": "w"}, TypeError, "weight"),
        ({"by": []}, ValueError, "`by` should name at least one column"),
    ],
)
def test_bad_arguments_are_named(options: Any, error: type[Exception], match: str) -> None:
    frame = of_shares({"a": (1, 2), "b": (2, 2)})
    ask = {"scores": "s", "label": "y", "by": "g", "metrics": "tpr"} | options
    with pytest.raises(error, match=match):
        frame.binmetrics.gaps(**ask)


def test_keys_do_not_hide_results() -> None:
    frame = of_shares({"a": (1, 2), "b": (2, 2)})
    with pytest.raises(DuplicateError, match="'value'"):
        frame.rename({"g": "value"}).binmetrics.gaps("s", "y", "value", metrics="tpr")
    odd = frame.rename({"g": "group", "s": "n of reference"})
    table = odd.binmetrics.gaps("n of reference", "y", "group", metrics=["tpr", "roc_auc"])
    assert table["group"].to_list() == ["a", "a", "b", "b"]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_few_rows(n: int) -> None:
    frame = pl.DataFrame({"s": [0.2, 0.6], "y": [0, 1], "g": ["a", "b"]}).head(n)
    for reference in ("overall", "largest", "best", "a"):
        table = frame.binmetrics.gaps(
            "s", "y", "g", metrics=["roc_auc", "accuracy", "ks"], reference=reference
        )
        assert table.height == 3 * n


@pytest.mark.parametrize(
    ("reference", "models"), [("large", 250), pytest.param("overall", 100, marks=pytest.mark.slow)]
)
def test_95_percent_of_the_intervals_hold_the_true_gap(reference: str, models: int) -> None:
    """There is none: all rows are alike. Each model is another draw of their scores."""
    random = np.random.default_rng(11)
    y = np.tile([1, 0, 0, 1, 0], 60)
    segment = np.repeat(["small", "large"], [100, 200])
    found: list[pl.DataFrame] = []
    for _ in range(2000 // models):
        scores = {f"s{i}": y + random.normal(size=len(y)) for i in range(models)}
        frame = pl.DataFrame(scores).with_columns(y=y, g=segment)
        found.append(
            frame.binmetrics.gaps(
                list(scores), "y", "g", metrics=["roc_auc", "tpr", "tnr"], reference=reference
            )
        )
    shares = (
        pl.concat(found)
        .filter(g="small")
        .group_by("metric")
        .agg(
            holds=pl.lit(0).is_between("low", "high").mean(),
            alarms=(pl.col("p_value") < 0.05).mean(),
        )
    )
    assert shares.filter(~pl.col("holds").is_between(0.935, 0.965)).rows() == []
    assert shares.filter(~pl.col("alarms").is_between(0.035, 0.065)).rows() == []
