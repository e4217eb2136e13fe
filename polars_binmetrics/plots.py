"""The plots: of rows, of the curves and tables that the verbs give, and of stored states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from polars_binmetrics import charts, curves, evaluate, histograms, rates
from polars_binmetrics.charts import Axis, Legend
from polars_binmetrics.columns import IntoColumn, IntoColumns, listed
from polars_binmetrics.counts import CELLS
from polars_binmetrics.drawing import (
    AP,
    AUC,
    CLASSES,
    MEAN_COST,
    ROWS,
    ROWS_OF_BINS,
    bars_of,
    check_columns,
    curve_of,
    differences_of,
    drawn,
    estimates_of,
    is_of_differences,
    keyed,
    limits_of,
    metrics_in,
    of_first,
    panels_of,
    prevalence,
    refuse,
    required,
    title_of,
)
from polars_binmetrics.face import Frame, FrameFace
from polars_binmetrics.intervals import IntoInterval, interval_of
from polars_binmetrics.metric import AnyMetric, CountMetric
from polars_binmetrics.refusals import plainly
from polars_binmetrics.registry import IntoMetric, find, of_counts
from polars_binmetrics.table import with_rates
from polars_binmetrics.thresholds import IntoThresholds, uniform
from polars_binmetrics.wording import documented

if TYPE_CHECKING:
    import altair as alt

Plot = TypeVar("Plot", bound=Callable[..., Any])

SHARE = (0, 1)
FPR = Axis("fpr", "False positive rate (share of negatives)", SHARE)
TPR = Axis("tpr", "True positive rate (share of positives)", SHARE)
RECALL = Axis("recall", "Recall (share of positives)", SHARE)
PRECISION = Axis("precision", "Precision (share of rows called positive)", SHARE)
CALLED = Axis("predicted_positive_rate", "Rows called positive (share)", SHARE)
FOUND = Axis("tpr", "Positives found (share)", SHARE)
MEAN_SCORE = Axis("mean_score", "Mean score of the bin (probability)", SHARE)
OBSERVED = Axis("observed_rate", "Positives in the bin (share)", SHARE)
AT = Axis("threshold", "Threshold (score)")
BENEFIT = Axis("net_benefit", "Net benefit (true positives per row)")
PROBABILITY_COST = Axis("probability_cost", "Probability cost (share)", SHARE)
COST = Axis("normalized_expected_cost", "Expected cost (share of the greatest)", (0, 0.5))
SCORE = Axis("threshold", "Score")
DENSITY = Axis("density", "Density (share of the class per unit of score)")
DIAGONAL = [(0.0, 0.0), (1.0, 1.0)]
RAISES = """\
Raises
------
ModuleNotFoundError
    Without altair: install polars-binmetrics[plot].
ColumnNotFoundError, SchemaError, DuplicateError, TypeError, ValueError
    When an argument does not fit, or the frame is none that can be drawn, or has more than 64
    panels.
InvalidOperationError
    When the frame is of several curves that nothing tells apart.

"""
SCORES = (
    "A score column a model, as for the verbs. Leave it out where the frame itself is a curve,"
    " counts at many thresholds, or a histogram."
)
LABEL = "The outcome, as for the verbs; with `scores` only, as all that says how rows are counted."


def plotted(scores: str = SCORES, **own: str) -> Callable[[Plot], Plot]:
    """Document a plot, whose parameters are those of the verbs where there are scores."""
    return documented(raises=RAISES, scores=scores, label=LABEL, **own)


@plotted()
def roc(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw ROC curves, with the area under each.

    Returns
    -------
    alt.Chart
        A line a model, a panel a segment: FPR and TPR from 0 to 1, and the diagonal of chance. The
        area is that under the line: exact of rows, and of counts that of their thresholds. A line
        that is undefined is left out.

    Notes
    -----
    The cost of `roc_curve`; a curve keeps the points that a screen can show.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.plot.roc("score", "y").to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, AUC 0.750', 'chance']
    """
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "rollup": rollup,
    }
    verb = partial(curves.roc_curve, drop_collinear=True)
    curve = curve_of(self, verb, ["fpr", "tpr", *CELLS], scores, label, ask, closed=True)
    return drawn(keyed(curve), title_of(curve), FPR, TPR, AUC, {"chance": DIAGONAL})


@plotted()
def pr(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw precision-recall curves as steps, with the average precision, the area under them.

    Returns
    -------
    alt.Chart
        A line a model, a panel a segment: recall and precision from 0 to 1, and the prevalence,
        which is the precision of chance.

    Notes
    -----
    The cost of `pr_curve`; a curve keeps the points that a screen can show.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.plot.pr("score", "y").to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, AP 0.833', 'prevalence']
    """
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "rollup": rollup,
    }
    needed = ["recall", "precision", *CELLS]
    curve = curve_of(self, curves.pr_curve, needed, scores, label, ask, closed=True)
    groups = [*panels_of(curve), "model"]
    return drawn(
        # Where no row is called positive, the step of the highest score begins.
        keyed(curve.with_columns(pl.col("precision").forward_fill().over(groups))),
        title_of(curve),
        RECALL,
        PRECISION,
        AP,
        {"prevalence": prevalence},
        interpolate="step-before",
        backwards=True,  # Steps go from the left, where a curve ends.
    )


@plotted()
def gain(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw cumulative gains: the share of positives found beside the share of rows tested.

    Returns
    -------
    alt.Chart
        A line a model, a panel a segment, both shares from 0 to 1, and the diagonal of chance.

    Notes
    -----
    The cost of `gain_curve`; a curve keeps the points that a screen can show.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.plot.gain("score", "y").to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, n = 4', 'chance']
    """
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "rollup": rollup,
    }
    needed = ["predicted_positive_rate", "tpr", *CELLS]
    curve = curve_of(self, curves.gain_curve, needed, scores, label, ask, closed=True)
    return drawn(keyed(curve), title_of(curve), CALLED, FOUND, ROWS, {"chance": DIAGONAL})


@plotted(
    scores="A score column a model, as for the verbs. Without, the frame is a calibration curve.",
    bins="The limits of the bins, as of `calibration_curve`; with `scores` only.",
)
def calibration(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    bins: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw calibration curves: the observed rate beside the mean score, bin by bin.

    Returns
    -------
    alt.Chart
        A line a model with a dot a bin, a panel a segment: mean score and observed rate from 0 to
        1, and the diagonal on which they are equal. The tooltip of a dot has the bin's rows.

    Notes
    -----
    The cost of `calibration_curve`. Counts and histograms do not tell the mean score.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> chart = df.binmetrics.plot.calibration("score", "y", bins=[0, 0.5, 1])
    >>> chart.to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, n = 4', 'calibrated']
    """
    ask: dict[str, Any] = {
        "bins": bins,
        "by": by,
        "weight": weight,
        "positive": positive,
        "rollup": rollup,
    }
    needed = ["mean_score", "observed_rate", "n"]
    curve = curve_of(self, curves.calibration_curve, needed, scores, label, ask)
    return drawn(
        keyed(curve),
        title_of(curve),
        MEAN_SCORE,
        OBSERVED,
        ROWS_OF_BINS,
        {"calibrated": DIAGONAL},
        tips=["n"],
        dots=True,
    )


@plotted(thresholds="As of `decision_curve`; with `scores` only.")
def decision(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw decision curves: the net benefit of acting on each score, on all rows, or on none.

    Returns
    -------
    alt.Chart
        A line a model, a panel a segment: the net benefit in true positives per row at each
        threshold, and that of treating all rows and none. Where treating all does harm the line
        leaves the chart.

    Notes
    -----
    The cost of `decision_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.plot.decision("score", "y").to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, n = 4', 'treat all', 'treat none']
    """
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "strict": strict,
        "rollup": rollup,
    }
    curve = curve_of(self, curves.decision_curve, ["net_benefit", *CELLS], scores, label, ask)
    table = curves.treated(with_rates(keyed(curve), [rates.prevalence]))
    references = {
        "treat all": partial(of_first, column="treat_all"),
        "treat none": partial(of_first, column="treat_none"),
    }
    return drawn(table, title_of(curve), AT, BENEFIT, ROWS, references, lowest=-0.25)


@plotted(scores="A score column a model, as for the verbs. Without, the frame is a cost curve.")
def cost(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw cost curves: the least expected cost for all costs and prevalences, and their mean.

    Returns
    -------
    alt.Chart
        A line a model, a panel a segment: the cost, as a share of the greatest, at each
        probability cost from 0 to 1, and that of calling all rows alike. The legend has the
        area under the line, which is the mean cost over all probability costs.

    Notes
    -----
    The cost of `cost_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.binmetrics.plot.cost("score", "y").to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score, mean 0.125', 'no model']
    """
    ask: dict[str, Any] = {"by": by, "weight": weight, "positive": positive, "rollup": rollup}
    needed = ["probability_cost", "normalized_expected_cost"]
    verb = curves.cost_curve
    curve = curve_of(self, verb, needed, scores, label, ask, along="probability_cost")
    alike = {"no model": [(0.0, 0.0), (0.5, 0.5), (1.0, 0.0)]}
    return drawn(keyed(curve), title_of(curve), PROBABILITY_COST, COST, MEAN_COST, alike)


@plotted(
    metrics="Names or metric objects of the counts; by default TPR, TNR, precision and F1.",
    thresholds="As of `counts`; by default every percent from 0 to 1. With `scores` only.",
)
def threshold(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    metrics: IntoMetric | Iterable[IntoMetric] = ("tpr", "tnr", "precision", "f1"),
    thresholds: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw metrics of the counts over the thresholds.

    Returns
    -------
    alt.Chart
        A line a model, a panel a metric and segment. All panels reach from 0 to 1, unless a metric
        has another range: then each has that of its values.

    Notes
    -----
    The cost of `counts` at these thresholds.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> chart = df.binmetrics.plot.threshold("score", "y", metrics=["tpr", "fpr"])
    >>> chart.to_dict()["encoding"]["color"]["scale"]["domain"]
    ['score']
    """
    chosen = [of_counts(metric) for metric in find(metrics, least=1)]
    names = [metric.name for metric in chosen]
    if thresholds is None and scores is not None:
        thresholds = uniform(101)
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "rollup": rollup,
        "strict": strict,
    }
    counted = curve_of(self, evaluate.counts, CELLS, scores, label, ask)
    keys = panels_of(counted)
    rated = with_rates(keyed(counted).filter(pl.col("threshold").is_finite()), chosen)
    groups = [*(f"key {key}" for key in keys), "metric", "model"]
    values = rated.unpivot(
        names,
        index=[*panels_of(rated), "model", "threshold", *CELLS],
        variable_name="metric",
        value_name="metric value",
    )
    # An unpivot keeps no order.
    ordered = values.with_columns(pl.col("metric").cast(pl.Enum(names))).sort(*groups, "threshold")
    shares = {end for metric in chosen for end in metric.range} == {*SHARE}
    return drawn(
        ordered.select(*groups, pl.exclude(groups)),
        " · ".join([title_of(counted), "metric"] if keys else ["metric"]),
        AT,
        Axis("metric value", "Value of the metric", SHARE if shares else None),
        ROWS,
        {},
        tips=[],
        apart=not shares,
    )


@plotted(
    scores="A score column a model, as for the verbs. Without, the frame is a table of `evaluate`,"
    " at one threshold, or of `compare` or `gaps`, whose differences are drawn.",
    metrics="Names or metric objects; by default `roc_auc` of rows, and all that a table has"
    " under their own names.",
    thresholds="One number, for metrics of the counts; with `scores` only.",
    interval="As of `evaluate`; with `scores` only.",
    rollup="Add the totals, as rows of their own.",
)
def segments(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    metrics: IntoMetric | Iterable[IntoMetric] | None = None,
    thresholds: float | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    strict: bool = False,
    rollup: bool = False,
    interval: IntoInterval | None = None,
) -> alt.Chart:
    """
    Draw a forest plot: metrics with their intervals, per segment and model.

    Returns
    -------
    alt.Chart
        A row a segment with a dot a model, a column a metric, and a line from the lower to the
        upper end of the confidence interval, at 95 % unless `interval` says otherwise; with
        weights there is none unless `interval` asks for it. Where a metric has no interval there
        is the dot alone; where it is undefined, nothing. Differences are those of a segment and
        the reference, or of two models.

    Notes
    -----
    The cost of `evaluate`.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8], "g": list("aaaa")})
    >>> chart = df.binmetrics.plot.segments("score", "y", by="g")
    >>> chart.to_dict()["encoding"]["yOffset"]["sort"]
    ['score']
    """
    frame = self.frame.lazy()
    ask: dict[str, Any] = {
        "thresholds": thresholds,
        "by": by,
        "weight": weight,
        "positive": positive,
        "strict": strict,
        "rollup": rollup,
        "interval": interval,
    }
    if scores is not None:
        metrics = "roc_auc" if metrics is None else metrics
        ask["thresholds"] = 0.5 if thresholds is None else thresholds
        if interval is None and weight is None:
            ask["interval"] = 0.95
        face = FrameFace(frame)
        chosen = find(metrics, least=1)
        frame = evaluate.evaluate(face, scores, required(label), metrics=chosen, **ask)
    else:
        refuse(label=label, **ask)
        chosen = [] if metrics is None else find(metrics, least=1)
    check_columns(frame, ["model"])
    with plainly():
        table = keyed(frame).collect(engine="streaming")
    if is_of_differences(table):
        points = differences_of(table, [metric.name for metric in chosen])
        return charts.forest(points, title_of(frame), "difference", from_zero=True)
    if "threshold" in table.columns and table["threshold"].n_unique() > 1:
        raise ValueError(
            f"the frame has {table['threshold'].n_unique()} thresholds: filter it to one of them"
        )
    chosen = chosen or metrics_in(table) or find("roc_auc")
    points = estimates_of(table, [metric.name for metric in chosen])
    return charts.forest(points, title_of(frame), _value_at(table, chosen, ask["interval"]))


def _value_at(
    table: pl.DataFrame, metrics: Iterable[AnyMetric], interval: IntoInterval | None
) -> str:
    """What a forest plot shows, with the threshold and the level where they are known."""
    parts = ["value of the metric"]
    at = table.get_column("threshold", default=pl.Series(dtype=pl.Float64)).drop_nulls()
    if len(at) and any(isinstance(metric, CountMetric) for metric in metrics):
        parts.append(f"threshold {at[0]:.6g}")
    if interval is not None:
        parts.append(f"{100 * interval_of(interval).level:.6g} % intervals")
    return ", ".join(parts)


@plotted(
    scores="A score column a model, as for the verbs. Without, the frame is a histogram.",
    bins="The limits of the bins, as of `histogram`; by default 40 of equal width between the"
    " least and the greatest score, or from 0 to 1 where they lie there. With `scores` only.",
)
def scores(
    self: FrameFace[Frame],
    scores: IntoColumns | None = None,
    label: IntoColumn | None = None,
    *,
    bins: IntoThresholds | None = None,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> alt.Chart:
    """
    Draw how the scores of positives and of negatives are distributed.

    Returns
    -------
    alt.Chart
        A panel a model and segment, with the density of the scores in each class: the share of
        the class per unit of the score. Scores beyond the limits are in the first and the last
        bin. Panels with a row at fault are empty.

    Notes
    -----
    The cost of `histogram`, and of finding the least and the greatest score. More than 64 bins
    are drawn as so many of several bins each.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> chart = df.binmetrics.plot.scores("score", "y")
    >>> chart.to_dict()["encoding"]["color"]["scale"]["domain"]
    ['negative', 'positive']
    """
    frame = self.frame.lazy()
    by = None if by is None else list(listed(by))
    ask: dict[str, Any] = {"by": by, "weight": weight, "positive": positive, "rollup": rollup}
    if scores is not None:
        scores = list(listed(scores))
        count = partial(histograms.histogram, FrameFace(frame), scores, required(label), **ask)
        count(bins=0.5)  # Refuses what is wrong before any score is read.
        frame = count(bins=limits_of(frame, scores) if bins is None else bins)
    else:
        refuse(label=label, bins=bins, **ask)
    with plainly():
        state = histograms.single(frame).collect(engine="streaming")
    legend = Legend(CLASSES, title="class", first=2)
    models = max(1, state["model"].n_unique())
    columns = models * max(1, charts.PANELS_A_ROW // models)
    return charts.densities(
        bars_of(state), SCORE, DENSITY, legend, title_of(state), columns=columns
    )
