"""The bootstrap from counts is that of the rows, at no cost of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_binmetrics as bm
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.registry import METRICS
from tests.expected import EXPECTED, PARAMETERS

CELLS = ["tp", "fp", "fn", "tn"]
SOME = (30, 10, 20, 40)
COUNT_METRICS: list[Any] = [
    METRICS[name](**PARAMETERS.get(name, {}))
    for name in EXPECTED
    if isinstance(METRICS[name], CountMetric)
]


def counts(*rows: tuple[int, int, int, int]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=CELLS, orient="row").with_columns(threshold=0.5)


def ends(table: pl.DataFrame, name: str) -> tuple[float | None, float | None]:
    return table[f"{name}_low"].item(), table[f"{name}_high"].item()


@pytest.mark.parametrize(("corrected", "method"), [(True, "BCa"), (False, "percentile")])
def test_it_is_that_of_scipy_on_the_rows(corrected: bool, method: str) -> None:
    right = np.repeat([1, 0], [70, 30])
    expected = stats.bootstrap(
        (right,), np.mean, n_resamples=50_000, method=method, rng=np.random.default_rng(1)
    ).confidence_interval
    interval = bm.bootstrap(n=50_000, seed=2, corrected=corrected)
    found = ends(counts(SOME).binmetrics.rates("accuracy", interval=interval), "accuracy")
    assert found == pytest.approx((expected.low, expected.high), abs=0.0101)


@pytest.mark.parametrize("stratified", [False, True])
def test_its_quantiles_are_those_of_rows_drawn_by_hand(stratified: bool) -> None:
    random = np.random.default_rng(3)
    cell = np.repeat(np.arange(4), SOME)
    strata = [np.isin(cell, side) for side in ([0, 2], [1, 3])] if stratified else [cell >= 0]
    drawn = [
        np.concatenate([random.choice(cell[of], of.sum()) for of in strata]) for _ in range(4000)
    ]
    table = pl.DataFrame(np.array([np.bincount(each, minlength=4) for each in drawn]), schema=CELLS)
    by_hand = table.binmetrics.rates("f1")["f1"]
    interval = bm.bootstrap(0.9, n=4000, seed=4, corrected=False, stratified=stratified)
    found = ends(counts(SOME).binmetrics.rates("f1", interval=interval), "f1")
    expected = [by_hand.quantile(share, "linear") for share in (0.05, 0.95)]
    assert found == pytest.approx(expected, abs=0.01)


def test_classes_drawn_by_themselves_keep_their_sizes() -> None:
    interval = bm.bootstrap(seed=1, stratified=True)
    table = counts(SOME).binmetrics.rates("prevalence", interval=interval)
    assert ends(table, "prevalence") == (0.5, 0.5)


def test_every_metric_of_the_counts_has_one() -> None:
    table = counts((300, 100, 200, 400)).binmetrics.rates(
        COUNT_METRICS, interval=bm.bootstrap(seed=1)
    )
    for metric in COUNT_METRICS:
        if not metric.additive:
            low, high = ends(table, metric.name)
            assert low is not None
            assert high is not None
            assert low < table[metric.name].item() < high


def test_a_seed_gives_the_same_on_any_engine_in_any_order_and_in_parts() -> None:
    frame = counts(SOME, (3, 1, 2, 4), (5, 5, 5, 5), (0, 1, 9, 90))
    interval = bm.bootstrap(seed=7)
    whole = frame.binmetrics.rates("f1", "mcc", interval=interval)
    streamed = frame.lazy().binmetrics.rates("f1", "mcc", interval=interval)
    assert_frame_equal(streamed.collect(engine="streaming"), whole)
    backwards = frame.reverse().binmetrics.rates("f1", "mcc", interval=interval)
    assert_frame_equal(backwards.reverse(), whole)
    parts = [part.binmetrics.rates("f1", "mcc", interval=interval) for part in frame.iter_slices(1)]
    assert_frame_equal(pl.concat(parts), whole)
    other = frame.binmetrics.rates("f1", "mcc", interval=bm.bootstrap(seed=8))
    assert other["f1_low"].to_list() != whole["f1_low"].to_list()


def test_rows_and_their_counts_have_the_same() -> None:
    rows = pl.DataFrame({"s": [0.9, 0.8, 0.3, 0.1] * 10, "y": [1, 0, 1, 0] * 10})
    interval = bm.bootstrap(seed=1)
    evaluated = rows.binmetrics.evaluate("s", "y", metrics="f1", interval=interval)
    counted = rows.binmetrics.counts("s", "y").binmetrics.rates("f1", interval=interval)
    assert ends(evaluated, "f1") == ends(counted, "f1")


RANKED = ["roc_auc", "ks", "average_precision", bm.partial_auc(fpr=(0, 0.5))]
NAMES = ["roc_auc", "ks", "average_precision", "partial_auc"]


def ranked_rows(size: int) -> pl.DataFrame:
    random = np.random.default_rng(11)
    label = np.arange(size) % 3 == 0
    score = np.round(random.normal(size=size) + label, 1)
    segment = np.where(np.arange(size) < size // 2, "a", "b")
    return pl.DataFrame({"s": score, "y": label, "g": segment})


def test_ranks_have_the_quantiles_of_rows_drawn_by_hand() -> None:
    frame, draws = ranked_rows(150), 3000
    drawn = np.random.default_rng(12).integers(0, frame.height, draws * frame.height)
    copies = frame[drawn].with_columns(draw=np.repeat(np.arange(draws), frame.height))
    ask: dict[str, Any] = {"metrics": RANKED, "thresholds": None}
    by_hand = copies.binmetrics.evaluate("s", "y", by="draw", **ask)
    interval = bm.bootstrap(0.9, n=3000, seed=13, corrected=False)
    table = frame.binmetrics.evaluate("s", "y", interval=interval, **ask)
    for name in NAMES:
        expected = [by_hand[name].quantile(share, "linear") for share in (0.05, 0.95)]
        assert ends(table, name) == pytest.approx(expected, abs=0.012)


def test_segments_of_ranks_are_drawn_by_themselves_on_any_engine() -> None:
    frame = ranked_rows(100)
    interval = bm.bootstrap(n=200, seed=1)
    plan = frame.lazy().binmetrics.evaluate("s", "y", by="g", metrics=RANKED, interval=interval)
    table = plan.collect()
    assert_frame_equal(plan.collect(engine="streaming"), table)
    for segment in ("a", "b"):
        rows = frame.filter(g=segment).reverse()
        alone = rows.binmetrics.evaluate("s", "y", metrics=RANKED, interval=interval)
        assert_frame_equal(alone, table.filter(g=segment).drop("g"))


def test_areas_have_nearly_delongs() -> None:
    frame = ranked_rows(600)
    ask: dict[str, Any] = {"metrics": "roc_auc", "thresholds": None}
    delong = frame.binmetrics.evaluate("s", "y", interval=0.95, **ask)
    table = frame.binmetrics.evaluate("s", "y", interval=bm.bootstrap(seed=3, n=4000), **ask)
    assert ends(table, "roc_auc") == pytest.approx(ends(delong, "roc_auc"), abs=0.01)


def test_ranks_of_one_class_have_none() -> None:
    frame = pl.DataFrame({"s": [0.1, 0.2, 0.3], "y": [1, 1, 1]})
    table = frame.binmetrics.evaluate(
        "s", "y", metrics=["ks", "roc_auc"], interval=bm.bootstrap(seed=1)
    )
    assert ends(table, "ks") == ends(table, "roc_auc") == (None, None)


def test_a_trillion_rows_are_no_more_work() -> None:
    many = tuple(10**12 * cell for cell in SOME)
    table = counts(many).binmetrics.rates("f1", interval=bm.bootstrap(seed=1))  # type: ignore[arg-type]
    low, high = ends(table, "f1")
    assert (low, high) == pytest.approx((2 / 3, 2 / 3), abs=1e-5)


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (0, 5, 0, 5)])
def test_undefined_has_none(cells: tuple[int, int, int, int]) -> None:
    table = counts(cells).binmetrics.rates("recall", interval=bm.bootstrap(seed=1))
    assert ends(table, "recall") == (None, None)


def test_faults_and_edited_counts_have_none() -> None:
    frame = counts(SOME, SOME).with_columns(
        tp=pl.Series([None, -1], dtype=pl.Int64), fn=pl.Series([None, 1], dtype=pl.Int64)
    )
    table = frame.binmetrics.rates("recall", interval=bm.bootstrap(seed=1))
    assert table["recall_low"].to_list() == [None, None]


def test_where_all_draws_agree_it_has_no_width() -> None:
    table = counts((5, 0, 0, 5)).binmetrics.rates("accuracy", interval=bm.bootstrap(seed=1))
    assert ends(table, "accuracy") == (1, 1)


@pytest.mark.parametrize(
    "given", [{"n": 0}, {"n": 2.5}, {"seed": -1}, {"seed": None}, {"level": 1}, {"n": True}]
)
def test_arguments_out_of_range_are_refused(given: dict[str, Any]) -> None:
    name = next(iter(given))
    with pytest.raises((TypeError, ValueError), match=f"`{name}`"):
        bm.bootstrap(**{"seed": 1, **given})


def test_weights_are_refused() -> None:
    frame = pl.DataFrame({"s": [0.9, 0.1], "y": [1, 0], "w": [1.0, 1.0]})
    interval = bm.bootstrap(seed=1)
    with pytest.raises(ValueError, match="weights"):
        frame.binmetrics.evaluate("s", "y", weight="w", metrics="f1", interval=interval)
    weighted = frame.binmetrics.counts("s", "y", weight="w")
    with pytest.raises(ValueError, match="weights"):
        weighted.binmetrics.rates("f1", interval=interval)


def test_95_percent_of_the_intervals_hold_the_true_value() -> None:
    cells = np.array([0.2, 0.1, 0.15, 0.55])
    drawn = np.random.default_rng(9).multinomial(300, cells, size=2000)
    interval = bm.bootstrap(0.95, n=1000, seed=1)
    table = pl.DataFrame(drawn, schema=CELLS).binmetrics.rates("f1", interval=interval)
    true = counts((20, 10, 15, 55)).binmetrics.rates("f1")["f1"].item()
    held = table.select(pl.lit(true).is_between("f1_low", "f1_high").mean()).item()
    assert 0.935 < held < 0.965
