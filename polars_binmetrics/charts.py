"""Where a picture is drawn: points in panels and series become an Altair chart."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import polars.selectors as cs

if TYPE_CHECKING:
    import altair as alt

#: Apart from each other with any colour vision, and from white and dark grounds.
COLOURS = ["#5d42fd", "#d27f09", "#03a573", "#e01741", "#b76fbb", "#8453cf"]
#: Of the first six series, the next six, and so on.
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
REFERENCE, REFERENCE_DASHES = "#888888", [[4, 4], [1, 3]]
#: The side of a chart, and of a panel among several, in pixels.
ALONE, PANEL, PANELS_A_ROW = 320, 200, 4
#: More can't be told apart.
MOST_PANELS = 64
#: A screen may have two dots a pixel.
DOTS = 2 * ALONE


class Axis(NamedTuple):
    """What an axis shows: a column, its meaning with the unit, and where it ends, if it must."""

    column: str
    title: str
    domain: Sequence[float] | None = None


class Legend(NamedTuple):
    """The series in their order; those that are no model, but a line to hold models against."""

    series: Sequence[str]
    references: Sequence[str] = ()
    title: str = "model"


def require_altair() -> None:
    """Refuse a plot without the package that draws it."""
    if not find_spec("altair"):
        raise ModuleNotFoundError("plots need altair: pip install 'polars-binmetrics[plot]'")


def thinned(points: pl.LazyFrame, curve: Sequence[str], x: Axis, y: Axis) -> pl.LazyFrame:
    """
    The points, in the order of a curve, that a screen can show.

    Of those in one column of dots, the first, the last, the lowest and the highest: the lines
    between them cover the same dots (the M4 aggregation of U. Jugel et al., M4: a
    visualization-oriented time series data aggregation, VLDB 2014).
    """
    across, up, at = pl.col(x.column), pl.col(y.column), pl.col("at")
    low, high = (across.min(), across.max()) if x.domain is None else map(pl.lit, x.domain)
    dot = ((across - low) / (high - low) * DOTS).floor()
    shown = (
        points.filter(across.is_not_null() & up.is_not_null())
        .with_row_index("at")
        .with_columns(dot=dot.fill_nan(0))
        .cache()
    )
    ends = [at.min(), at.max(), at.get(up.arg_min()), at.get(up.arg_max())]
    kept = (
        shown.group_by(*curve, "dot")
        .agg(pl.concat_list(ends).alias("at"))
        .select(at.explode(empty_as_null=False))
        .unique()
    )
    return shown.join(kept, on="at", how="semi").sort("at").drop("at", "dot")


def lines(
    points: pl.DataFrame,
    x: Axis,
    y: Axis,
    legend: Legend,
    *,
    tips: Sequence[str] = (),
    panels: str | None = None,
    interpolate: Any = "linear",
    dots: bool = False,
) -> alt.Chart:
    """Lines through the points of each series, in their order, a panel for each `panel`."""
    import altair as alt

    colours, dashes = _looks(legend)
    chart = _chart(points.with_row_index("order"), panels).encode(
        x=_scaled(alt.X(f"{x.column}:Q"), x),
        y=_scaled(alt.Y(f"{y.column}:Q"), y),
        color=_colour(legend, colours),
        strokeDash=alt.StrokeDash(
            "series:N",
            title=legend.title,
            scale=alt.Scale(domain=[*legend.series, *legend.references], range=dashes),
        ),
        order="order:Q",
        tooltip=["series:N", f"{x.column}:Q", f"{y.column}:Q", *tips],
    )
    drawn: alt.Chart = chart.mark_line(
        clip=True, strokeWidth=2, strokeJoin="bevel", interpolate=interpolate, point=dots
    )
    return drawn


def forest(points: pl.DataFrame, title: str, models: Sequence[str]) -> alt.Chart:
    """A dot and its interval for each segment and model, a column for each metric."""
    import altair as alt

    legend = Legend(models)
    colours, _ = _looks(legend)
    kinds = ["low", "value", "high"]
    no_dot = "M0,0"
    chart = alt.Chart(_values(points)).encode(
        x=alt.X("at:Q", title="value", scale=alt.Scale(zero=False)),
        y=alt.Y("panel:N", title=title or None, sort=_order(points, "panel")),
        yOffset=alt.YOffset("series:N", sort=[*models]),
        color=_colour(legend, colours),
        shape=alt.Shape(
            "kind:N",
            legend=None,
            scale=alt.Scale(domain=kinds, range=[no_dot, "circle", no_dot]),
        ),
        detail=["panel:N", "series:N"],
        tooltip=["panel:N", "series:N", "metric:N", "value:Q", "low:Q", "high:Q"],
        facet=alt.Facet(
            "metric:N",
            title=None,
            sort=_order(points, "metric"),
            columns=min(max(1, points["metric"].n_unique()), 3),
        ),
    )
    height = max(ALONE // 4, 14 * len(models) * max(1, points["panel"].n_unique()))
    chart = chart.properties(
        width=260, height=height, resolve=alt.Resolve(scale={"x": "independent"})
    )
    drawn: alt.Chart = chart.mark_line(
        strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=60)
    )
    return drawn


def densities(points: pl.DataFrame, x: Axis, y: Axis, legend: Legend, panels: str) -> alt.Chart:
    """Steps down to the axis for each series, a panel for each `panel`."""
    import altair as alt

    colours, _ = _looks(legend)
    chart = _chart(points, panels).encode(
        x=_scaled(alt.X(f"{x.column}:Q"), x),
        y=_scaled(alt.Y(f"{y.column}:Q").stack(None), y),
        color=_colour(legend, colours),
        tooltip=["series:N", f"{x.column}:Q", f"{y.column}:Q", "rows:Q"],
    )
    drawn: alt.Chart = chart.mark_area(
        interpolate="step-after", opacity=0.5, line={"strokeWidth": 1.5}
    )
    return drawn


def _chart(points: pl.DataFrame, panels: str | None) -> alt.Chart:
    """A chart of the points, or of those of each panel."""
    import altair as alt

    chart = alt.Chart(_values(points))
    if panels is None:
        return chart.properties(width=ALONE, height=ALONE)
    order = _order(points, "panel")
    if len(order) > MOST_PANELS:
        raise ValueError(
            f"a chart of {len(order)} panels can't be read: filter the frame to at most"
            f" {MOST_PANELS} of them"
        )
    # A header has several lines.
    header = alt.Header(labelExpr="split(datum.label, '\\n')", labelLineHeight=14)
    facet = alt.Facet(
        "panel:N", title=panels, sort=order, header=header, columns=min(len(order), PANELS_A_ROW)
    )
    return chart.encode(facet=facet).properties(width=PANEL, height=PANEL)


def _values(points: pl.DataFrame) -> alt.InlineData:
    """The points as JSON holds them, which knows no infinity, and as short as a screen needs."""
    import altair as alt

    floats = cs.float()
    finite = points.with_columns(pl.when(floats.is_finite()).then(floats.round_sig_figs(9)))
    return alt.InlineData(values=finite.to_dicts())


def _order(points: pl.DataFrame, column: str) -> list[str]:
    return points[column].unique(maintain_order=True).to_list()


def _looks(legend: Legend) -> tuple[list[str], list[list[int]]]:
    """The colours and dashes of the series, then those of the references."""
    number = range(len(legend.series))
    colours = [COLOURS[i % len(COLOURS)] for i in number]
    dashes = [DASHES[i // len(COLOURS) % len(DASHES)] for i in number]
    colours += [REFERENCE for _ in legend.references]
    return colours, dashes + REFERENCE_DASHES[: len(legend.references)]


def _colour(legend: Legend, colours: Sequence[str]) -> alt.Color:
    import altair as alt

    domain = [*legend.series, *legend.references]
    scale = alt.Scale(domain=domain, range=[*colours])
    shown = alt.Legend(labelLimit=0, symbolType="stroke")
    return alt.Color("series:N", title=legend.title, scale=scale, legend=shown)


def _scaled(channel: Any, axis: Axis) -> Any:
    import altair as alt

    scale = alt.Scale(zero=False) if axis.domain is None else alt.Scale(domain=[*axis.domain])
    return channel.title(axis.title).scale(scale)
