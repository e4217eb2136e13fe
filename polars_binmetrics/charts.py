"""Where a picture is drawn: points in panels and series become an Altair chart."""

from __future__ import annotations

from collections.abc import Sequence
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
#: A screen may have two a pixel.
DOTS, DOTS_OF_PANEL = 2 * ALONE, 2 * PANEL


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
    #: The first colour.
    first: int = 0


def thinned(
    points: pl.LazyFrame, curve: Sequence[str], x: Axis, y: Axis, dots: int = DOTS
) -> pl.LazyFrame:
    """
    The points, in the order of a curve, that a screen can show.

    Of those in one column of dots, the first, the last, the lowest and the highest: the lines
    between them cover the same dots (the M4 aggregation of U. Jugel et al., M4: a
    visualization-oriented time series data aggregation, VLDB 2014).
    """
    across, up, at = pl.col(x.column), pl.col(y.column), pl.col("at")
    low, high = (across.min(), across.max()) if x.domain is None else map(pl.lit, x.domain)
    dot = ((across - low) / (high - low) * dots).floor()
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
    panels: str | None = None,
    interpolate: Any = "linear",
    dots: bool = False,
    apart: bool = False,
) -> alt.Chart:
    """
    Lines through the points of each series, in their order, a panel for each `panel`.

    Of a point, a tooltip tells all columns.
    """
    import altair as alt

    tips = [f"{column}:Q" for column in points.columns if column not in ("panel", "series")]
    chart = _chart(points.with_row_index("order"), panels).encode(
        x=_scaled(alt.X(f"{x.column}:Q"), x),
        y=_scaled(alt.Y(f"{y.column}:Q"), y),
        color=_colour(legend),
        strokeDash=_dash(legend),
        order="order:Q",
        tooltip=["series:N", *tips],
    )
    drawn: alt.Chart = chart.mark_line(
        clip=True, strokeWidth=2, strokeJoin="bevel", interpolate=interpolate, point=dots
    )
    if apart:
        drawn = drawn.properties(
            resolve=alt.Resolve(scale={"y": "independent"}, axis={"x": "independent"})
        )
    return drawn


def forest(points: pl.DataFrame, title: str, value: str, *, from_zero: bool = False) -> alt.Chart:
    """A dot and its interval for each segment and model, a column for each metric."""
    import altair as alt

    origin = alt.condition("datum.value == 0", alt.value(2), alt.value(1))
    across = alt.X("at:Q", title=value, scale=alt.Scale(zero=from_zero))

    models = _order(points, "series")
    panels = _readable(points, "segments")
    kinds = ["low", "value", "high"]
    ends = pl.concat(points.with_columns(kind=pl.lit(kind), at=kind) for kind in kinds)
    no_dot = "M0,0"
    chart = alt.Chart(_values(ends.filter(pl.col("value").is_not_null()))).encode(
        x=across.axis(gridWidth=origin) if from_zero else across,
        # All of them, those with no value, too.
        y=alt.Y("panel:N", title=title or None, sort=panels, scale=alt.Scale(domain=panels)),
        yOffset=alt.YOffset("series:N", sort=models),
        color=_colour(Legend(models)),
        strokeDash=_dash(Legend(models)),
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
    height = max(ALONE // 4, 14 * len(models) * len(panels))
    chart = chart.properties(
        width=260, height=height, resolve=alt.Resolve(scale={"x": "independent"})
    )
    drawn: alt.Chart = chart.mark_line(
        strokeWidth=2, point=alt.OverlayMarkDef(filled=True, size=60)
    )
    return drawn


def densities(
    points: pl.DataFrame, x: Axis, y: Axis, legend: Legend, panels: str, *, columns: int
) -> alt.Chart:
    """Steps down to the axis for each series, a panel for each `panel`."""
    import altair as alt

    chart = _chart(points, panels, columns=columns).encode(
        x=_scaled(alt.X(f"{x.column}:Q"), x),
        y=_scaled(alt.Y(f"{y.column}:Q").stack(None), y),
        color=_colour(legend),
        tooltip=["series:N", f"{x.column}:Q", f"{y.column}:Q", "rows:Q"],
    )
    drawn: alt.Chart = chart.mark_area(
        interpolate="step-after", opacity=0.5, line={"strokeWidth": 1.5}
    )
    return drawn


def _chart(points: pl.DataFrame, panels: str | None, *, columns: int = PANELS_A_ROW) -> alt.Chart:
    """A chart of the points, or of those of each panel."""
    import altair as alt

    chart = alt.Chart(_values(points))
    if panels is None:
        return chart.properties(width=ALONE, height=ALONE)
    order = _readable(points, "panels")
    # A header has several lines.
    header = alt.Header(labelExpr="split(datum.label, '\\n')", labelLineHeight=14)
    columns = max(1, min(len(order), columns))
    facet = alt.Facet("panel:N", title=panels or None, sort=order, header=header, columns=columns)
    chart = chart.encode(facet=facet).properties(width=PANEL, height=PANEL)
    if len(order) % columns:
        # Else the axes of a column would stand below a row that it does not have.
        chart = chart.properties(resolve=alt.Resolve(axis={"x": "independent"}))
    return chart


def _values(points: pl.DataFrame) -> dict[str, Any]:
    """The points as JSON holds them, which knows no infinity, and as short as a screen needs."""
    floats = cs.float()
    finite = points.with_columns(pl.when(floats.is_finite()).then(floats))
    short = pl.when(_spread(floats)).then(floats.round_sig_figs(9)).otherwise(floats)
    # A dict, as altair looks at each point of its own kinds of data.
    return {"values": finite.with_columns(short).to_dicts()}


def _spread(values: pl.Expr) -> pl.Expr:
    """Whether nine digits tell the values of a column apart on a screen."""
    return values.max() - values.min() > values.abs().max() / 1_000


def _readable(points: pl.DataFrame, what: str) -> list[str]:
    """The panels in their order, unless they are too many to be read."""
    order = _order(points, "panel")
    if len(order) > MOST_PANELS:
        raise ValueError(
            f"a chart of {len(order)} {what} can't be read: filter the frame to at most"
            f" {MOST_PANELS} of them"
        )
    return order


def _order(points: pl.DataFrame, column: str) -> list[str]:
    return points[column].unique(maintain_order=True).to_list()


def _colour(legend: Legend) -> alt.Color:
    import altair as alt

    colours = [COLOURS[(legend.first + i) % len(COLOURS)] for i in range(len(legend.series))]
    colours += [REFERENCE for _ in legend.references]
    scale = alt.Scale(domain=[*legend.series, *legend.references], range=colours)
    shown = alt.Legend(labelLimit=0, symbolType="stroke")
    return alt.Color("series:N", title=legend.title, scale=scale, legend=shown)


def _dash(legend: Legend) -> alt.StrokeDash:
    import altair as alt

    dashes = [DASHES[i // len(COLOURS) % len(DASHES)] for i in range(len(legend.series))]
    dashes += REFERENCE_DASHES[: len(legend.references)]
    scale = alt.Scale(domain=[*legend.series, *legend.references], range=dashes)
    return alt.StrokeDash("series:N", title=legend.title, scale=scale)


def _scaled(channel: Any, axis: Axis) -> Any:
    import altair as alt

    scale = alt.Scale(zero=False) if axis.domain is None else alt.Scale(domain=[*axis.domain])
    return channel.title(axis.title).scale(scale)
