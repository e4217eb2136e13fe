"""Bad input gives a clear error or null: nothing is lost, and no number is wrong."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from math import inf, nan
from typing import Any

import polars as pl
import pytest
from polars.exceptions import (
    ColumnNotFoundError,
    ComputeError,
    DuplicateError,
    SchemaError,
)

import polars_binmetrics as bm

FRAME = pl.DataFrame(
    {
        "s": [0.1, 0.6, 0.7, 0.9],
        "t": [0.6, 0.2, 0.8, 0.3],
        "y": [0, 1, 0, 1],
        "g": ["a", "a", "b", "b"],
        "w": [1.0, 2.0, 1.0, 1.0],
    }
)
COUNTS = ["tp", "fp", "fn", "tn"]
ALL_NULL = (None, None, None, None)


def counts(frame: pl.DataFrame, **options: Any) -> list[Any]:
    """The counts of score `s` against label `y`, checked to be those of the expression."""
    table = frame.binmetrics.counts("s", "y", **options)
    if not options.keys() & {"by", "thresholds"}:
        struct = frame.select(pl.col("s").binmetrics.confusion("y", **options))
        assert table.select(COUNTS).equals(struct.unnest("s"))
    return table.select(COUNTS).rows()


def with_(name: str, values: list[Any], dtype: Any = None) -> pl.DataFrame:
    return FRAME.with_columns(pl.Series(name, values, dtype=dtype, strict=False))


# Columns.


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("scores", lambda f: f.counts(["s", "nope"], "y")),
        ("label", lambda f: f.counts("s", "nope")),
        ("weight", lambda f: f.counts("s", "y", weight="nope")),
        ("by", lambda f: f.counts("s", "y", by=["g", "nope"])),
        ("label", lambda f: f.evaluate("s", "nope", metrics="recall")),
    ],
)
def test_a_missing_column_is_named_with_its_argument(argument: str, call: Any) -> None:
    for frame in (FRAME, FRAME.lazy()):
        with pytest.raises(ColumnNotFoundError, match=f'`{argument}`: .*"?nope"?'):
            call(frame.binmetrics)


def test_a_missing_column_in_an_expression_is_polars_own_error() -> None:
    with pytest.raises(ColumnNotFoundError, match="nope"):
        FRAME.select(pl.col("s").binmetrics.recall("nope"))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("label", lambda: FRAME.binmetrics.counts("s", 1)),
        ("scores", lambda: FRAME.binmetrics.counts([1.5], "y")),
        ("by", lambda: FRAME.binmetrics.counts("s", "y", by=3)),
        ("weight", lambda: FRAME.binmetrics.counts("s", "y", weight=2)),
        ("label", lambda: pl.col("s").binmetrics.recall(None)),
        ("weight", lambda: pl.col("s").binmetrics.recall("y", weight=[1])),
    ],
)
def test_what_is_no_column_is_refused(argument: str, call: Any) -> None:
    with pytest.raises(TypeError, match=f"`{argument}` should be a column name or an expression"):
        call()


def test_label_and_weight_are_one_column_each() -> None:
    with pytest.raises(ValueError, match="`label` should be one column, got 2"):
        FRAME.binmetrics.counts("s", pl.col("y", "w"))
    with pytest.raises(ValueError, match="`weight` should be one column, got 2"):
        FRAME.binmetrics.counts("s", "y", weight=pl.col("y", "w"))


def test_no_score_is_refused() -> None:
    with pytest.raises(ValueError, match="`scores` should name at least one column"):
        FRAME.binmetrics.counts([], "y")


def test_a_score_named_twice_is_refused() -> None:
    with pytest.raises(DuplicateError, match=r"`scores`: .*s"):
        FRAME.binmetrics.counts(["s", "s"], "y")


def test_a_key_named_twice_is_refused() -> None:
    with pytest.raises(DuplicateError, match=r"`by`: .*g"):
        FRAME.binmetrics.counts("s", "y", by=["g", "g"])


def test_a_frame_without_columns() -> None:
    for frame in (pl.DataFrame(), pl.LazyFrame()):
        with pytest.raises(ColumnNotFoundError, match="`scores`"):
            frame.binmetrics.counts("s", "y")


# User columns called like ours.

OURS = ["model", "threshold", "tp", "value", "variable", "len", "n", "weight", "positive", "label"]


@pytest.mark.parametrize("name", [*OURS, "key g", "score s", "tp 0 0", "__binmetrics_block", ""])
def test_user_columns_may_be_called_anything(name: str) -> None:
    expected = FRAME.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc"], weight="w")
    for old in ("s", "y", "w"):
        frame = FRAME.rename({old: name})
        s, y, w = (name if column == old else column for column in ("s", "y", "w"))
        table = frame.binmetrics.evaluate(s, y, metrics=["recall", "roc_auc"], weight=w)
        assert table.drop("model").equals(expected.drop("model"))


INSIDE = ["value", "len", "weight", "positive", "block", "score s", "key g", "tp 0 0", "0 0", ""]


@pytest.mark.parametrize("name", INSIDE)
def test_a_key_may_be_called_like_what_is_not_put_out(name: str) -> None:
    expected = FRAME.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc"], by="g")
    frame = FRAME.rename({"g": name})
    table = frame.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc"], by=name)
    assert table.equals(expected.rename({"g": name}))
    assert frame.binmetrics.counts("s", "y", by=name).columns[0] == name


def test_a_key_of_counts_may_be_called_like_a_column_of_evaluate() -> None:
    frame = FRAME.rename({"g": "n_missing"})
    table = frame.binmetrics.counts("s", "y", by="n_missing")
    assert table.columns == ["n_missing", "model", "threshold", *COUNTS]
    assert table["n_missing"].to_list() == ["a", "b"]


@pytest.mark.parametrize("name", ["model", "threshold", "tp", "n", "n_missing", "recall"])
def test_a_key_called_like_an_output_column_is_refused(name: str) -> None:
    frame = FRAME.rename({"g": name})
    with pytest.raises(DuplicateError, match=f"`by`: the output has a column '{name}'"):
        frame.binmetrics.evaluate("s", "y", metrics="recall", by=name)


# Labels.


@pytest.mark.parametrize("bad", [2, -1, 0.5, nan, inf])
def test_a_label_that_is_neither_0_nor_1_makes_its_segment_null(bad: float) -> None:
    frame = with_("y", [0, 1, 0, bad], pl.Float64)
    assert counts(frame) == [ALL_NULL]
    assert counts(frame, by="g") == [(1, 0, 0, 1), ALL_NULL]
    table = frame.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc", "brier"], by="g")
    assert table.select("n", "recall", "roc_auc", "brier").row(1) == ALL_NULL


@pytest.mark.parametrize(
    ("values", "dtype", "positive"),
    [
        ([-1, 1, -1, 1], pl.Int8, 1),
        ([0, 2, 0, 2], pl.Int64, 2),
        (["no", "yes", "maybe", "yes"], pl.String, "yes"),
        (["no", "yes", "no", "yes"], pl.Categorical, "yes"),
        ([date(2024, 1, 1), date(2024, 1, 2)] * 2, pl.Date, date(2024, 1, 2)),
        (["no", "yes", "no", "yes"], pl.Enum(["no", "yes"]), "yes"),
        ([0, 1, 0, 1], pl.Decimal(4, 2), 1),
        ([0, 1, 0, 1], pl.UInt8, None),
        ([0.0, 1.0, 0.0, 1.0], pl.Float32, None),
        ([False, True, False, True], pl.Boolean, None),
        ([True, False, True, False], pl.Boolean, False),
    ],
)
def test_labels_of_many_types(values: list[Any], dtype: Any, positive: Any) -> None:
    assert counts(with_("y", values, dtype), positive=positive) == [(2, 1, 0, 1)]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["0", "1"])])
def test_a_text_label_needs_positive(dtype: Any) -> None:
    frame = with_("y", ["0", "1", "0", "1"], dtype)
    with pytest.raises(SchemaError, match=r"`label`: column 'y' is .*; unless `positive` says"):
        frame.lazy().binmetrics.counts("s", "y")
    with pytest.raises(ComputeError, match="cannot compare"):
        frame.select(pl.col("s").binmetrics.recall("y"))


@pytest.mark.parametrize(
    ("dtype", "positive"),
    [
        (pl.Int64, "1"),
        (pl.Int64, [1]),
        (pl.Int64, 10**44),
        (pl.Boolean, 2),
        (pl.Int64, date(1970, 1, 2)),
        (pl.String, 1),
        (pl.Categorical, True),
        (pl.Enum(["0", "1"]), "yes"),
    ],
)
def test_a_positive_that_is_no_value_of_the_label_is_refused(dtype: Any, positive: Any) -> None:
    label = [False, True] * 2 if dtype == pl.Boolean else ["0", "1"] * 2
    frame = FRAME.with_columns(y=pl.Series(label).cast(dtype))
    with pytest.raises(SchemaError, match=r"`positive`: .* is no value of the label 'y'"):
        frame.lazy().binmetrics.counts("s", "y", positive=positive)


def test_an_all_null_label_counts_nothing() -> None:
    for dtype in (pl.Null, pl.Boolean, pl.Int64):
        frame = with_("y", [None] * 4, dtype)
        assert counts(frame) == [(0, 0, 0, 0)]
        table = frame.binmetrics.evaluate("s", "y", metrics=["recall", "roc_auc"])
        assert table.select("n", "n_missing", "recall", "roc_auc").row(0) == (0, 4, None, None)


# Scores.


def test_a_null_score_or_label_or_weight_is_skipped_and_counted() -> None:
    frame = FRAME.with_columns(
        s=pl.Series([None, 0.6, 0.7, 0.9]),
        y=pl.Series([0, None, 0, 1]),
        w=pl.Series([1.0, 1.0, None, 1.0]),
    )
    table = frame.binmetrics.evaluate("s", "y", metrics=["recall"], weight="w")
    assert table.select("n", "n_missing", "recall").row(0) == (1.0, 3, 1.0)
    table = frame.binmetrics.evaluate(["s", "t"], "y", metrics=[])
    assert table["n_missing"].to_list() == [2, 1]
    table = frame.binmetrics.evaluate(["s", "t"], "y", metrics=[], positive=1)
    assert table["n_missing"].to_list() == [2, 1]


def test_a_nan_score_makes_its_segment_and_model_null() -> None:
    frame = with_("s", [nan, 0.6, 0.7, 0.9])
    table = frame.binmetrics.evaluate(
        ["s", "t"], "y", metrics=["recall", "roc_auc", "brier", "log_loss"], by="g"
    )
    null = table.select("tp", "n", "recall", "roc_auc", "brier", "log_loss").filter(
        pl.all_horizontal(pl.all().is_null())
    )
    assert null.height == 1
    assert table.filter(pl.col("tp").is_null()).select("g", "model").rows() == [("a", "s")]
    for name in ("recall", "roc_auc", "tp", "brier"):
        assert frame.select(getattr(bm.of(pl.col("s")), name)("y")).item() is None


def test_a_fault_in_a_row_that_is_skipped_is_none() -> None:
    frame = FRAME.with_columns(s=pl.Series([nan, 0.6, 0.7, 0.9]), y=pl.Series([None, 1, 0, 1]))
    assert counts(frame) == [(2, 1, 0, 0)]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (pl.Float32, (2, 1, 0, 1)),
        (pl.Decimal(4, 2), (2, 1, 0, 1)),
        (pl.Int64, (2, 1, 0, 1)),
        (pl.UInt8, (2, 1, 0, 1)),
        (pl.Boolean, (2, 1, 0, 1)),
        (pl.Null, (0, 0, 0, 0)),
    ],
)
def test_scores_of_many_types(dtype: Any, expected: tuple[int, ...]) -> None:
    values = {pl.Null: [None] * 4, pl.Boolean: [False, True, True, True]}.get(dtype, [0, 1, 1, 1])
    assert counts(with_("s", values, dtype)) == [expected]


def test_a_score_that_is_no_number_is_refused() -> None:
    for dtype in (pl.String, pl.Date):
        frame = FRAME.with_columns(s=pl.lit(None, dtype))
        with pytest.raises(SchemaError, match="`scores`: column 's' should be numeric, is"):
            frame.binmetrics.counts("s", "y")


def test_decimals_are_compared_as_float64() -> None:
    frame = FRAME.with_columns(s=pl.Series([Decimal("0.70")] * 4))
    assert counts(frame, thresholds=0.7) == [(2, 2, 0, 0)]


# Weights.


@pytest.mark.parametrize("bad", [-1.0, nan, inf, -inf])
def test_a_weight_that_is_none_makes_its_segment_null(bad: float) -> None:
    frame = with_("w", [1.0, 1.0, 1.0, bad])
    assert counts(frame, weight="w") == [ALL_NULL]
    table = frame.binmetrics.evaluate(
        "s", "y", metrics=["recall", "roc_auc", "log_loss"], by="g", weight="w"
    )
    assert table["recall"].to_list() == [1.0, None]
    assert table["roc_auc"].to_list() == [1.0, None]
    assert table["log_loss"].is_null().to_list() == [False, True]


def test_zero_weights_are_weights() -> None:
    frame = with_("w", [0.0, 0.0, 1.0, 0.0])
    assert counts(frame, weight="w") == [(0.0, 1.0, 0.0, 0.0)]
    table = frame.binmetrics.evaluate("s", "y", metrics=["recall", "fpr", "roc_auc"], weight="w")
    assert table.select("recall", "fpr", "roc_auc").row(0) == (None, 1.0, None)
    table = with_("w", [0.0] * 4).binmetrics.evaluate("s", "y", metrics="brier", weight="w")
    assert table["brier"].item() is None


def test_a_weight_that_is_no_number_is_refused() -> None:
    with pytest.raises(SchemaError, match="`weight`: column 'g' should be numeric, is String"):
        FRAME.binmetrics.counts("s", "y", weight="g")


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Decimal(4, 2), pl.Boolean, pl.Float32])
def test_weights_of_many_types(dtype: Any) -> None:
    frame = FRAME.with_columns(w=pl.Series([1, 0, 1, 1]).cast(dtype))
    assert counts(frame, weight="w") == [(1.0, 1.0, 0.0, 1.0)]
    table = frame.binmetrics.evaluate("s", "y", metrics=["roc_auc", "brier"], weight="w")
    assert table["roc_auc"].item() == 1.0
    assert table["brier"].item() == pytest.approx((0.01 + 0.49 + 0.01) / 3)


def test_float32_weights_are_summed_as_float64() -> None:
    frame = pl.DataFrame({"s": [0.9] * 100_000, "y": [1] * 100_000}).with_columns(
        w=pl.lit(0.1, pl.Float32)
    )
    exact = 100_000 * frame["w"].cast(pl.Float64)[0]
    assert counts(frame, weight="w")[0][0] == pytest.approx(exact, rel=1e-12)


# Segments.


def test_an_empty_frame() -> None:
    empty = FRAME.clear()
    assert counts(empty) == [(0, 0, 0, 0)]
    table = empty.binmetrics.evaluate(["s", "t"], "y", metrics=["recall", "roc_auc", "log_loss"])
    assert (
        table.select("n", "n_missing", "recall", "roc_auc", "log_loss").rows()
        == [(0, 0, None, None, None)] * 2
    )
    by = empty.binmetrics.evaluate(["s", "t"], "y", metrics=["recall", "roc_auc"], by="g")
    full = FRAME.binmetrics.evaluate(["s", "t"], "y", metrics=["recall", "roc_auc"], by="g")
    assert by.height == 0
    assert by.schema == full.schema


def test_a_segment_with_one_class_or_one_row() -> None:
    frame = FRAME.with_columns(g=pl.Series(["a", "b", "a", "b"]))
    metrics = ["recall", "specificity", "accuracy", "mcc", "roc_auc", "brier"]
    table = frame.binmetrics.evaluate("s", "y", metrics=metrics, by="g").select(metrics)
    assert table.row(0)[:5] == (None, 0.5, 0.5, None, None)
    assert table.row(1)[:5] == (1.0, None, 1.0, None, None)
    assert table["brier"].null_count() == 0
    one = FRAME.head(1).binmetrics.evaluate("s", "y", metrics=metrics, by="g")
    assert one.select(metrics).row(0)[:5] == (None, 1.0, 1.0, None, None)


def test_a_segment_without_a_row_to_use_is_still_there() -> None:
    frame = FRAME.with_columns(s=pl.Series([None, None, 0.7, 0.9]))
    table = frame.binmetrics.evaluate(
        ["s", "t"], "y", metrics=["recall", "roc_auc", "brier", "log_loss"], by="g"
    )
    row = table.filter(g="a", model="s").drop("g", "model", "threshold").row(0)
    assert row == (0, 0, 0, 0, 0, 0, 0, 2, None, None, None, None)
    assert table.filter(g="a", model="t")["roc_auc"].item() == 0.0


def test_null_and_nan_keys_are_segments() -> None:
    frame = FRAME.with_columns(g=pl.Series([None, 1.0, nan, None]))
    table = frame.binmetrics.evaluate("s", "y", metrics=["n", "roc_auc"], by="g")
    assert table["n"].to_list() == [2, 1, 1]
    assert table["roc_auc"].to_list() == [1.0, None, None]


# Metrics.


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("f1_score", "did you mean 'f1'?"),
        ("Brier_Score", "did you mean 'brier'?"),
        ("false_positive_rate", "did you mean 'fpr'?"),
        ("positive_predictive_value", "did you mean 'ppv'?"),
        ("auc", "'roc_auc'"),
        ("fbeta(2.0)", "parameters are given to the object, as in bm.fbeta(2.0)"),
    ],
)
def test_names_that_others_use_lead_to_ours(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        FRAME.binmetrics.evaluate("s", "y", metrics=name)


def test_a_misspelt_metric_is_refused_with_the_nearest_name() -> None:
    for verb in (
        lambda: FRAME.binmetrics.evaluate("s", "y", metrics=["recal"]),
        lambda: FRAME.binmetrics.counts("s", "y").binmetrics.rates("recal"),
    ):
        with pytest.raises(ValueError, match=r"no metric 'recal'; did you mean 'recall'\?"):
            verb()
    with pytest.raises(ValueError, match="no metric 'xyz'; known are accuracy, "):
        FRAME.binmetrics.evaluate("s", "y", metrics="xyz")


def test_what_is_no_metric_is_refused() -> None:
    with pytest.raises(TypeError, match="`metrics` should be names or metrics, got float"):
        FRAME.binmetrics.evaluate("s", "y", metrics=["recall", 0.5])
    with pytest.raises(TypeError, match="`metrics` should be names or metrics, got NoneType"):
        FRAME.binmetrics.evaluate("s", "y", metrics=None)
    with pytest.raises(TypeError, match="`metrics`: 'fbeta': missing a required argument"):
        FRAME.binmetrics.evaluate("s", "y", metrics="fbeta")


def test_a_metric_named_twice_is_refused() -> None:
    with pytest.raises(DuplicateError, match="`metrics`: 'fbeta' is there twice"):
        FRAME.binmetrics.evaluate("s", "y", metrics=[bm.fbeta(1.0), bm.fbeta(2.0)])
    renamed = [bm.fbeta(1.0), bm.fbeta(2.0).alias("f2")]
    assert FRAME.binmetrics.evaluate("s", "y", metrics=renamed).columns[-2:] == ["fbeta", "f2"]


def test_a_metric_may_not_take_the_name_of_another_column() -> None:
    with pytest.raises(DuplicateError, match="`metrics`: the output has a column 'tp'"):
        FRAME.binmetrics.evaluate("s", "y", metrics=bm.recall.alias("tp"))
    with pytest.raises(DuplicateError, match="`metrics`: the frame has a column 'recall'"):
        FRAME.binmetrics.counts("s", "y").with_columns(recall=0).binmetrics.rates("recall")


def test_rates_are_of_counts_only() -> None:
    table = FRAME.binmetrics.counts("s", "y")
    with pytest.raises(ValueError, match="`metrics`: 'roc_auc' is not of the counts"):
        table.binmetrics.rates("roc_auc")
    with pytest.raises(ColumnNotFoundError, match="tp"):
        FRAME.binmetrics.rates("recall")


# Thresholds.


@pytest.mark.parametrize(
    ("thresholds", "error", "message"),
    [
        ([], ValueError, "`thresholds` should hold at least one number, got none"),
        ([0.5, nan], ValueError, "`thresholds` should be a number, got NaN"),
        (nan, ValueError, "`thresholds` should be a number, got NaN"),
        ([None], TypeError, "`thresholds` should be a number, got None"),
        ([True], TypeError, "`thresholds` should be a number, got True"),
        ("0.5", TypeError, "`thresholds` should be a number, got '0.5'"),
        (10**400, ValueError, "`thresholds` should fit into Float64, got 1000"),
    ],
)
def test_thresholds_that_are_none(thresholds: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        FRAME.binmetrics.counts("s", "y", thresholds=thresholds)


@pytest.mark.parametrize("threshold", [nan, None, True, [0.5]])
def test_a_threshold_of_an_expression_that_is_none(threshold: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="`threshold` should be a number"):
        pl.col("s").binmetrics.recall("y", threshold)


def test_thresholds_come_out_sorted_and_once() -> None:
    table = FRAME.binmetrics.counts("s", "y", thresholds=[0.9, -inf, 0.5, -0.0, 0.0, 0.5, 1])
    assert str(table["threshold"].to_list()) == "[-inf, 0.0, 0.5, 0.9, 1.0]"


def test_of_takes_frames_and_expressions_only() -> None:
    with pytest.raises(TypeError, match="`x` should be an Expr, a DataFrame or a LazyFrame"):
        bm.of("s")  # type: ignore[call-overload]
