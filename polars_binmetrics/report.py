"""The report: one page with the tables and charts of all models and segments, for any browser."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_binmetrics import charts, plots
from polars_binmetrics.drawing import panels_of
from polars_binmetrics.evaluate import of_state
from polars_binmetrics.extras import require
from polars_binmetrics.face import FrameFace
from polars_binmetrics.histograms import merge_histograms
from polars_binmetrics.metric import AnyMetric, CountMetric
from polars_binmetrics.namespaces import of
from polars_binmetrics.registry import IntoMetric, find
from polars_binmetrics.thresholds import IntoThresholds

if TYPE_CHECKING:
    import altair as alt

TITLE = "How good are these models?"
PLOTS: dict[str, Callable[..., Any]] = {
    "roc": plots.roc,
    "pr": plots.pr,
    "calibration": plots.calibration,
    "decision": plots.decision,
    "threshold": plots.threshold,
    "scores": plots.scores,
}
CAPTIONS = {
    "roc": "ROC curves: the higher, the better; the diagonal is chance.",
    "pr": "Precision and recall: what is found, and how much of what is called positive is.",
    "calibration": "Calibration: scores that are probabilities lie on the diagonal.",
    "decision": "Decision curves: the net benefit of acting on a score at each threshold.",
    "threshold": "Metrics over the thresholds.",
    "scores": "The scores of positives and of negatives: the less they overlap, the better.",
}
#: A page of more would be searched, not read.
MOST_SEGMENTS = 1_000
#: What is drawn of each segment, too.
TOLD = ["roc", "pr", "calibration", "scores"]
#: Read on white and on black grounds alike.
INK, GRID = "#767676", "#8886"
LOOK = {
    "background": "transparent",
    "view": {"stroke": GRID},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": GRID,
    },
    "legend": {"labelColor": INK, "titleColor": INK},
    "header": {"labelColor": INK, "titleColor": INK},
}
UNKNOWN = "&ndash;"
STYLE = """
:root { color-scheme: light dark; --line: #8886; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem;
  overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
dl { display: grid; gap: 0 1rem; grid-template-columns: max-content 1fr; } dd { margin: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .7rem; text-align: right;
  white-space: nowrap; }
th.text, td.text { text-align: left; }
td small { opacity: .75; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
figure { margin: 1rem 0; max-width: 100%; } img { max-width: 100%; height: auto; }
figcaption { margin-bottom: .5rem; }
"""
#: The browser fetches nothing, whatever the page says.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Part(NamedTuple):
    """The table of all rows or of the segments, and what draws a chart of them."""

    table: pl.DataFrame
    draw: Callable[[str], Any]


class Asked(NamedTuple):
    """What a page tells: metrics, at a level if they have intervals."""

    metrics: list[AnyMetric]
    interval: float | None

    def level(self) -> str:
        """The level as a share of 100."""
        return "" if self.interval is None else f"{100 * self.interval:.6g}%"

    def of_threshold(self) -> dict[str, Any]:
        """What is drawn over the thresholds: the metrics of the counts, if there are some."""
        counted = [metric for metric in self.metrics if isinstance(metric, CountMetric)]
        return {"metrics": counted} if counted else {}


def of_rows(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str],
    metrics: Iterable[IntoMetric],
    thresholds: IntoThresholds,
    interval: float | None,
    strict: bool,
    facts: Mapping[str, str],
    **counting: Any,
) -> str:
    """The page of rows, which are read once for each table and chart."""
    _require_extra()
    asked = Asked(find(metrics), interval)

    def part(keys: Sequence[str]) -> Part:
        table = of(frame).evaluate(
            **counting,
            by=keys,
            metrics=asked.metrics,
            thresholds=thresholds,
            interval=interval,
            strict=strict,
        )

        def draw(name: str) -> Any:
            more = asked.of_threshold() if name == "threshold" else {}
            more |= {"strict": strict} if name in ("threshold", "decision") else {}
            return PLOTS[name](FrameFace(frame), **counting, by=keys, **more)

        return Part(table.collect(engine="streaming"), draw)

    return _page(part([]), part(by) if by else None, list(PLOTS), asked, facts)


def of_states(
    state: pl.DataFrame,
    *,
    metrics: Iterable[IntoMetric],
    thresholds: IntoThresholds,
    interval: float | None,
    facts: Mapping[str, str],
) -> str:
    """The page of a state, which has all but the calibration."""
    _require_extra()
    asked = Asked(find(metrics), interval)
    if "level" in panels_of(state):  # The totals are counted again.
        state = state.filter(pl.col("level") == pl.col("level").max()).drop("level")
    by = panels_of(state)

    def part(bins: pl.DataFrame) -> Part:
        def draw(name: str) -> Any:
            more = asked.of_threshold() if name == "threshold" else {}
            return PLOTS[name](FrameFace(bins), **more)

        return Part(of_state(bins, asked.metrics, thresholds=thresholds, interval=interval), draw)

    names = [name for name in PLOTS if name != "calibration"]
    if state["threshold"].drop_nulls().drop_nans().n_unique() < 2:
        names.remove("scores")
    total = part(merge_histograms([state.drop(by)]))
    return _page(total, part(state) if by else None, names, asked, facts)


def _require_extra() -> None:
    require("altair", "a report", "plot")
    require("vl_convert", "a report", "plot")


def _page(
    total: Part,
    segments: Part | None,
    names: Sequence[str],
    asked: Asked,
    facts: Mapping[str, str],
) -> str:
    known = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()
    )
    body = [f"<h1>{TITLE}</h1><dl>{known}</dl>"]
    body += ["<h2>All rows</h2>", _table(total.table, asked), _figures(total, names)]
    if segments is not None:
        keys = panels_of(segments.table)
        number = segments.table.select(keys).n_unique()
        few = number <= charts.MOST_PANELS
        body += [f"<h2>By {escape(', '.join(keys))}</h2>"]
        body += [_forest(segments.table, asked)] if few else []
        body += [
            _table(segments.table, asked)
            if number <= MOST_SEGMENTS
            else f"<p>The table of {number:,} segments is too long for a page.</p>"
        ]
        body += [
            _figures(segments, [name for name in names if name in TOLD])
            if few
            else f"<p>The curves of {number:,} segments are too many to be drawn.</p>"
        ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{TITLE}</title><style>{STYLE}</style></head>\n"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _forest(table: pl.DataFrame, asked: Asked) -> str:
    """The segments, each at its first threshold."""
    groups = [*panels_of(table), "model"]
    first = table.unique(groups, keep="first", maintain_order=True)
    at = first["threshold"].unique().to_list()
    chart = plots.segments(FrameFace(first.drop("threshold")), metrics=asked.metrics)
    caption = "Each segment" + (f", with intervals at {asked.level()}" if asked.interval else "")
    where = f"a threshold of {at[0]:g}" if len(at) == 1 else "the first threshold of each"
    return _figure(chart, f"{caption}; at {where}.")


def _figures(part: Part, names: Iterable[str]) -> str:
    # A panel a segment and model.
    panels = part.table.select(*panels_of(part.table), "model").n_unique()
    few = panels <= charts.MOST_PANELS or "scores" not in names
    drawn = [_figure(part.draw(name), CAPTIONS[name]) for name in names if few or name != "scores"]
    note = f"<p>The scores of {panels:,} models and segments are too many to be drawn.</p>"
    return f'<div class="figures">{"".join(drawn)}</div>' + ("" if few else note)


def _figure(chart: alt.Chart, caption: str) -> str:
    """A chart as a picture in the page, which loads and runs nothing."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg({**chart.to_dict(), "config": LOOK})
    source = str(b64encode(svg.encode()), "ascii")
    return (
        f"<figure><figcaption>{escape(caption)}</figcaption>"
        f'<img alt="{escape(caption)}" src="data:image/svg+xml;base64,{source}"></figure>'
    )


def _table(table: pl.DataFrame, asked: Asked) -> str:
    """The table with each metric in one column, its interval beside it."""
    texts = [*panels_of(table), "model"]
    metrics = [metric.name for metric in asked.metrics]
    sizes = ["n", "n_positive"]
    if "n_missing" in table.columns and table["n_missing"].sum():
        sizes.append("n_missing")
    level = f" ({asked.level()})" if asked.interval else ""
    head = [_cell("th", name, text=True) for name in texts]
    head += [_cell("th", name) for name in ("threshold", *sizes)]
    head += [_cell("th", name + level) for name in metrics]
    rows: list[str] = []
    for row in table.iter_rows(named=True):
        cells = [_cell("td", "null" if row[key] is None else row[key], text=True) for key in texts]
        cells += [f"<td>{row['threshold']:.10g}</td>"]
        cells += [
            f"<td>{UNKNOWN if row[n] is None else format(row[n], ',.10g')}</td>" for n in sizes
        ]
        for name in metrics:
            low, high = (row.get(f"{name}_{end}") for end in ("low", "high"))
            sure = low is not None and high is not None
            beside = f" <small>{_number(low)} to {_number(high)}</small>" if sure else ""
            cells.append(f"<td>{_number(row[name])}{beside}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{"".join(head)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(tag: str, value: object, *, text: bool = False) -> str:
    kind = ' class="text"' if text else ""
    return f"<{tag}{kind}>{escape(str(value))}</{tag}>"


def _number(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    if 999.5 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.3f}" if isinstance(value, float) and 0.1 <= abs(value) < 10 else f"{value:.3g}"
