"""What is drawn: the points of the curves, with what the legend says of them, for any eye."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise, product
from time import process_time
from typing import Any
from xml.etree import ElementTree

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert
from polars.exceptions import ColumnNotFoundError, InvalidOperationError, SchemaError
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from polars_binmetrics import charts, extras
from polars_binmetrics.charts import Axis
from polars_binmetrics.namespaces import PlotNamespace

ROWS = bm.load_example()
MODELS = ["logistic", "boosting"]
LABEL = "visited_often"
PLOTS = [name for name in vars(PlotNamespace) if not name.startswith("_")]
#: Five rows with a tie; TPR and FPR by hand.
FEW = pl.DataFrame({"y": [0, 1, 0, 1, 1], "s": [0.1, 0.4, 0.4, 0.6, 0.8]})
SVG = "{http://www.w3.org/2000/svg}"


def plot(name: str, frame: Any = ROWS, *arguments: Any, **options: Any) -> Any:
    return getattr(frame.binmetrics.plot, name)(*arguments, **options)


def values(chart: alt.Chart) -> pl.DataFrame:
    stored = chart.to_dict()
    return pl.DataFrame(stored["datasets"][stored["data"]["name"]], infer_schema_length=None)


def series(chart: alt.Chart) -> list[str]:
    return list(chart.to_dict()["encoding"]["color"]["scale"]["domain"])


def svg(chart: alt.Chart) -> ElementTree.Element:
    return ElementTree.fromstring(vl_convert.vegalite_to_svg(chart.to_json()))


def texts(chart: alt.Chart) -> list[str]:
    return [line for each in svg(chart).iter(f"{SVG}text") for line in each.itertext()]


def paths(chart: alt.Chart, mark: str) -> list[list[tuple[float, float]]]:
    """The corners of the lines on the screen, in pixels from the upper left of the panel."""
    groups = [g for g in svg(chart).iter(f"{SVG}g") if mark in g.get("class", "").split()]
    found = [path for group in groups for path in group.iter(f"{SVG}path")]
    numbers = [re.findall(r"[ML]([-\d.e]+),([-\d.e]+)", path.get("d", "")) for path in found]
    return [[(float(x), float(y)) for x, y in each] for each in numbers]


@pytest.mark.parametrize("by", [None, "health"])
@pytest.mark.parametrize("name", PLOTS)
def test_every_plot_is_a_chart_that_renders(name: str, by: str | None) -> None:
    chart = plot(name, ROWS, MODELS, LABEL, by=by)
    assert isinstance(chart, alt.Chart)
    png = vl_convert.vegalite_to_png(chart.to_json())
    assert png.startswith(b"\x89PNG")
    width, height = (int.from_bytes(png[i : i + 4], "big") for i in (16, 20))
    assert 200 < width < 2_000
    assert 70 < height < 2_000
    shown = texts(chart)
    assert {"boosting", "logistic"} <= {text.partition(",")[0] for text in shown}
    if by is not None:
        wanted = ["excellent", "fair", "good", "poor"]
        assert [w for w in wanted if not any(w in text.split(" · ") for text in shown)] == []
    for axis in ("x", "y"):
        title = chart.to_dict()["encoding"][axis]["title"]
        if name == "segments":
            continue
        assert "(" in title or title in ("Score", "Value of the metric")
        assert title in shown


@pytest.mark.parametrize("name", PLOTS)
def test_lazy_frames_are_drawn_as_eager_ones(name: str) -> None:
    rows = ROWS.head(500)
    eager = plot(name, rows, MODELS, LABEL, by="health").to_dict()
    assert plot(name, rows.lazy(), MODELS, LABEL, by="health").to_dict() == eager


def test_the_line_on_the_screen_is_the_curve() -> None:
    chart = plot("roc", FEW, "s", "y")
    # From the lowest threshold to the highest; the tie is one slanted step.
    corners = [(1, 1), (0.5, 1), (0, 2 / 3), (0, 0)]
    side = charts.ALONE
    line, chance = paths(chart, "mark-line")
    np.testing.assert_allclose(line, [(side * x, side * (1 - y)) for x, y in corners], atol=0.01)
    np.testing.assert_allclose(chance, [(0, side), (side, 0)])


def test_precision_is_drawn_as_the_steps_that_its_area_adds_up() -> None:
    chart = plot("pr", FEW, "s", "y")
    line = np.array(next(iter(paths(chart, "mark-line")))) / charts.ALONE
    recall, precision = line[:, 0], 1 - line[:, 1]
    area = sum(np.diff(recall) * precision[1:])
    # Two positives at a precision of 1, one at 3/4.
    assert recall[0] == 0
    assert math.isclose(area, (1 + 1 + 3 / 4) / 3, abs_tol=1e-4)
    assert series(chart) == ["s, AP 0.917", "prevalence"]


@pytest.mark.parametrize(
    ("name", "metric", "text"), [("roc", "roc_auc", "AUC"), ("pr", "average_precision", "AP")]
)
def test_the_legend_has_the_metric_itself(name: str, metric: str, text: str) -> None:
    table = ROWS.binmetrics.evaluate(MODELS, LABEL, metrics=metric)
    expected = [f"{model}, {text} {value:.3f}" for model, value in table["model", metric].rows()]
    assert series(plot(name, ROWS, MODELS, LABEL))[:2] == expected
    table = ROWS.binmetrics.evaluate(MODELS, LABEL, metrics=metric, by="health")
    panels = values(plot(name, ROWS, MODELS, LABEL, by="health"))["panel"].unique().to_list()
    for (segment,), rows in table.group_by("health"):
        lines = [f"{model} {text} {value:.3f}" for model, value in rows["model", metric].rows()]
        assert "\n".join([str(segment), *lines]) in panels


def test_the_legend_has_the_rows_and_the_mean_cost() -> None:
    assert series(plot("gain", FEW, "s", "y"))[0] == "s, n = 5"
    assert series(plot("calibration", FEW, "s", "y"))[0] == "s, n = 5"
    assert series(plot("decision", FEW, "s", "y"))[0] == "s, n = 5"
    # Corners of the hull, in (FPR, FNR): (0, 1/3) and (1/2, 0), and those of no model.
    corners = [(0, 0), (0.6, 0.2), (1, 0)]
    area = sum((x - w) * (y + v) / 2 for (w, v), (x, y) in pairwise(corners))
    assert series(plot("cost", FEW, "s", "y"))[0] == f"s, mean {area:.3f}"


@pytest.mark.parametrize("name", ["roc", "pr", "gain", "decision", "cost", "calibration"])
def test_a_curve_is_drawn_as_its_rows_are(name: str) -> None:
    curve = getattr(ROWS.binmetrics, f"{name}_curve")(MODELS, LABEL, by="health")
    from_rows = values(plot(name, ROWS, MODELS, LABEL, by="health"))
    drawn = values(plot(name, curve))
    assert drawn["panel"].unique().sort().equals(from_rows["panel"].unique().sort())
    if name != "roc":  # That of rows leaves out the points on a line.
        assert drawn.equals(from_rows)


@pytest.mark.parametrize("name", ["roc", "pr", "gain", "decision", "threshold"])
def test_stored_states_and_counts_are_drawn_as_the_rows_at_their_thresholds(name: str) -> None:
    ask: dict[str, Any] = {"by": "health", "thresholds": bm.dyadic(6)[:-1]}

    def shown(chart: alt.Chart) -> pl.DataFrame:
        points = values(chart)
        if name == "roc":  # That of rows leaves out the points on a line.
            return points.select("panel").unique(maintain_order=True)
        drop = ["order"] if name in ("decision", "threshold") else ["order", "threshold"]
        return points.drop(drop).unique(maintain_order=True)

    rows = shown(plot(name, ROWS, MODELS, LABEL, **ask))
    state = ROWS.binmetrics.histogram(MODELS, LABEL, bins=ask["thresholds"], by="health")
    for frame in (state, ROWS.binmetrics.counts(MODELS, LABEL, **ask)):
        assert_frame_equal(shown(plot(name, frame)), rows, abs_tol=1e-8)


def test_the_curve_of_a_state_reaches_both_corners() -> None:
    state = FEW.binmetrics.histogram("s", "y", bins=[0.3, 0.5])
    # Of six pairs five are won, and one is tied in its bin.
    line = values(plot("roc", state)).filter(series="s, AUC 0.917")
    assert line["fpr", "tpr"].rows()[0] == (1, 1)
    assert line["fpr", "tpr"].rows()[-1] == (0, 0)


def test_densities_add_up_to_each_class() -> None:
    for bins in (None, bm.dyadic(10), bm.quantiles(7, per="segment"), [0.3, 0.4, 0.9]):
        points = values(plot("scores", ROWS, MODELS, LABEL, by="health", bins=bins))
        assert points.group_by("panel", "series").len()["len"].max() <= 66
        for _, steps in points.group_by("panel", "series"):
            ordered = steps.sort("threshold")
            widths = ordered["threshold"].diff().drop_nulls()
            assert math.isclose((widths * ordered["density"][:-1]).sum(), 1, rel_tol=1e-6)


def test_segments_have_their_values_and_intervals() -> None:
    table = ROWS.binmetrics.evaluate(
        MODELS, LABEL, metrics=["roc_auc", "tpr"], by="health", interval=0.9
    )
    ask: dict[str, Any] = {"metrics": ["roc_auc", "tpr"]}
    points = values(plot("segments", table, **ask))
    for row in table.iter_rows(named=True):
        for metric in ("roc_auc", "tpr"):
            at = points.filter(panel=row["health"], series=row["model"], metric=metric)
            expected = [row[f"{metric}{end}"] for end in ("_low", "", "_high")]
            assert np.allclose(at["at"], expected, rtol=1e-8)
    again = plot("segments", ROWS, MODELS, LABEL, by="health", interval=0.9, **ask)
    assert values(again).equals(points)


def test_a_table_is_drawn_with_all_its_metrics() -> None:
    table = ROWS.binmetrics.evaluate(MODELS, LABEL, metrics=["roc_auc", "tpr"], interval=0.9)
    chart = plot("segments", table)
    assert values(chart)["metric"].unique(maintain_order=True).to_list() == ["roc_auc", "tpr"]
    assert chart.to_dict()["encoding"]["x"]["title"] == "value of the metric, threshold 0.5"
    title = plot("segments", FEW, "s", "y").to_dict()["encoding"]["x"]["title"]
    assert title == "value of the metric, 95 % intervals"
    chart = plot("segments", FEW, "s", "y", metrics=bm.fbeta(2.0).alias("f2"), thresholds=0.3)
    title = chart.to_dict()["encoding"]["x"]["title"]
    assert title == "value of the metric, threshold 0.3, 95 % intervals"


@pytest.mark.parametrize("verb", ["compare", "gaps"])
def test_differences_have_their_intervals(verb: str) -> None:
    ask: dict[str, Any] = {"metrics": ["roc_auc", "tpr"], "by": "health"}
    table = getattr(ROWS.binmetrics, verb)(MODELS, LABEL, **ask)
    points = values(plot("segments", table))
    for row in table.iter_rows(named=True):
        model = f"{row['model']} - {row['baseline']}" if verb == "compare" else row["model"]
        at = points.filter(panel=row["health"], series=model, metric=row["metric"])
        assert np.allclose(at["at"], [row["low"], row["difference"], row["high"]], rtol=1e-8)
    assert points.height == 3 * table.height
    one = plot("segments", table, metrics="tpr")
    assert set(values(one)["metric"]) == {"tpr"}
    assert one.to_dict()["encoding"]["x"]["scale"] == {"zero": True}


def test_totals_are_panels_of_all() -> None:
    points = values(plot("roc", ROWS, MODELS, LABEL, by="health", rollup=True))
    first = points["panel"].unique(maintain_order=True)[0]
    assert first.startswith("all\nboosting AUC 0.655")


def test_every_metric_has_its_panel_in_the_order_asked_for() -> None:
    chart = plot("threshold", ROWS, MODELS, LABEL, metrics=["tpr", "lr_positive", "fpr"])
    panels = values(chart)["panel"].unique(maintain_order=True).to_list()
    assert [panel.partition("\n")[0] for panel in panels] == ["tpr", "lr_positive", "fpr"]
    assert chart.to_dict()["resolve"]["scale"] == {"y": "independent"}


def test_panels_without_a_curve_keep_their_place() -> None:
    rows = pl.concat([FEW.with_columns(g=pl.lit(g)) for g in "ac"])
    one_class = pl.DataFrame({"y": [0, 0], "s": [0.1, 0.9], "g": ["b", "b"]})
    at_fault = one_class.with_columns(s=pl.lit(math.nan))
    for name, more in product(PLOTS, (one_class, at_fault)):
        chart = plot(name, rows.vstack(more), "s", "y", by="g")
        panels = values(chart)["panel"].unique(maintain_order=True).to_list()
        if name == "segments":
            panels = chart.to_dict()["encoding"]["y"]["scale"]["domain"]
        parts = [[*{*panel.split("\n")} & {*"abc"}] or [panel[0]] for panel in panels]
        order = [part for (part,) in parts]
        assert order == sorted(order)
        assert {*order} == {*"abc"}


@pytest.mark.parametrize("shape", ["falling", "noise", "steps"])
def test_thinning_changes_no_dot_of_the_picture(shape: str) -> None:
    rng = np.random.default_rng(7)
    n = 50_000
    x = np.sort(rng.random(n).round(5 if shape == "steps" else 15))
    y = {"falling": 1 - x**2, "noise": rng.random(n), "steps": np.sort(rng.random(n).round(2))}
    full = pl.DataFrame({"model": "a", "x": x, "y": y[shape]})
    axes = Axis("x", "", (0, 1)), Axis("y", "")
    thin = charts.thinned(full.lazy(), ["model"], *axes).collect()
    assert thin.height <= 4 * charts.DOTS + 4

    def covered(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
        """The lowest and the highest point of the line in each column of dots."""
        xs, ys = frame["x"].to_numpy(), frame["y"].to_numpy()
        edges = np.arange(1, charts.DOTS) / charts.DOTS
        crossed = pl.DataFrame({"x": edges, "y": np.interp(edges, xs, ys)})
        dots = pl.concat([frame.select("x", "y"), crossed]).with_columns(
            dot=(pl.col("x") * charts.DOTS).floor()
        )
        reach = dots.group_by("dot").agg(low=pl.col("y").min(), high=pl.col("y").max())
        return reach.sort("dot").to_numpy()

    # Where a line goes straight up at an edge, either end of it may be that of the edge.
    same = np.isclose(covered(thin), covered(full), atol=1e-9).all(axis=1)
    assert same.mean() > (0.99 if shape == "steps" else 0.9999)


def test_a_chart_of_many_points_costs_no_more_than_its_text() -> None:
    state = ROWS.binmetrics.histogram(MODELS, LABEL, bins=bm.dyadic(10), by="health")
    start = process_time()
    chart = plot("threshold", state)
    drawn = process_time() - start
    start = process_time()
    assert len(chart.to_json()) > 1_000_000
    # Altair would look at each point of data that it has a kind for: about 14 times.
    assert drawn < 4 * (process_time() - start)


def test_a_curve_of_many_rows_is_drawn_with_few_points() -> None:
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({"s": rng.random(200_000), "y": rng.random(200_000) < 0.3})
    for name in ("roc", "pr", "gain"):
        assert values(plot(name, rows, "s", "y")).height < 4 * charts.DOTS


#: G. Machado, M. Oliveira and L. Fernandes, A physiologically-based model for simulation of color
#: vision deficiency, IEEE TVCG 15, 2009, at full severity.
VISION = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def light(colour: str) -> np.ndarray[Any, Any]:
    """Red, green and blue of an sRGB colour, as amounts of light."""
    share = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    xyz = np.array(TO_XYZ) @ rgb / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(np.maximum(xyz, 0)), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_colours_are_apart_for_any_eye(vision: str) -> None:
    seen = [lab(np.clip(np.array(VISION[vision]) @ light(c), 0, 1)) for c in charts.COLOURS]
    # A difference of 2 can just be seen; this is ten times as much.
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 20


@pytest.mark.parametrize(("ground", "least"), [("#ffffff", 3.0), ("#333333", 2.0)])
def test_colours_stand_out_from_light_and_dark_grounds(ground: str, least: float) -> None:
    for colour in (*charts.COLOURS, charts.REFERENCE):
        bright = sorted(float(np.array(TO_XYZ[1]) @ light(each)) for each in (colour, ground))
        assert (bright[1] + 0.05) / (bright[0] + 0.05) >= least


def test_a_chart_leaves_text_and_ground_to_the_theme_of_the_page() -> None:
    for name in PLOTS:
        stored = plot(name, FEW, "s", "y").to_dict()
        assert "background" not in stored
        assert not re.search(r"labelColor|titleColor", str(stored["encoding"]))


def test_many_models_differ_by_colour_or_dash() -> None:
    names = [f"m{i:02}" for i in range(20)]
    rows = FEW.select("y", *(pl.col("s").alias(name) for name in names))
    for name in ("roc", "segments"):
        encoding = plot(name, rows, names, "y").to_dict()["encoding"]
        looks = zip(
            encoding["color"]["scale"]["range"],
            map(tuple, encoding["strokeDash"]["scale"]["range"]),
            strict=True,
        )
        assert len(set(looks)) == 20 + (name == "roc")


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("rows", ["none", "all null", "at fault", "one class"])
def test_what_has_no_curve_is_a_chart_without_it(rows: str, name: str) -> None:
    score = {"none": [], "all null": [None] * 2, "at fault": [0.5, math.nan], "one class": [0, 1]}
    label = [1, 1] if rows == "one class" else [0, 1]
    schema = {"g": pl.String, "s": pl.Float64, "y": pl.Int64}
    some = pl.DataFrame(
        {"g": ["a"] * len(score[rows]), "s": score[rows], "y": label[: len(score[rows])]},
        schema=schema,
    )
    chart = plot(name, some, "s", "y", by="g")
    assert vl_convert.vegalite_to_png(chart.to_json()).startswith(b"\x89PNG")
    alone = plot(name, some, "s", "y")
    if name in ("roc", "pr", "gain", "decision"):
        (line,) = [each for each in series(alone) if each.startswith("s")]
        undefined = {"roc": "s, AUC undefined", "pr": "s, AP undefined"}
        sizes = {"none": "s, n = 0", "all null": "s, n = 0", "at fault": "s, n unknown"}
        expected = undefined.get(name, sizes.get(rows, "s, n = 2"))
        assert line in (expected, "s, AP 1.000" if rows == "one class" else expected)


def test_keys_and_models_may_be_called_as_anything() -> None:
    keys = ["panel", "series", "order", "alone", "mark", "key level", "a: b", "x.y[0]", "<b>"]
    keys += ["prevalence", "difference"]
    model = 'it\'s \\ "a" : model'
    for key in [*keys, "metric", "metric value"]:
        rows = FEW.with_columns(pl.lit("north").alias(key)).rename({"s": model})
        for name in ("roc", "threshold", "segments", "scores", "decision"):
            points = values(plot(name, rows, model, "y", by=key))
            assert points["panel"][0].split("\n")[name == "scores"].startswith("north")
        shown = texts(plot("roc", rows, model, "y", by=key))
        assert {model, key} <= {*shown}


def test_panels_that_would_read_alike_are_told_apart() -> None:
    segments = ["null", None, "all", "a"]
    rows = pl.concat(FEW.with_columns(g=pl.lit(g, pl.String)) for g in segments)
    points = values(plot("roc", rows, "s", "y", by="g", rollup=True))
    heads = {panel.partition("\n")[0] for panel in points["panel"]}
    assert heads == {"all", "null", '"all"', '"null"', "a"}
    odd = "\x00\x1fa\u2028"
    shown = texts(plot("roc", FEW.with_columns(g=pl.lit(odd)), "s", "y", by="g"))
    assert "␀␟a␤" in shown
    pairs = [("x · y", "z"), ("x", "y · z"), ('"x', "y")]
    rows = pl.concat(FEW.with_columns(g=pl.lit(g), h=pl.lit(h)) for g, h in pairs)
    domain = plot("segments", rows, "s", "y", by=["g", "h"]).to_dict()["encoding"]["y"]["scale"]
    assert {*domain["domain"]} == {'"x · y" · z', 'x · "y · z"', '""x" · y'}


def test_a_model_may_be_called_like_a_reference() -> None:
    rows = FEW.with_columns(g=pl.lit("a")).rename({"s": "chance"})
    assert series(plot("roc", rows, "chance", "y", by="g")) == ["chance", "chance (no model)"]


def test_references_are_those_of_a_sound_model() -> None:
    rows = FEW.with_columns(a=pl.lit(math.nan))
    for name, reference in (("pr", "prevalence"), ("decision", "treat all")):
        points = values(plot(name, rows, ["a", "s"], "y"))
        assert points.filter(series=reference).height >= 2


def test_scores_far_from_zero_keep_their_distances() -> None:
    rows = FEW.with_columns(pl.col("s") + 1e10)
    points = values(plot("scores", rows, "s", "y"))
    assert points["threshold"].n_unique() == 41


def test_a_state_in_any_order_has_the_same_bars() -> None:
    state = ROWS.binmetrics.histogram(MODELS, LABEL, bins=bm.dyadic(7), by="health")
    shuffled = state.sample(fraction=1, shuffle=True, seed=3)
    assert values(plot("scores", shuffled)).equals(values(plot("scores", state)))


def test_two_curves_are_not_one() -> None:
    for name in ("cost", "calibration"):
        curve = getattr(ROWS.binmetrics, f"{name}_curve")(MODELS, LABEL)
        with pytest.raises(InvalidOperationError, match=r"^a segment and model has a"):
            plot(name, pl.concat([curve, curve]))


def test_a_state_at_fault_has_no_bars_and_one_of_a_single_limit_its_rows() -> None:
    state = FEW.binmetrics.histogram("s", "y", bins=[0.2, 0.5])
    other = state.with_columns(model=pl.lit("t"))
    for bad in (-1, None):
        first = pl.int_range(pl.len()) == 0
        faulty = other.with_columns(positives=pl.when(~first).then("positives").otherwise(bad))
        heads = values(plot("scores", pl.concat([state, faulty])))["panel"].unique()
        assert sorted(heads) == ["s\n2 negative, 3 positive", "t\nn unknown"]
    rows = pl.DataFrame({"g": ["a", "b", "b"], "s": [0.5, 0.2, 0.6], "y": [1, 0, 1]})
    chart = plot("scores", rows, "s", "y", by="g", bins=bm.every_score())
    assert "s\na\n0 negative, 1 positive" in values(chart)["panel"].to_list()


def test_a_panel_has_the_points_of_its_width() -> None:
    rows = pl.DataFrame({"s": [(i * 7919 % 10007) / 10007 for i in range(10_007)]})
    rows = rows.with_columns(y=pl.int_range(pl.len()) % 3 == 0, g=pl.lit("a"))
    alone, panel = (
        values(plot("pr", rows, "s", "y", by=by)).filter(pl.col("series").str.starts_with("s"))
        for by in (None, "g")
    )
    assert 0.5 < panel.height / alone.height < 0.8


def test_counts_of_two_days_are_not_one_curve() -> None:
    counts = FEW.binmetrics.counts("s", "y", thresholds=[0.2, 0.5])
    two = pl.concat([counts.with_columns(day=i) for i in range(2)])
    for name in ("roc", "pr", "gain", "decision", "threshold"):
        with pytest.raises(InvalidOperationError, match="the keys should stand before the model"):
            plot(name, two)
        assert values(plot(name, two.select("day", pl.exclude("day"))))["panel"].n_unique() >= 2


@pytest.mark.parametrize("order", ["as it is", "reversed", "shuffled"])
def test_frames_with_infinite_scores_in_any_order_are_drawn_as_their_rows(order: str) -> None:
    scores = [-math.inf, *(i / 50 for i in range(50)), *[math.inf] * 7]
    rows = pl.DataFrame({"y": [1, 0] * 25 + [1] * 6 + [0] * 2, "s": scores})
    verbs = rows.binmetrics
    frames = {name: getattr(verbs, f"{name}_curve")("s", "y") for name in ("roc", "pr", "cost")}
    frames |= {"gain": verbs.gain_curve("s", "y"), "calibration": verbs.calibration_curve("s", "y")}
    every = {"roc": verbs.counts("s", "y", thresholds=bm.every_score())}
    every["pr"] = verbs.histogram("s", "y", bins=bm.every_score())
    for name, frame in [*frames.items(), *every.items()]:
        frame = {
            "as it is": frame,
            "reversed": frame.reverse(),
            "shuffled": frame.sample(fraction=1, shuffle=True, seed=5),
        }[order]
        drawn = plot(name, frame)
        assert series(drawn) == series(plot(name, rows, "s", "y"))
        if name != "roc":  # That of rows leaves out the points on a line.
            points, expected = (
                values(each).drop("order", "threshold", strict=False)
                for each in (drawn, plot(name, rows, "s", "y"))
            )
            assert_frame_equal(points, expected)


@pytest.mark.parametrize("name", PLOTS)
def test_scores_and_keys_may_be_generators(name: str) -> None:
    drawn = plot(name, ROWS, (each for each in MODELS), LABEL, by=(each for each in ["health"]))
    assert values(drawn).equals(values(plot(name, ROWS, MODELS, LABEL, by="health")))


def test_treating_all_is_seen_where_it_is_best() -> None:
    rows = pl.DataFrame({"y": [1] * 4 + [0] * 4, "s": [0.015] + [0.0] * 7})
    chart = plot("decision", rows, "s", "y")
    best = values(chart).filter(series="treat all")["net_benefit"].max()
    assert chart.to_dict()["encoding"]["y"]["scale"]["domain"][1] > best > 0.49


def test_columns_beside_a_curve_are_left_out() -> None:
    curve = ROWS.binmetrics.decision_curve(MODELS, LABEL)
    beside = [pl.lit("z").alias(name) for name in ("series", "at", "alone", "dot", "panel", "text")]
    assert values(plot("decision", curve.with_columns(beside))).equals(
        values(plot("decision", curve))
    )


def test_a_count_may_stand_beside_a_rate() -> None:
    points = values(plot("segments", FEW, "s", "y", metrics=["tp", "tpr"]))
    assert points.filter(kind="value")["at"].to_list() == pytest.approx([2, 2 / 3])


def test_one_limit_makes_no_bar() -> None:
    for rows in (FEW, FEW.with_columns(pl.lit(math.nan).alias("s"))):
        with pytest.raises(ValueError, match="`bins` should hold at least two limits"):
            plot("scores", rows, "s", "y", bins=0.5)


def test_keys_that_have_no_text_are_named() -> None:
    rows = FEW.with_columns(g=pl.concat_list("y"))
    with pytest.raises(SchemaError, match="`by`: a key of List"):
        plot("roc", rows, "s", "y", by="g")


def test_null_keys_weights_and_strings_are_drawn() -> None:
    rows = pl.DataFrame(
        {"g": [None, None, 1, 1], "s": [0.1, 0.9, 0.2, 0.8], "y": ["n", "p", "n", "p"], "w": 0.5}
    )
    chart = plot("gain", rows, "s", "y", by="g", positive="p", weight="w")
    assert sorted(set(values(chart)["panel"])) == ["1\nn = 1", "null\nn = 1"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        return None

    monkeypatch.setattr(extras, "find_spec", none)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'polars-binmetrics\[plot\]'"):
        _ = bm.of(ROWS).plot


@pytest.mark.parametrize("name", PLOTS)
def test_wrong_arguments_are_named(name: str) -> None:
    with pytest.raises(TypeError, match="`label` should be given with `scores`"):
        plot(name, ROWS, MODELS)
    with pytest.raises(TypeError, match="`by` should be given with `scores` only"):
        plot(name, ROWS, by="health")
    with pytest.raises(ColumnNotFoundError, match=r"has no column '(model|threshold)'"):
        plot(name, ROWS)
    with pytest.raises(ColumnNotFoundError, match="`scores`: unable to find column"):
        plot(name, ROWS, "nope", LABEL)


def test_more_panels_than_can_be_read_are_refused() -> None:
    rows = pl.concat([FEW.with_columns(g=i) for i in range(65)])
    for name in ("roc", "scores", "segments"):
        with pytest.raises(ValueError, match=r"a chart of 65 (panels|segments) can't be read"):
            plot(name, rows, "s", "y", by="g")


def test_segments_are_those_of_one_threshold() -> None:
    table = FEW.binmetrics.evaluate("s", "y", metrics="tpr", thresholds=[0.2, 0.5])
    with pytest.raises(ValueError, match="the frame has 2 thresholds: filter it to one of them"):
        plot("segments", table, metrics="tpr")
