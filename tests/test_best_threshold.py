"""The threshold chosen is the one that a search over all of them by hand would choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.exceptions import DuplicateError
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from tests.expected import EXPECTED
from tests.rows import frames, tally

FRAME = pl.DataFrame(
    {
        "g": ["a"] * 5 + ["b"] * 3,
        "s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.2, 0.2, 0.9],
        "y": [0, 1, 0, 1, 1, 0, 0, 0],
    }
)

Cells = tuple[int, int, int, int]


def value(name: str) -> Callable[[Cells], Any]:
    return lambda cells: EXPECTED[name](*cells)


def search(
    rows: list[tuple[float | None, bool | None]],
    objective: Callable[[float, Cells], Any],
    allowed: Callable[[Cells], bool],
) -> float | None:
    """The best threshold, found by trying every score, the highest of those that are tied."""
    scores = {s for s, y in rows if s is not None and y is not None}
    found = [(objective(t, tally(rows, t)), t) for t in scores if allowed(tally(rows, t))]
    return max(((v, t) for v, t in found if v is not None), default=(None, None))[1]


def at_most(name: str, limit: float) -> Callable[[Cells], bool]:
    return lambda cells: (v := value(name)(cells)) is not None and v <= Fraction(limit)


def at_least(name: str, limit: float) -> Callable[[Cells], bool]:
    return lambda cells: (v := value(name)(cells)) is not None and v >= Fraction(limit)


def anything(cells: Cells) -> bool:
    return True


def cost(cells: Cells) -> Fraction:
    _, fp, fn, _ = cells
    return -Fraction(fp + 5 * fn, sum(cells))


CRITERIA: dict[str, tuple[Any, Callable[[float, Cells], Any], Callable[[Cells], bool]]] = {
    "youden_j": ("youden_j", lambda t, c: value("informedness")(c), anything),
    "the metric's best value, which is low": (
        bm.error_rate,
        lambda t, c: None if (v := value("error_rate")(c)) is None else -v,
        anything,
    ),
    "maximum of a metric": (bm.maximum("f1"), lambda t, c: value("f1")(c), anything),
    "minimum of a metric": (
        bm.minimum("predicted_positive_rate"),
        lambda t, c: -value("predicted_positive_rate")(c),
        anything,
    ),
    "least expected cost": (bm.expected_cost(fp=1, fn=5), lambda t, c: cost(c), anything),
    "highest TPR at FPR <= x": (
        bm.maximum("tpr", bm.at_most("fpr", 0.25)),
        lambda t, c: value("tpr")(c),
        at_most("fpr", 0.25),
    ),
    "highest threshold with TPR >= x": (
        bm.maximum("threshold", bm.at_least("tpr", 0.75)),
        lambda t, c: t,
        at_least("tpr", 0.75),
    ),
    "highest threshold with precision >= x": (
        bm.maximum("threshold", bm.at_least("precision", 0.5)),
        lambda t, c: t,
        at_least("precision", 0.5),
    ),
    "lowest threshold with predicted-positive rate <= x": (
        bm.minimum("threshold", bm.at_most("predicted_positive_rate", 0.5)),
        lambda t, c: -t,
        at_most("predicted_positive_rate", 0.5),
    ),
    "two constraints": (
        bm.maximum("tnr", bm.at_least("tpr", 0.5), bm.at_least("precision", 0.5)),
        lambda t, c: value("tnr")(c),
        lambda c: at_least("tpr", 0.5)(c) and at_least("precision", 0.5)(c),
    ),
}


@given(frame=frames())
@pytest.mark.parametrize("name", CRITERIA)
def test_the_threshold_is_the_one_that_a_search_finds(name: str, frame: pl.DataFrame) -> None:
    criterion, objective, allowed = CRITERIA[name]
    table = frame.binmetrics.best_threshold(["a", "b"], "y", criterion=criterion, by="segment")
    for segment, model, threshold in table.select("segment", "model", "threshold").rows():
        own = frame.filter(pl.col("segment").eq_missing(pl.lit(segment)))
        assert threshold == search(own.select(model, "y").rows(), objective, allowed)


@given(frame=frames(), strict=st.booleans(), weighted=st.booleans())
def test_the_row_chosen_is_a_row_of_counts(
    frame: pl.DataFrame, strict: bool, weighted: bool
) -> None:
    ask: dict[str, Any] = {
        "by": "segment",
        "strict": strict,
        "weight": "w" if weighted else None,
        "thresholds": [0.2, 0.4, 0.6],
        "rollup": True,
    }
    table = frame.binmetrics.best_threshold(["a", "b"], "y", criterion="accuracy", **ask)
    counts = frame.binmetrics.counts(["a", "b"], "y", **ask).binmetrics.rates("accuracy")
    keys = ["segment", "level", "model", "threshold"]
    found = table.drop_nulls("threshold")
    assert_frame_equal(
        found, counts.join(found.select(keys), on=keys, nulls_equal=True, how="semi")
    )
    assert table.height == counts.height / 3
    for (*group,), rows in counts.group_by("segment", "level", "model"):
        best = rows["accuracy"].max()
        (row,) = [row for row in table.rows() if list(row[:3]) == group]
        assert row[-1] == (None if best is None else pytest.approx(best, abs=1e-12))


def test_columns_are_the_counts_and_the_metrics_of_the_criterion() -> None:
    criterion = bm.maximum(bm.fbeta(2.0), bm.at_most("fpr", 0.5), bm.at_least("tp", 1))
    table = FRAME.binmetrics.best_threshold("s", "y", criterion=criterion, by="g")
    counts = ["tp", "fp", "fn", "tn"]
    assert table.columns == ["g", "model", "threshold", *counts, "fbeta", "fpr"]
    assert table.binmetrics.rates("f1").columns[-1] == "f1"


def test_where_nothing_qualifies_all_but_segment_and_model_is_null() -> None:
    table = FRAME.binmetrics.best_threshold("s", "y", criterion="youden_j", by="g")
    assert table.select("g", "threshold").rows() == [("a", 0.4), ("b", None)]
    assert table.row(1) == ("b", "s", *[None] * 6)
    impossible = bm.maximum("tpr", bm.at_least("precision", 1.1))
    table = FRAME.binmetrics.best_threshold("s", "y", criterion=impossible, by="g")
    assert table["threshold"].to_list() == [None, None]
    for frame in (FRAME.clear(), FRAME.with_columns(s=pl.lit(None, pl.Float64))):
        table = frame.binmetrics.best_threshold("s", "y", criterion="youden_j")
        assert table.row(0) == ("s", *[None] * 6)
    faulty = FRAME.with_columns(s=pl.lit(math.nan))
    assert faulty.binmetrics.best_threshold("s", "y", criterion="f1")["threshold"].item() is None


def test_of_tied_thresholds_the_highest_is_taken() -> None:
    frame = pl.DataFrame({"s": [0.1, 0.2, 0.3, 0.4], "y": [1, 0, 1, 0]})
    accuracy = frame.binmetrics.best_threshold("s", "y", criterion="accuracy")
    # Two rows right at 0.1 and at 0.3, one at the others.
    assert accuracy["threshold"].item() == 0.3


def test_rounding_does_not_break_a_tie() -> None:
    # TPR - FPR is 7/10 - 2/5 at the first and 3/10 at the second: equal, but not in Float64.
    assert 7 / 10 - 2 / 5 != 3 / 10 - 0 / 5
    rows = [(0.9, 1)] * 3 + [(0.5, 1)] * 4 + [(0.5, 0)] * 2 + [(0.1, 1)] * 3 + [(0.1, 0)] * 3
    frame = pl.DataFrame(rows, schema=["s", "y"], orient="row")
    table = frame.binmetrics.best_threshold("s", "y", criterion="youden_j")
    assert table["threshold"].item() == 0.9


def test_thresholds_are_never_tied_with_each_other() -> None:
    frame = pl.DataFrame({"s": [1e-13, 2e-13, 3e-13], "y": [0, 1, 1]})
    for criterion, expected in (
        (bm.minimum("threshold", bm.at_least("precision", 0.9)), 2e-13),
        (bm.maximum("threshold", bm.at_least("tpr", 0.9)), 2e-13),
    ):
        table = frame.binmetrics.best_threshold("s", "y", criterion=criterion)
        assert table["threshold"].item() == expected


def test_an_infinite_value_is_the_best_of_all() -> None:
    table = FRAME.filter(g="a").binmetrics.best_threshold("s", "y", criterion="lr_positive")
    assert table.select("threshold", "lr_positive").row(0) == (0.5, math.inf)


def test_net_benefit_is_taken_at_each_threshold() -> None:
    table = FRAME.binmetrics.best_threshold("s", "y", criterion=bm.maximum("net_benefit"))
    rated = FRAME.binmetrics.evaluate("s", "y", metrics="net_benefit", thresholds=bm.every_score())
    assert table["net_benefit"].item() == rated["net_benefit"].max()


def test_grids_are_searched_as_every_score_is() -> None:
    for thresholds in (0.3, [0.15, 0.35], bm.uniform(11), bm.quantiles(3)):
        table = FRAME.binmetrics.best_threshold(
            "s", "y", criterion="f1", thresholds=thresholds, by="g"
        )
        counts = FRAME.binmetrics.counts("s", "y", thresholds=thresholds, by="g")
        best = counts.binmetrics.rates("f1").filter(g="a")["f1"].max()
        assert table.filter(g="a")["f1"].item() == best


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: "recal", ValueError, "`criterion`: there is no metric 'recal'; did you mean"),
        (lambda: "prevalence", ValueError, "`criterion`: no value of 'prevalence' is best; say"),
        (lambda: "roc_auc", ValueError, "`criterion`: 'roc_auc' is not of the counts"),
        (lambda: 0.5, TypeError, "`criterion` should be names or metrics, got float"),
        (lambda: "threshold", ValueError, "`criterion`: there is no metric 'threshold'"),
        (lambda: "fbeta", TypeError, "`criterion`: 'fbeta': missing a required argument"),
        (lambda: bm.maximum("xyz"), ValueError, "`metric`: there is no metric 'xyz'"),
        (lambda: bm.maximum("brier"), ValueError, "`metric`: 'brier' is not of the counts"),
        (lambda: bm.maximum("tpr", 0.1), TypeError, "`constraints` should be made by at_least"),
        (lambda: bm.at_least("roc_auc", 0.1), ValueError, "`metric`: 'roc_auc' is not of"),
        (lambda: bm.at_most("fpr", "0.1"), TypeError, "`value` should be a number, got '0.1'"),
        (lambda: bm.at_most("fpr", math.nan), TypeError, "`value` should be a number, got nan"),
        (
            lambda: bm.maximum(bm.fbeta(1.0), bm.at_least(bm.fbeta(2.0), 0.5)),
            DuplicateError,
            "`criterion`: two metrics are called 'fbeta'; rename one",
        ),
        (
            lambda: bm.maximum(bm.recall.alias("tn")),
            DuplicateError,
            "`criterion`: the output has a column 'tn' of its own",
        ),
    ],
)
def test_criteria_that_are_none(make: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        FRAME.lazy().binmetrics.best_threshold("s", "y", criterion=make())


def test_one_metric_may_be_bounded_on_both_sides_and_be_the_target() -> None:
    criterion = bm.maximum("tpr", bm.at_most("tpr", 0.7), bm.at_least("tpr", 0.2))
    table = FRAME.filter(g="a").binmetrics.best_threshold("s", "y", criterion=criterion)
    assert table.select("threshold", "tpr").row(0) == (0.4, 2 / 3)


def test_criteria_are_values() -> None:
    assert bm.maximum("tpr", bm.at_most("fpr", 0.1)) == bm.maximum(bm.tpr, bm.at_most(bm.fpr, 0.1))
    assert bm.maximum("f1") != bm.minimum("f1")
