"""Curves: the counts along the thresholds, and rates of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import polars as pl
from polars.exceptions import ColumnNotFoundError, DuplicateError

from polars_binmetrics import rates
from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean
from polars_binmetrics.counts import CELLS
from polars_binmetrics.evaluate import COUNTS
from polars_binmetrics.face import Frame, FrameFace, like
from polars_binmetrics.hull import hull_of_sweep
from polars_binmetrics.metric import CountMetric
from polars_binmetrics.ranking import ranked
from polars_binmetrics.state import BELOW, SIDES, SIZES, Sweep, from_ends, sound
from polars_binmetrics.sweep import cut, limits, sweep
from polars_binmetrics.table import with_rates
from polars_binmetrics.thresholds import (
    EveryScore,
    IntoThresholds,
    every_score,
    thresholds_of,
    uniform,
)
from polars_binmetrics.wording import documented

threshold = pl.col("threshold")
FPR, TPR = pl.col("fpr"), pl.col("tpr")
FPR_TPR = rates.fpr, rates.tpr


@documented(drop_collinear="Leave out the points on the line between their neighbours.")
def roc_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    drop_collinear: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    ROC curve: the true beside the false positive rate, along the thresholds.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, fpr, tpr]``, sorted: from exactly (1, 1) at the
        lowest score, or at -inf where the thresholds leave rows below them, to (0, 0) at inf.
        The rates are Float64 from 0 to 1, null without rows of their class; counts and rates are
        null where a row is at fault.

    Notes
    -----
    The cost of `counts` at these thresholds: with every score one sort a model.

    Source: T. Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.roc_curve("score", "y").select("threshold", "fpr", "tpr")
    shape: (5, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ fpr ┆ tpr │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ f64 ┆ f64 │
    ╞═══════════╪═════╪═════╡
    │ 0.1       ┆ 1.0 ┆ 1.0 │
    │ 0.4       ┆ 0.5 ┆ 1.0 │
    │ 0.6       ┆ 0.5 ┆ 0.5 │
    │ 0.8       ┆ 0.0 ┆ 0.5 │
    │ inf       ┆ 0.0 ┆ 0.0 │
    └───────────┴─────┴─────┘
    """
    rows = _rows(self, scores, label, by, weight, positive, rollup, FPR_TPR)
    swept = _swept(rows, thresholds, strict, rollup)
    return _curve(self, rows, _bent(swept) if drop_collinear else swept, FPR_TPR)


@documented()
def pr_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    Precision-recall curve: precision beside recall, along the thresholds.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, recall, precision]``, sorted: from a recall of
        exactly 1, at the lowest score, to 0 at inf, where precision is undefined and null: no
        point is made up there. Otherwise as `roc_curve`.

    Notes
    -----
    The cost of `counts` at these thresholds: with every score one sort a model. Between points,
    true and false positives grow in proportion; a straight line would promise too much.

    Source: J. Davis and M. Goadrich, The relationship between precision-recall and ROC curves,
    ICML, 2006.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.pr_curve("score", "y").select("threshold", "recall", "precision")
    shape: (5, 3)
    ┌───────────┬────────┬───────────┐
    │ threshold ┆ recall ┆ precision │
    │ ---       ┆ ---    ┆ ---       │
    │ f64       ┆ f64    ┆ f64       │
    ╞═══════════╪════════╪═══════════╡
    │ 0.1       ┆ 1.0    ┆ 0.5       │
    │ 0.4       ┆ 1.0    ┆ 0.666667  │
    │ 0.6       ┆ 0.5    ┆ 0.5       │
    │ 0.8       ┆ 0.5    ┆ 1.0       │
    │ inf       ┆ 0.0    ┆ null      │
    └───────────┴────────┴───────────┘
    """
    chosen = rates.recall, rates.precision
    rows = _rows(self, scores, label, by, weight, positive, rollup, chosen)
    return _curve(self, rows, _swept(rows, thresholds, strict, rollup), chosen)


@documented()
def det_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    Detection error trade-off: misses beside false alarms, along the thresholds.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, fpr, fnr]``, sorted: from (1, 0) at the lowest
        score to (0, 1) at inf. Otherwise as `roc_curve`.

    Notes
    -----
    The cost of `counts` at these thresholds: with every score one sort a model.

    Source: A. Martin et al., The DET curve in assessment of detection task performance,
    Eurospeech, 1997.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.det_curve("score", "y").select("threshold", "fpr", "fnr")
    shape: (5, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ fpr ┆ fnr │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ f64 ┆ f64 │
    ╞═══════════╪═════╪═════╡
    │ 0.1       ┆ 1.0 ┆ 0.0 │
    │ 0.4       ┆ 0.5 ┆ 0.0 │
    │ 0.6       ┆ 0.5 ┆ 0.5 │
    │ 0.8       ┆ 0.0 ┆ 0.5 │
    │ inf       ┆ 0.0 ┆ 1.0 │
    └───────────┴─────┴─────┘
    """
    chosen = rates.fpr, rates.fnr
    rows = _rows(self, scores, label, by, weight, positive, rollup, chosen)
    return _curve(self, rows, _swept(rows, thresholds, strict, rollup), chosen)


@documented()
def gain_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    Cumulative gains: the share of positives found beside the share of rows tested.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, predicted_positive_rate, tpr, lift]``, sorted:
        from (1, 1) at the lowest score to (0, 0) at inf. `lift` is
        ``tpr / predicted_positive_rate``, null where nothing is tested. Otherwise as `roc_curve`.

    Notes
    -----
    The cost of `counts` at these thresholds: with every score one sort a model.

    Source: M. Vuk and T. Curk, ROC curve, lift chart and calibration plot, Metodoloski zvezki 3,
    2006.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> gains = df.binmetrics.gain_curve("score", "y")
    >>> gains.select("threshold", "predicted_positive_rate", "tpr", "lift")
    shape: (5, 4)
    ┌───────────┬─────────────────────────┬─────┬──────────┐
    │ threshold ┆ predicted_positive_rate ┆ tpr ┆ lift     │
    │ ---       ┆ ---                     ┆ --- ┆ ---      │
    │ f64       ┆ f64                     ┆ f64 ┆ f64      │
    ╞═══════════╪═════════════════════════╪═════╪══════════╡
    │ 0.1       ┆ 1.0                     ┆ 1.0 ┆ 1.0      │
    │ 0.4       ┆ 0.75                    ┆ 1.0 ┆ 1.333333 │
    │ 0.6       ┆ 0.5                     ┆ 0.5 ┆ 1.0      │
    │ 0.8       ┆ 0.25                    ┆ 0.5 ┆ 2.0      │
    │ inf       ┆ 0.0                     ┆ 0.0 ┆ null     │
    └───────────┴─────────────────────────┴─────┴──────────┘
    """
    chosen = rates.predicted_positive_rate, rates.tpr
    rows = _rows(self, scores, label, by, weight, positive, rollup, chosen, "lift")
    tested = pl.col("predicted_positive_rate")
    lift = pl.when(tested > 0).then(TPR / tested)
    return _curve(self, rows, _swept(rows, thresholds, strict, rollup), chosen, lift=lift)


@documented(
    thresholds="Probabilities from 0 up to 1, as in `counts`; by default every percent from 0.01"
    " to 0.99."
)
def decision_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> Frame:
    """
    Decision curve: the net benefit of acting on the score, on all rows, or on none.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, net_benefit, treat_all, treat_none,
        interventions_avoided]``, sorted, with odds ``o = t / (1 - t)`` at the threshold t:
        ``TP / n - o FP / n``; the same were all rows called positive, ``prevalence - o (1 -
        prevalence)``; 0; and the rows that need no intervention, per row, beyond those of treating
        all, ``(net_benefit - treat_all) / o``. Null where undefined, as at a threshold of 0.

    Notes
    -----
    The cost of `counts` at these thresholds; by default every percent from 0.01 to 0.99. The
    threshold is the probability at which one would act; numbers must be from 0 up to 1.

    Source: A. Vickers and E. Elkin, Decision curve analysis: a novel method for evaluating
    prediction models, Medical Decision Making 26, 2006.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> curve = df.binmetrics.decision_curve("score", "y", thresholds=[0.2, 0.5])
    >>> curve.select("threshold", "net_benefit", "treat_all", "interventions_avoided")
    shape: (2, 4)
    ┌───────────┬─────────────┬───────────┬───────────────────────┐
    │ threshold ┆ net_benefit ┆ treat_all ┆ interventions_avoided │
    │ ---       ┆ ---         ┆ ---       ┆ ---                   │
    │ f64       ┆ f64         ┆ f64       ┆ f64                   │
    ╞═══════════╪═════════════╪═══════════╪═══════════════════════╡
    │ 0.2       ┆ 0.4375      ┆ 0.375     ┆ 0.25                  │
    │ 0.5       ┆ 0.0         ┆ 0.0       ┆ 0.0                   │
    └───────────┴─────────────┴───────────┴───────────────────────┘
    """
    added = ["treat_all", "treat_none", "interventions_avoided"]
    rows = _rows(self, scores, label, by, weight, positive, rollup, [rates.net_benefit], *added)
    spec = thresholds_of("thresholds", uniform(101)[1:-1] if thresholds is None else thresholds)
    if isinstance(spec, list) and not (spec[0] >= 0 and spec[-1] < 1):
        raise ValueError("`thresholds` should be probabilities, from 0 up to 1")
    table = with_rates(
        sweep(rows, spec, strict=strict, rollup=rollup).counts(),
        [rates.net_benefit, rates.prevalence],
    )
    table = treated(table)
    return like(self.frame, rows.named(table.drop("group", *SIZES, "prevalence")))


@documented(
    bins="The limits of the bins: numbers, `uniform`, `dyadic`, `quantiles` or `every_score`; by"
    " default ten bins of equal width from 0 to 1."
)
def calibration_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    bins: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> Frame:
    """
    Calibration curve: the observed rate beside the mean score, bin by bin.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, n, mean_score, observed_rate]``, sorted. A bin reaches from its
        threshold, included, up to the next limit; the last one includes its upper limit and all
        above. Scores below all limits are in a bin with a null threshold, where there are any.
        `n` is Int64, or Float64 with weights; means are Float64, null in a bin without rows;
        all of them null where a row is at fault.

    Notes
    -----
    One sort a model, as the limits may come from the scores.

    Source: A. Murphy and R. Winkler, Reliability of subjective probability forecasts of
    precipitation and temperature, JRSS C 26, 1977.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.calibration_curve("score", "y", bins=[0, 0.5, 1])
    shape: (2, 5)
    ┌───────┬───────────┬─────┬────────────┬───────────────┐
    │ model ┆ threshold ┆ n   ┆ mean_score ┆ observed_rate │
    │ ---   ┆ ---       ┆ --- ┆ ---        ┆ ---           │
    │ str   ┆ f64       ┆ i64 ┆ f64        ┆ f64           │
    ╞═══════╪═══════════╪═════╪════════════╪═══════════════╡
    │ score ┆ 0.0       ┆ 2   ┆ 0.25       ┆ 0.5           │
    │ score ┆ 0.5       ┆ 2   ┆ 0.7        ┆ 0.5           │
    └───────┴───────────┴─────┴────────────┴───────────────┘
    """
    rows = _rows(
        self, scores, label, by, weight, positive, rollup, [], "n", "mean_score", "observed_rate"
    )
    spec = thresholds_of("bins", uniform(11) if bins is None else bins)
    if isinstance(spec, list) and len(spec) < 2:
        raise ValueError(f"`bins` should hold at least two limits, got {len(spec)}")
    ranks = ranked(rows, rollup=rollup)
    size = pl.sum_horizontal(SIDES)
    ranks = ranks._replace(state=ranks.state.with_columns(total=threshold * size).cache())
    points = limits(ranks, spec, finest=len(rows.keys) if rollup else None)
    # The last bin includes the highest limit.
    several = threshold.n_unique().over("group") > 1
    points = points.filter(~several | (threshold < threshold.max().over("group")))
    filled = pl.when(size > 0)
    table = (
        cut(ranks, points, strict=False, sums=[*SIDES, "total"])
        .filter(threshold.is_not_nan() | (threshold.is_null() & (size > 0)))
        .with_columns(
            n=size,
            mean_score=filled.then(pl.col("total").cast(pl.Float64) / size),
            observed_rate=filled.then(pl.col("positives") / size),
        )
        .join(ranks.groups, on="group", how="left", maintain_order="left")
        .select(*ranks.by, "threshold", sound("n", "mean_score", "observed_rate"))
    )
    return like(self.frame, rows.named(table))


@documented()
def roc_hull(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> Frame:
    """
    Convex hull of the ROC curve: the thresholds that are best for some costs and prevalence.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, tp, fp, fn, tn, fpr, tpr]``, as `roc_curve`, with the corners of
        the hull alone; between two of them, `attain` gives a randomised classifier. A curve below
        the diagonal has the hull of its two ends.

    Notes
    -----
    One sort a model, then some forty short steps, each on what the one before has left.

    Source: F. Provost and T. Fawcett, Robust classification for imprecise environments, Machine
    Learning 42, 2001.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]})
    >>> df.binmetrics.roc_hull("score", "y").select("threshold", "fpr", "tpr")
    shape: (4, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ fpr ┆ tpr │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ f64 ┆ f64 │
    ╞═══════════╪═════╪═════╡
    │ 0.1       ┆ 1.0 ┆ 1.0 │
    │ 0.2       ┆ 0.5 ┆ 1.0 │
    │ 0.4       ┆ 0.0 ┆ 0.5 │
    │ inf       ┆ 0.0 ┆ 0.0 │
    └───────────┴─────┴─────┘
    """
    rows = _rows(self, scores, label, by, weight, positive, rollup, FPR_TPR)
    return _curve(self, rows, hull_of_sweep(ranked(rows, rollup=rollup)), FPR_TPR)


@documented()
def cost_curve(
    self: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    *,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> Frame:
    """
    Cost curve of Drummond and Holte: the least expected cost for all costs and prevalences.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, probability_cost, normalized_expected_cost, threshold]``, sorted: the
        corners of the curve, which is straight between them. The probability cost is ``x = p
        cost_fn / (p cost_fn + (1 - p) cost_fp)`` at a prevalence of p, from 0 to 1; the cost is
        ``FNR x + FPR (1 - x)``, 0 to 1/2, as a share of the greatest; `threshold` is the best
        one from there to the next corner. Null with one class only or where a row is at fault.

    Notes
    -----
    The cost of `roc_hull`.

    Source: C. Drummond and R. Holte, Cost curves: an improved method for visualizing classifier
    performance, Machine Learning 65, 2006.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]})
    >>> df.binmetrics.cost_curve("score", "y")
    shape: (3, 4)
    ┌───────┬──────────────────┬──────────────────────────┬───────────┐
    │ model ┆ probability_cost ┆ normalized_expected_cost ┆ threshold │
    │ ---   ┆ ---              ┆ ---                      ┆ ---       │
    │ str   ┆ f64              ┆ f64                      ┆ f64       │
    ╞═══════╪══════════════════╪══════════════════════════╪═══════════╡
    │ score ┆ 0.0              ┆ 0.0                      ┆ 0.4       │
    │ score ┆ 0.5              ┆ 0.25                     ┆ 0.2       │
    │ score ┆ 1.0              ┆ 0.0                      ┆ 0.1       │
    └───────┴──────────────────┴──────────────────────────┴───────────┘
    """
    added = ["probability_cost", "normalized_expected_cost"]
    rows = _rows(self, scores, label, by, weight, positive, rollup, FPR_TPR, *added)
    hull = hull_of_sweep(ranked(rows, rollup=rollup))
    group = pl.col("group")
    # Of the two at a score of infinity, that of no row called positive comes first.
    corners = (
        with_rates(_points(hull), FPR_TPR)
        .sort(group, threshold, FPR + TPR, descending=[False, True, False])
        .with_columns(first=(group != group.shift(1)).fill_null(True))
    )
    # A corner is the best from where it costs no more than the one before.
    right, up = FPR - FPR.shift(1), TPR - TPR.shift(1)
    begin = pl.when("first").then((FPR + TPR) * 0).otherwise(right / (right + up))
    x = pl.col("probability_cost")
    begun = corners.with_columns(begin.over("group").alias("probability_cost")).filter(
        x.is_not_null() | pl.col("first")
    )
    ended = (
        begun.group_by("group")
        .agg(pl.all().last())
        .with_columns(probability_cost=1.0)
        .filter((FPR + TPR).is_not_null())
    )
    table = (
        pl.concat([begun, ended.select(begun.collect_schema().names())])
        .sort(group, x, threshold, descending=[False, False, True])
        # A corner that is best at a point alone is none.
        .filter(~pl.struct("group", x).eq_missing(pl.struct("group", x).shift(-1)))
        .select(*hull.by, x, ((1 - TPR) * x + FPR * (1 - x)).alias(added[1]), "threshold")
    )
    return like(self.frame, rows.named(table))


def treated(table: pl.LazyFrame) -> pl.LazyFrame:
    """Net benefit and prevalence at thresholds, beside those of treating all rows and none."""
    odds, prevalence = threshold / (1 - threshold), pl.col("prevalence")
    # Probabilities below 1 have odds.
    everyone = pl.when(threshold.is_between(0, 1, closed="left")).then(
        prevalence - odds * (1 - prevalence)
    )
    benefit = pl.col("net_benefit")
    return table.with_columns(treat_all=everyone).with_columns(
        treat_none=pl.when(benefit.is_not_null()).then(0.0),
        interventions_avoided=pl.when(odds > 0).then((benefit - pl.col("treat_all")) / odds),
    )


def mean_cost() -> pl.Expr:
    """The area under the corners of a cost curve: its mean over all probability costs."""
    x, y = pl.col("probability_cost"), pl.col("normalized_expected_cost")
    return pl.when(y.count() > 0).then((x.diff() * (y + y.shift(1)) / 2).sum())


def attain(self: FrameFace[Frame], *, fpr: float | None = None, tpr: float | None = None) -> Frame:
    """
    The classifier on a hull that reaches an FPR or a TPR, by chance between two thresholds.

    Parameters
    ----------
    fpr, tpr
        The rate to reach, 0 to 1; one of the two.

    Returns
    -------
    DataFrame or LazyFrame
        ``[*by, model, threshold, other_threshold, probability, fpr, tpr]``, a row a segment and
        model: use `other_threshold` with that probability, and `threshold` else; the expected
        rates are `fpr` and `tpr`. Of all classifiers with that FPR the one with the highest TPR,
        and of those with that TPR the one with the lowest FPR. Null where the rates are.

    Raises
    ------
    ValueError, TypeError
        When not one of the two rates is given, or it is not from 0 to 1.
    ColumnNotFoundError, DuplicateError
        When the frame is no ROC curve or hull, or has a column called like a result.

    Notes
    -----
    Arithmetic on the points of `roc_hull` or `roc_curve`.

    Source: F. Provost and T. Fawcett, Robust classification for imprecise environments, Machine
    Learning 42, 2001.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]})
    >>> df.binmetrics.roc_hull("score", "y").binmetrics.attain(fpr=0.25)
    shape: (1, 6)
    ┌───────┬───────────┬─────────────────┬─────────────┬──────┬──────┐
    │ model ┆ threshold ┆ other_threshold ┆ probability ┆ fpr  ┆ tpr  │
    │ ---   ┆ ---       ┆ ---             ┆ ---         ┆ ---  ┆ ---  │
    │ str   ┆ f64       ┆ f64             ┆ f64         ┆ f64  ┆ f64  │
    ╞═══════╪═══════════╪═════════════════╪═════════════╪══════╪══════╡
    │ score ┆ 0.4       ┆ 0.2             ┆ 0.5         ┆ 0.25 ┆ 0.75 │
    └───────┴───────────┴─────────────────┴─────────────┴──────┴──────┘
    """
    if (fpr is None) == (tpr is None):
        raise ValueError("one of `fpr` and `tpr` should be given")
    name, rate, wanted = ("fpr", FPR, fpr) if tpr is None else ("tpr", TPR, tpr)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        raise TypeError(f"`{name}` should be a number, got {wanted!r}")
    if not 0 <= wanted <= 1:
        raise ValueError(f"`{name}` should be between 0 and 1, got {wanted!r}")
    frame = self.frame.lazy()
    columns = frame.collect_schema().names()
    for needed in ("model", "threshold", "fpr", "tpr"):
        if needed not in columns:
            raise ColumnNotFoundError(
                f"the frame is no ROC curve: it has no column {needed!r}, only {', '.join(columns)}"
            )
    by = [each for each in columns if each not in ("threshold", *CELLS, "fpr", "tpr")]
    for added in ("other_threshold", "probability"):
        if added in by:
            raise DuplicateError(f"the frame has a column {added!r} already; rename it")
    known = pl.all_horizontal(pl.col("fpr", "tpr").is_not_null())
    points = frame.select(
        *by, "threshold", *(pl.when(known).then(each).alias(each) for each in ("fpr", "tpr"))
    ).sort(*by, "threshold")
    # Along the curve, the rates grow as the threshold falls.
    step = 1 if name == "fpr" else -1
    other = pl.struct("threshold", "fpr", "tpr").shift(step).over(by)
    beyond = pl.col("other_threshold").struct.field(name)
    if name == "fpr":
        near, past, short = rate <= wanted, beyond > wanted, rate < wanted
    else:
        near, past, short = rate >= wanted, beyond < wanted, rate > wanted
    chosen = (
        points.with_columns(other_threshold=other)
        .filter(near.fill_null(True) & past.fill_null(True))
        .with_columns(
            pl.when(short).then("other_threshold").fill_null(pl.struct("threshold", "fpr", "tpr"))
        )
    )
    share = pl.when(beyond != rate).then((rate - wanted) / (rate - beyond)).otherwise(rate * 0)
    towards = {
        each: pl.col(each)
        + pl.col("probability") * (pl.col("other_threshold").struct.field(each) - pl.col(each))
        for each in ("fpr", "tpr")
    }
    table = (
        chosen.with_columns(share.alias("probability"))
        .with_columns(**towards)
        .select(
            *by,
            "threshold",
            pl.col("other_threshold").struct.field("threshold").alias("other_threshold"),
            "probability",
            "fpr",
            "tpr",
        )
    )
    return like(self.frame, table.unique(by, keep="first", maintain_order=True))


def _rows(
    face: FrameFace[Frame],
    scores: IntoColumns,
    label: IntoColumn,
    by: IntoColumns | None,
    weight: IntoColumn | None,
    positive: object,
    rollup: bool,
    chosen: Sequence[CountMetric[...]],
    *added: str,
) -> Clean:
    names = [metric.name for metric in chosen]
    return clean(
        face.frame.lazy(),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=[*COUNTS, *names, *added],
    )


def _swept(rows: Clean, thresholds: IntoThresholds | None, strict: bool, rollup: bool) -> Sweep:
    """The state whose bins end at the points of a curve."""
    spec = thresholds_of("thresholds", every_score() if thresholds is None else thresholds)
    swept = sweep(rows, spec, strict=strict, rollup=rollup)
    if isinstance(spec, EveryScore) and not (strict or spec.midpoints):
        return swept  # All scores are at or above the lowest one.
    # The rows below all thresholds are above -inf, in a bin of their own.
    empty = swept.groups.select("group", threshold=pl.lit(None, pl.Float64)).with_columns(
        pl.lit(0).alias(side) for side in SIDES
    )
    rest = swept.state.filter(threshold.is_not_null() | (pl.sum_horizontal(SIDES) > 0))
    lowest = rest.with_columns(threshold.fill_null(-inf))
    state = pl.concat([lowest, empty], how="diagonal_relaxed")
    # Nothing is above inf; a point there is the last one.
    last = (threshold == inf) & (pl.sum_horizontal(SIDES) == 0)
    state = (
        state.filter(~last.fill_null(False)).group_by("group", "threshold").agg(pl.col(SIDES).sum())
    )
    return swept.over(state.sort("group", "threshold"))


def _curve(
    face: FrameFace[Frame],
    rows: Clean,
    swept: Sweep,
    chosen: Sequence[CountMetric[...]],
    **added: pl.Expr,
) -> Frame:
    """The curve of a state: counts and rates above each bin."""
    table = with_rates(_points(swept), chosen).with_columns(**added).drop("group")
    return like(face.frame, rows.named(table))


def _points(swept: Sweep) -> pl.LazyFrame:
    """The counts above each bin, the highest one's at inf: [*by, group, threshold, *CELLS]."""
    bins = swept.counted()
    # A bin at NaN, with faulty rows, comes last, if there is one.
    above = threshold.shift(-1)
    highest = above.is_null() | above.is_nan()
    points = bins.with_columns(
        pl.when(highest).then(inf).otherwise(above).alias("threshold"),
        *(
            pl.when(highest).then(0).otherwise(pl.col(cell).shift(-1)).alias(cell)
            for cell in ("tp", "fp")
        ),
        *(pl.col(cell) + pl.col(side) for cell, side in zip(("fn", "tn"), SIDES, strict=True)),
        at_fault=threshold.is_nan().fill_null(False),
    ).filter(~pl.col("at_fault"))
    return points.select(*swept.by, "group", "threshold", sound(*CELLS))


def _bent(swept: Sweep) -> Sweep:
    """The sweep with the bins of a straight stretch of the ROC curve in one."""
    filled = (pl.sum_horizontal(SIDES) != 0) | threshold.is_null() | threshold.is_nan()
    p, n = (pl.col(side).cast(pl.Float64) for side in SIDES)
    p_next, n_next = p.shift(-1), n.shift(-1)
    above = pl.col("above")
    # The next bin goes on in line, unless this is the empty one at the bottom.
    straight = (p * n_next == n * p_next) & threshold.is_not_null() & above.is_not_nan()
    ends = (
        swept.state.filter(filled)
        .with_columns(above=threshold.shift(-1))
        .filter(~straight.fill_null(False))
    )
    running = [pl.col(side) + pl.col(below) for side, below in zip(SIDES, BELOW, strict=True)]
    bins = ends.select("group", above.shift(1).alias("threshold"), *running)
    return swept._replace(state=from_ends(bins, weighted=swept.weighted))
