"""Where a frame becomes points: which curve it holds, its panels, and what its legend says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl
from polars.exceptions import ColumnNotFoundError

from polars_binmetrics import areas, charts, evaluate, histograms
from polars_binmetrics.charts import Axis, Legend
from polars_binmetrics.columns import IntoColumn, IntoColumns, column, listed
from polars_binmetrics.counts import CELLS
from polars_binmetrics.face import Frame, FrameFace
from polars_binmetrics.histograms import ranks_of
from polars_binmetrics.metric import RankMetric
from polars_binmetrics.registry import METRICS
from polars_binmetrics.state import SIDES
from polars_binmetrics.thresholds import uniform

if TYPE_CHECKING:
    import altair as alt

#: A line to hold models against: its points in all panels, or what makes them of the curve.
Reference: TypeAlias = Sequence[tuple[float, float]] | Callable[[pl.LazyFrame], pl.LazyFrame]


class Mark(NamedTuple):
    """What the legend says of each line: a number, and how it is written."""

    values: Callable[[pl.LazyFrame, Sequence[str]], pl.LazyFrame]
    text: Callable[[Any], str]


def _count(value: float | None) -> str:
    """A number of rows."""
    return "n unknown" if value is None else f"n = {value:,.10g}"


def _rank(metric: RankMetric[[]], name: str) -> Mark:
    def values(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
        return ranks_of(curve, by, metric).rename({metric.name: "mark"})

    return Mark(values, partial(_decimal, name))


def _decimal(name: str, value: float | None) -> str:
    return f"{name} undefined" if value is None else f"{name} {value:.3f}"


def _of_counts(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    return curve.group_by(by).agg(mark=pl.sum_horizontal(CELLS).first())


def _of_bins(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    return curve.group_by(by).agg(mark=pl.col("n").sum())


def _mean_cost(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """The area under the corners of a cost curve."""
    x, y = pl.col("probability_cost"), pl.col("normalized_expected_cost")
    area = (x.diff() * (y + y.shift(1)) / 2).sum()
    return curve.group_by(by).agg(mark=pl.when(y.count() > 0).then(area))


AUC, AP = _rank(areas.roc_auc, "AUC"), _rank(areas.average_precision, "AP")
ROWS, ROWS_OF_BINS = Mark(_of_counts, _count), Mark(_of_bins, _count)
MEAN_COST = Mark(_mean_cost, partial(_decimal, "mean"))


def given(label: IntoColumn | None) -> IntoColumn:
    """The label, which scores need."""
    if label is None:
        raise TypeError("`label` should be given with `scores`")
    return label


def refuse(**ask: object) -> None:
    """Refuse what says how rows are counted where there are none."""
    for argument, value in ask.items():
        if value is not None and value is not False:
            raise TypeError(f"`{argument}` should be given with `scores` only")


def check_columns(frame: pl.LazyFrame, needed: Iterable[str]) -> None:
    """Refuse a frame that lacks what is drawn."""
    columns = frame.collect_schema().names()
    for name in needed:
        if name not in columns:
            raise ColumnNotFoundError(
                f"the frame has no column {name!r} to be drawn, only {', '.join(columns)}"
            )


def curve_of(
    face: FrameFace[Frame],
    verb: Callable[..., pl.LazyFrame],
    needed: Sequence[str],
    scores: IntoColumns | None,
    label: IntoColumn | None,
    *,
    closed: bool = False,
    **ask: Any,
) -> pl.LazyFrame:
    """
    The curve to be drawn: that of rows, or what the frame holds of it.

    A curve that is closed goes from where all rows are called positive to where none is.
    """
    charts.require_altair()
    frame = face.frame.lazy()
    if scores is not None:
        return verb(FrameFace(frame), scores, given(label), **ask)
    refuse(label=label, **ask)
    if {*SIDES} <= {*frame.collect_schema()}:
        frame = histograms.cumulate(FrameFace(frame))
    columns = frame.collect_schema().names()
    if {"model", "threshold", *CELLS} <= {*columns}:
        frame = frame.sort(*panels_of(frame), "model", "threshold")
        if closed:
            frame = _closed(frame.select(*panels_of(frame), "model", "threshold", *CELLS))
        columns = frame.collect_schema().names()
        lacking = [name for name in needed if name not in columns and name in METRICS]
        frame = evaluate.rates(FrameFace(frame), lacking)
    check_columns(frame, ["model", *needed])
    return frame


def _closed(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Counts at some thresholds, and at those that call all rows positive, and none."""
    groups = [*panels_of(counts), "model"]
    tp, fp, fn, tn = map(pl.col, CELLS)
    ends = counts.group_by(groups).agg(
        (tp + fn).first(), (fp + tn).first(), below=(fn + tn).first(), above=(tp + fp).last()
    )
    every = ends.with_columns(threshold=pl.lit(-inf), fn=tp * 0, tn=fp * 0)
    none = ends.with_columns(threshold=pl.lit(inf), fn=tp, tn=fp, tp=tp * 0, fp=fp * 0)
    lacking = [every.filter(pl.col("below") > 0), none.filter(pl.col("above") > 0)]
    columns = [*groups, "threshold", *CELLS]
    closed = pl.concat([counts, *(each.select(columns) for each in lacking)])
    return closed.sort(*groups, "threshold")


def limits_of(frame: pl.LazyFrame, scores: IntoColumns) -> list[float]:
    """Limits of bins that hold all scores."""
    exprs = [column("scores", score).cast(pl.Float64) for score in listed(scores)]
    finite = frame.select(exprs).select(pl.when(pl.all().is_finite()).then(pl.all()))
    ends = pl.concat([finite.min(), finite.max()]).collect()
    numbers = [number for row in ends.rows() for number in row if number is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    return uniform(41, low, high if low < high else low + 1)


def panels_of(frame: pl.LazyFrame | pl.DataFrame) -> list[str]:
    """The columns that tell one panel from another: all before the model."""
    columns = frame.collect_schema().names()
    return columns[: columns.index("model")]


def keyed(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The frame with names of its own for the keys, which may be called as anything."""
    return frame.rename({name: f"key {name}" for name in panels_of(frame)})


def title_of(frame: pl.LazyFrame) -> str:
    """What tells one panel from another."""
    return " · ".join(name for name in panels_of(frame) if name != "level")


def panel_of(frame: pl.DataFrame) -> pl.Expr:
    """What a panel of keyed rows is called; the keys that a total is over are all."""
    before, level, after = _around(panels_of(frame), "key level")
    names = [pl.col(name).cast(pl.String).fill_null("null") for name in (*before, *after)]
    if level:
        kept = pl.col("key level")
        for i in range(len(before)):
            names[i] = pl.when(kept > i).then(names[i]).otherwise(pl.lit("all"))
    return pl.concat_str(names, separator=" · ") if names else pl.lit("all")


def _around(names: list[str], name: str) -> tuple[list[str], bool, list[str]]:
    if name not in names:
        return names, False, []
    return names[: names.index(name)], True, names[names.index(name) + 1 :]


def prevalence(curve: pl.LazyFrame) -> pl.LazyFrame:
    """The prevalence at any recall, which is the precision of chance."""
    share = (pl.col("tp") + pl.col("fn")) / pl.sum_horizontal(CELLS)
    first = curve.unique(panels_of(curve), keep="first", maintain_order=True)
    ends = pl.LazyFrame({"recall": [0.0, 1.0]})
    level = first.drop("recall").with_columns(precision=share)
    return level.join(ends, how="cross", maintain_order="left_right")


def of_first(curve: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """What needs no model, from the first of them."""
    first = pl.col("model") == pl.col("model").first().over(panels_of(curve))
    return curve.filter(first).with_columns(net_benefit=column)


def drawn(
    curve: pl.LazyFrame,
    x: Axis,
    y: Axis,
    mark: Mark,
    references: Mapping[str, Reference],
    *,
    tips: Sequence[str] = (),
    interpolate: str = "linear",
    dots: bool = False,
    lowest: float | None = None,
    backwards: bool = False,
) -> alt.Chart:
    """
    The chart of a sorted curve, ``[*panels, model, ...]``, in the order of its points.

    With `lowest`, the chart ends below at so many times the highest point.
    """
    several = bool(panels_of(curve))
    # Where there are no segments, all rows are in one panel.
    rows = keyed(curve).select(pl.lit("").alias("alone"), pl.all()).cache()
    keys = panels_of(rows)
    groups = [*keys, "model"]
    shown, marks, order, *lines = pl.collect_all(
        [
            charts.thinned(rows, groups, x, y),
            mark.values(rows, groups),
            rows.select(groups).unique(maintain_order=True),
            *(_held(rows, reference, x, y) for reference in references.values()),
        ]
    )
    shown = shown.reverse() if backwards else shown
    marks = order.join(marks, on=groups, how="left", nulls_equal=True, maintain_order="left")
    text = pl.Series("text", [mark.text(value) for value in marks["mark"]], dtype=pl.String)
    marks = marks.with_columns(text, panel=panel_of(marks.drop("alone")))
    label = pl.concat_str("model", "text", separator=" ")
    same = pl.col("text").n_unique().over(keys) == 1
    marks = marks.with_columns(
        series=pl.col("model") if several else pl.concat_str("model", "text", separator=", "),
        line=pl.when(same).then("text").otherwise(label),
    )
    panels = (
        marks.group_by(keys, maintain_order=True)
        .agg(pl.col("panel").first(), pl.col("line").unique(maintain_order=True))
        .with_columns(pl.concat_str("panel", pl.col("line").list.join("\n"), separator="\n"))
        .drop("line")
    )
    found = marks.select(*groups, "series")
    pieces = [shown.join(found, on=groups, nulls_equal=True, maintain_order="left")]
    pieces += [
        line.with_columns(series=pl.lit(name)) for name, line in zip(references, lines, strict=True)
    ]
    points = pl.concat(pieces, how="diagonal_relaxed").join(
        panels, on=keys, nulls_equal=True, maintain_order="left"
    )
    if lowest is not None:
        highest = max((value for value in shown[y.column].drop_nulls()), default=0)
        y = y._replace(domain=(lowest * highest, 1.05 * highest)) if highest > 0 else y
    panelled = ["panel"] if several else []
    of_tips = [tip.partition(":")[0] for tip in tips]
    return charts.lines(
        points.select(*panelled, "series", x.column, y.column, *of_tips),
        x,
        y,
        Legend(marks["series"].unique(maintain_order=True).to_list(), [*references]),
        tips=tips,
        panels=title_of(curve) if several else None,
        interpolate=interpolate,
        dots=dots,
    )


def _held(rows: pl.LazyFrame, reference: Reference, x: Axis, y: Axis) -> pl.LazyFrame:
    """A line to hold the models against, in every panel."""
    keys = panels_of(rows)
    if callable(reference):
        return reference(rows).select(*keys, x.column, y.column)
    points = pl.LazyFrame(reference, schema=[x.column, y.column], orient="row")
    every = rows.select(keys).unique(maintain_order=True)
    return every.join(points, how="cross", maintain_order="left_right")
