"""Where a frame becomes points: which curve it holds, its panels, and what its legend says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf, ulp
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl
import polars.selectors as cs
from polars.exceptions import ColumnNotFoundError, SchemaError

from polars_binmetrics import areas, charts, curves, evaluate, histograms, rates
from polars_binmetrics.charts import Axis, Legend
from polars_binmetrics.columns import IntoColumn, IntoColumns, column, listed
from polars_binmetrics.counts import CELLS
from polars_binmetrics.face import Frame, FrameFace
from polars_binmetrics.histograms import ranks_of
from polars_binmetrics.metric import AnyMetric, RankMetric
from polars_binmetrics.refusals import in_order, plainly
from polars_binmetrics.registry import METRICS
from polars_binmetrics.state import SIDES
from polars_binmetrics.table import with_rates
from polars_binmetrics.thresholds import uniform

if TYPE_CHECKING:
    import altair as alt

#: A line to hold models against: its points in all panels, or what makes them of the curve.
Reference: TypeAlias = Sequence[tuple[float, float]] | Callable[[pl.LazyFrame], pl.LazyFrame]
#: The keys of panels that are not the user's.
OURS = ["alone", "metric"]
CLASSES = ["negative", "positive"]
#: What a key may not look like: a missing one, that of a total, the names of several.
OWN_TEXT = '^(null|all)$| · |^"'
#: Why a curve is not drawn.
SEVERAL = "a segment and model has a point twice; the keys should stand before the model"
#: What no screen shows, and what stands for it.
UNSEEN = {
    **{chr(code): chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n\r"},
    **dict.fromkeys("\u2028\u2029", "\u2424"),
}
#: Bars that a chart of scores has at most.
BARS = 64


class Mark(NamedTuple):
    """What the legend says of each line: a number, and how it is written."""

    values: Callable[[pl.LazyFrame, Sequence[str]], pl.LazyFrame]
    text: Callable[[Any], str]


def _size_text(value: float | None) -> str:
    return "n unknown" if value is None else f"n = {value:,.10g}"


def _decimal(name: str, value: float | None) -> str:
    return f"{name} undefined" if value is None else f"{name} {value:.3f}"


def _mark_of(metric: RankMetric[[]], name: str) -> Mark:
    def values(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
        return ranks_of(curve, by, metric).rename({metric.name: "mark"})

    return Mark(values, partial(_decimal, name))


def _of_counts(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    return curve.group_by(by).agg(mark=rates.n.expr().first())


def _of_bins(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    n = pl.col("n")
    return curve.group_by(by).agg(mark=pl.when(n.null_count() == 0).then(n.sum()))


def _of_cost(curve: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    return curve.group_by(by).agg(mark=curves.mean_cost())


AUC, AP = _mark_of(areas.roc_auc, "AUC"), _mark_of(areas.average_precision, "AP")
ROWS, ROWS_OF_BINS = Mark(_of_counts, _size_text), Mark(_of_bins, _size_text)
MEAN_COST = Mark(_of_cost, partial(_decimal, "mean"))


def required(label: IntoColumn | None) -> IntoColumn:
    """The label, which scores need."""
    if label is None:
        raise TypeError("`label` should be given with `scores`")
    return label


def refuse(**ask: object) -> None:
    """Refuse what says how rows are counted where there are none."""
    for argument, value in ask.items():
        if value is not None and value is not False:
            raise TypeError(
                f"`{argument}` should be given with `scores` only: without, the frame is drawn as"
                " it is"
            )


def check_columns(frame: pl.LazyFrame, needed: Sequence[str]) -> None:
    """Refuse a frame that lacks what is drawn."""
    columns = frame.collect_schema().names()
    for name in needed:
        if name not in columns:
            raise ColumnNotFoundError(
                f"the frame has no column {name!r} to be drawn, only {', '.join(columns)}; to draw"
                " rows, name their `scores` and `label`"
            )


def curve_of(
    face: FrameFace[Frame],
    verb: Callable[..., pl.LazyFrame],
    needed: Sequence[str],
    scores: IntoColumns | None,
    label: IntoColumn | None,
    ask: Mapping[str, Any],
    *,
    along: str = "threshold",
    closed: bool = False,
) -> pl.LazyFrame:
    """
    The curve to be drawn, sorted along a column: that of rows, or what the frame holds of it.

    A curve that is closed goes from where all rows are called positive to where none is.
    """
    frame = face.frame.lazy()
    if scores is not None:
        return verb(FrameFace(frame), scores, required(label), **ask)
    refuse(label=label, **ask)
    columns = frame.collect_schema().names()
    if {"model", "threshold", *SIDES} <= {*columns}:
        frame = histograms.cumulate(FrameFace(frame))
        columns = frame.collect_schema().names()
    if {"model", "threshold", *CELLS} <= {*columns}:
        if closed:
            frame = _closed(frame.select(*panels_of(frame), "model", "threshold", *CELLS))
            columns = frame.collect_schema().names()
        lacking = [name for name in needed if name in METRICS and name not in columns]
        frame = evaluate.rates(FrameFace(frame), lacking)
    check_columns(frame, ["model", "threshold", *needed])
    kept = [*panels_of(frame), "model", "threshold", *needed]
    return _sorted(frame.select(map(cs.by_name, kept)), along)


def _sorted(curve: pl.LazyFrame, along: str = "threshold") -> pl.LazyFrame:
    """A curve in the order of a column, which has a number once."""
    columns = curve.collect_schema().names()
    groups = [*panels_of(curve), "model"]
    # A curve of counts ends at infinity, where there may be scores.
    called = [pl.col("tp") + pl.col("fp")] if "tp" in columns else []
    return in_order(curve, groups, along, *called, why=SEVERAL, held=columns[-1])


def _closed(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Counts at some thresholds, and at those that call all rows positive, and none."""
    groups = [*panels_of(counts), "model"]
    tp, fp, fn, tn = map(pl.col, CELLS)
    ends = counts.group_by(groups).agg(
        (tp + fn).max(), (fp + tn).max(), below=(fn + tn).min(), above=(tp + fp).min()
    )
    every = ends.with_columns(threshold=pl.lit(-inf), fn=tp * 0, tn=fp * 0)
    none = ends.with_columns(threshold=pl.lit(inf), fn=tp, tn=fp, tp=tp * 0, fp=fp * 0)
    lacking = [every.filter(pl.col("below") > 0), none.filter(pl.col("above") > 0)]
    columns = [*groups, "threshold", *CELLS]
    return pl.concat([counts, *(each.select(columns) for each in lacking)])


def limits_of(frame: pl.LazyFrame, scores: IntoColumns) -> list[float]:
    """Limits of bins that hold all scores."""
    exprs = [column("scores", score).cast(pl.Float64) for score in listed(scores)]
    finite = frame.select(exprs).select(pl.when(pl.all().is_finite()).then(pl.all()))
    ends = finite.select(
        low=pl.min_horizontal(pl.all().min()), high=pl.max_horizontal(pl.all().max())
    )
    low, high = ends.collect(engine="streaming").row(0)
    if low is None or (low >= 0 and high <= 1):
        low, high = 0.0, 1.0
    return uniform(41, low, high if low < high else low + max(1, 100 * ulp(low)))


def panels_of(frame: pl.LazyFrame | pl.DataFrame) -> list[str]:
    """The columns that tell one panel from another: all before the model."""
    columns = frame.collect_schema().names()
    return columns[: columns.index("model")]


def keyed(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The frame with names of its own for the keys, which may be called as anything."""
    return frame.rename({name: f"key {name}" for name in panels_of(frame)})


def title_of(frame: pl.LazyFrame | pl.DataFrame) -> str:
    """What tells one panel from another."""
    return " · ".join(name for name in panels_of(frame) if name != "level")


def panel_of(frame: pl.DataFrame) -> pl.Expr:
    """What a panel of keyed rows is called; the keys that a total is over are all."""
    keys = [key for key in panels_of(frame) if key not in (*OURS, "key level")]
    names: list[pl.Expr] = []
    for i, key in enumerate(keys):
        dtype = frame.schema[key]
        if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Duration):
            raise SchemaError(f"`by`: a key of {dtype} has no text to name a panel by; make it one")
        text = pl.col(key).cast(pl.String).str.replace_many(UNSEEN)
        # What reads as ours is told from it.
        text = pl.when(text.str.contains(OWN_TEXT)).then('"' + text + '"').otherwise(text)
        name = text.fill_null("null")
        if "key level" in panels_of(frame):
            name = pl.when(pl.col("key level") > i).then(name).otherwise(pl.lit("all"))
        names.append(name)
    names += [pl.col("metric").cast(pl.String)] if "metric" in panels_of(frame) else []
    return pl.concat_str(names, separator=" · ") if names else pl.lit("all")


def prevalence(curve: pl.LazyFrame) -> pl.LazyFrame:
    """The prevalence at any recall, which is the precision of chance."""
    first = _first(curve).unique(panels_of(curve), keep="first", maintain_order=True)
    level = with_rates(first.select(*panels_of(curve), "threshold", *CELLS), [rates.prevalence])
    ends = pl.LazyFrame({"recall": [0.0, 1.0]})
    line = level.join(ends, how="cross", maintain_order="left_right")
    return line.rename({"prevalence": "precision"})


def of_first(curve: pl.LazyFrame, column: str) -> pl.LazyFrame:
    """What needs no model, in place of the net benefit."""
    return _first(curve).with_columns(net_benefit=column)


def _first(curve: pl.LazyFrame) -> pl.LazyFrame:
    """The curve of the first model of each panel with no row at fault."""
    first = pl.col("model") == pl.col("model").first().over(panels_of(curve))
    return curve.filter(pl.col("tp").is_not_null()).filter(first)


def drawn(
    curve: pl.LazyFrame,
    title: str,
    x: Axis,
    y: Axis,
    mark: Mark,
    references: Mapping[str, Reference],
    *,
    tips: Sequence[str] = ("threshold",),
    interpolate: str = "linear",
    dots: bool = False,
    lowest: float | None = None,
    backwards: bool = False,
    apart: bool = False,
) -> alt.Chart:
    """
    The chart of a sorted and keyed curve, ``[*panels, model, ...]``, in the order of its points.

    With `lowest`, the chart ends below at so many times the highest point; `apart`, each panel has
    a scale of its own.
    """
    several = bool(panels_of(curve))
    # Where there are no segments, all rows are in one panel.
    rows = curve.select(pl.lit("").alias("alone"), pl.all()).cache()
    keys = panels_of(rows)
    groups = [*keys, "model"]
    plans = [
        charts.thinned(rows, groups, x, y, charts.DOTS_OF_PANEL if several else charts.DOTS),
        mark.values(rows, groups),
        rows.select(groups).unique(maintain_order=True),
        *(_held(rows, reference, x, y) for reference in references.values()),
    ]
    with plainly():
        shown, marks, order, *lines = pl.collect_all(plans, engine="streaming")
    shown = shown.reverse() if backwards else shown
    marks = order.join(marks, on=groups, how="left", nulls_equal=True, maintain_order="left")
    text = pl.Series("text", [mark.text(value) for value in marks["mark"]], dtype=pl.String)
    series = pl.col("model") if several else pl.concat_str("model", text, separator=", ")
    marks = marks.with_columns(text, series=series, panel=panel_of(marks))
    # A model may be called like one of them.
    names = [name if name not in marks["series"] else f"{name} (no model)" for name in references]
    found = marks.select(*groups, "series")
    pieces = [shown.join(found, on=groups, nulls_equal=True, maintain_order="left")]
    pieces += [
        line.with_columns(series=pl.lit(name)) for name, line in zip(names, lines, strict=True)
    ]
    points = pl.concat(pieces, how="diagonal_relaxed")
    heads = _headers(marks, keys)
    points = heads.join(points, on=keys, how="left", nulls_equal=True, maintain_order="left_right")
    if lowest is not None:
        highest = max(points[y.column].drop_nulls().to_list(), default=0)
        y = y._replace(domain=(lowest * highest, 1.05 * highest)) if highest > 0 else y
    panelled = ["panel"] if several else []
    return charts.lines(
        points.select(*panelled, "series", *dict.fromkeys([x.column, y.column, *tips])),
        x,
        y,
        Legend(marks["series"].unique(maintain_order=True).to_list(), names),
        panels=title if several else None,
        interpolate=interpolate,
        dots=dots,
        apart=apart,
    )


def _headers(marks: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """What stands above each panel: its name, then the mark of each model, or the one of all."""
    same = pl.col("text").n_unique().over(keys) == 1
    own = pl.concat_str("model", "text", separator=" ")
    lines = marks.with_columns(line=pl.when(same).then("text").otherwise(own))
    heads = lines.group_by(keys, maintain_order=True).agg(
        pl.col("panel").first(), pl.col("line").unique(maintain_order=True)
    )
    head = pl.concat_str("panel", pl.col("line").list.join("\n"), separator="\n")
    return heads.select(*keys, panel=head)


def _held(rows: pl.LazyFrame, reference: Reference, x: Axis, y: Axis) -> pl.LazyFrame:
    """A line to hold the models against, in every panel."""
    keys = panels_of(rows)
    if callable(reference):
        return reference(rows).select(*keys, x.column, y.column)
    points = pl.LazyFrame(reference, schema=[x.column, y.column], orient="row")
    every = rows.select(keys).unique(maintain_order=True)
    return every.join(points, how="cross", maintain_order="left_right")


def metrics_in(table: pl.DataFrame) -> list[AnyMetric]:
    """The metrics that a table has under their own names, but for counts."""
    own = [METRICS[name] for name in table.columns if name in METRICS]
    return [metric for metric in own if metric not in evaluate.BASE]


def estimates_of(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Metrics of a keyed table with their ends: [panel, metric, series, value, low, high]."""
    check_columns(table.lazy(), names)

    def or_itself(name: str, column: str) -> pl.Expr:
        return pl.col(column if column in table.columns else name).cast(pl.Float64)

    return pl.concat(
        table.select(
            panel=panel_of(table),
            metric=pl.lit(name),
            series="model",
            value=or_itself(name, name),
            low=or_itself(name, f"{name}_low"),
            high=or_itself(name, f"{name}_high"),
        )
        for name in names
    )


def is_of_differences(table: pl.DataFrame) -> bool:
    """Whether a keyed table is one of `compare` or `gaps`."""
    return {"metric", "difference", "low", "high"} <= {*table.columns}


def differences_of(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The differences of a keyed table as estimates, of all metrics or of some."""
    if names:
        table = table.filter(pl.col("metric").is_in(names))
    models = ["model", "baseline"] if "baseline" in table.columns else ["model"]
    series = pl.concat_str(models, separator=" - ")
    panel = panel_of(table).alias("panel")
    return table.select(panel, "metric", "low", "high", series=series, value="difference")


def bars_of(state: pl.DataFrame) -> pl.DataFrame:
    """
    The density of the scores in each class, as steps: [panel, series, threshold, density, rows].

    What lies beyond the limits is in the outer bars; each bar may hold several bins.
    """
    bins = keyed(state.lazy()).collect()
    groups = [*panels_of(bins), "model"]
    at = pl.col("threshold")
    limits = at.is_not_nan().sum().cast(pl.Int64).over(groups)
    if bins.height and bins.select((limits < 2).all()).item():
        raise ValueError("`bins` should hold at least two limits, the ends of a bar")
    sound = bins.filter(histograms.sound_bin().all().over(groups))
    place = at.rank("ordinal").over(groups).cast(pl.Int64).fill_null(1) - 1
    number = limits - 1
    bar = pl.min_horizontal(place, number - 1) // pl.max_horizontal(1, (number / BARS).ceil())
    bars = (
        sound.filter(number > 0)
        .with_columns(bar=bar, end=at.max().over(groups))
        .group_by(*groups, "bar", maintain_order=True)
        .agg(at.min(), pl.col("end").first(), pl.col(SIDES).sum())
        .with_columns(end=at.shift(-1).over(groups).fill_null(pl.col("end")))
        .rename(dict(zip(SIDES, reversed(CLASSES), strict=True)))
    )
    long = bars.unpivot(
        CLASSES, index=[*groups, "threshold", "end"], variable_name="series", value_name="rows"
    )
    share = pl.col("rows") / pl.col("rows").sum().over(*groups, "series")
    long = long.with_columns(density=share / (pl.col("end") - at))
    last = long.filter(pl.col("end") == pl.col("end").max().over(groups))
    steps = pl.concat([long, last.with_columns(threshold="end")]).drop("end")
    sizes = sound.group_by(groups).agg(pl.col(SIDES).sum())
    every = bins.select(groups).unique(maintain_order=True)
    sizes = every.join(sizes, on=groups, how="left", nulls_equal=True, maintain_order="left")
    texts = [
        _size_text(None)
        if None in row
        else ", ".join(f"{number:,.10g} {side}" for number, side in zip(row, CLASSES, strict=True))
        for row in sizes.select(reversed(SIDES)).rows()
    ]
    head = [
        "model",
        *([panel_of(sizes)] if len(groups) > 1 else []),
        pl.Series(texts, dtype=pl.String),
    ]
    named = sizes.select(*groups, panel=pl.concat_str(head, separator="\n"))
    points = named.join(steps, on=groups, how="left", nulls_equal=True, maintain_order="left_right")
    return points.drop(groups)
