"""The report: one page that a browser shows as it is, without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polars_binmetrics as bm
from polars_binmetrics import extras, report
from polars_binmetrics.command import main
from polars_binmetrics.example import PATH
from tests.test_command import refused

ASK = ["--label", "visited_often", "--score", "logistic", "--score", "boosting", "--by", "health"]
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
#: Measures the page and leaves what it finds where the browser's dump of it shows.
MEASURE = """<pre id="seen"></pre><script>addEventListener("load", () => {
  const sizes = [...document.images].map(i => [i.naturalWidth, i.naturalHeight, i.width]);
  const root = document.documentElement;
  document.getElementById("seen").textContent = JSON.stringify({sizes,
    overflow: root.scrollWidth - root.clientWidth, rows: document.querySelectorAll("tr").length,
    ground: getComputedStyle(root).colorScheme,
    asked: performance.getEntriesByType("resource").map(e => e.name).filter(
      name => !name.startsWith("data:"))});
});</script></body>"""


def write(folder: Path, *arguments: str) -> str:
    """The page that the command writes."""
    page = folder / "report.html"
    main(["report", *arguments, "--html", str(page)])
    return page.read_text(encoding="utf-8")


def tables(page: str) -> list[list[list[str]]]:
    """The cells of the tables of a page, row by row."""

    found: list[list[list[str]]] = []

    class Reader(HTMLParser):
        within = False

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            if tag == "table":
                found.append([])
            elif tag == "tr":
                found[-1].append([])
            elif tag in ("td", "th"):
                found[-1][-1].append("")
                self.within = True

        def handle_endtag(self, tag: str) -> None:
            self.within = self.within and tag not in ("td", "th")

        def handle_data(self, data: str) -> None:
            if self.within:
                found[-1][-1][-1] += data

    Reader().feed(page)
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the rows that ship with the package, in a file of a long name."""
    folder = tmp_path_factory.mktemp("page")
    rows = shutil.copy(PATH, folder / f"{'long_' * 40}{PATH.suffix}")
    return write(folder, str(rows), *ASK, "--threshold", "0.3")


def test_the_tables_have_what_evaluate_gives(page: str) -> None:
    total, segments = tables(page)
    table = bm.load_example().binmetrics.evaluate(
        ["logistic", "boosting"],
        "visited_often",
        metrics=["roc_auc", "f1"],
        by="health",
        thresholds=0.3,
        interval=0.95,
    )
    assert [row[:2] for row in segments[1:]] == [[*row] for row in table["health", "model"].rows()]
    for cells, row in zip(segments[1:], table.iter_rows(named=True), strict=True):
        shown = dict(zip(segments[0], cells, strict=True))
        for name in ("roc_auc", "f1"):
            value, low, high = (row[name + end] for end in ("", "_low", "_high"))
            assert shown[f"{name} (95%)"] == f"{value:.3f} {low:.3f} to {high:.3f}"
        assert shown["n"] == f"{row['n']:,}"
    assert len(total) == 3


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own to write into."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn takes seconds, and is another test's."""
    monkeypatch.setattr(report, "_figure", lambda chart, caption: "")


@pytest.mark.usefixtures("without_pictures")
def test_a_page_of_states_is_that_of_their_rows(tmp_path: Path) -> None:
    states = []
    for i, rows in enumerate(bm.load_example().iter_slices(8_000)):
        rows.write_parquet(tmp_path / f"rows-{i}.parquet")
        states.append(str(tmp_path / f"state-{i}.parquet"))
        source = [str(tmp_path / f"rows-{i}.parquet"), *ASK, "--bins", "dyadic(6)", "--rollup"]
        main(["histogram", *source, "--output", states[-1]])
    options = ["--threshold", "0.25", "--metric", "tpr", "--metric", "precision"]
    merged = tables(write(tmp_path, "--from-state", *states, *options))
    whole = tables(write(tmp_path, str(PATH), *ASK, *options))
    assert merged == whole


def test_a_page_asks_for_nothing_and_runs_nothing(page: str) -> None:
    assert "<script" not in page
    sources = re.findall(r'(?:src|href)="([^"]{0,30})', page)
    assert sources
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("options", "column"),
    [
        (["--metric", "fbeta(beta=2)", "--interval", "0.995"], "fbeta (99.5%)"),
        (["--weight", "logistic", "--metric", "roc_auc"], "roc_auc"),
        (["--threshold", "0.3,0.5", "--metric", "ks"], "ks (95%)"),
    ],
)
def test_a_page_of_any_metrics_weights_and_thresholds(
    tmp_path: Path, options: list[str], column: str
) -> None:
    total, segments = tables(write(tmp_path, str(PATH), *ASK, *options))
    assert total[0][-1] == segments[0][-1] == column


def test_names_are_text_not_markup(tmp_path: Path) -> None:
    odd = '<img src="http://example.org/x.png">&amp;'
    rows = bm.load_example().rename({"health": odd, "logistic": "<script>"})
    rows = rows.with_columns(pl.col(odd).replace("poor", "</table><b>"))
    rows.write_parquet(tmp_path / "rows.parquet")
    ask = ["--label", "visited_often", "--score", "<script>", "--by", odd]
    page = write(tmp_path, str(tmp_path / "rows.parquet"), *ASK[:2], *ask[2:])
    assert "<script" not in page
    assert "<b>" not in page
    assert tables(page)[1][0][0] == odd
    assert {row[0] for row in tables(page)[1]} > {"</table><b>"}


@pytest.mark.usefixtures("without_pictures")
def test_many_segments_have_a_table_and_no_curves(tmp_path: Path) -> None:
    rows = bm.load_example().with_columns(health=pl.int_range(pl.len()) % 100)
    rows.write_parquet(tmp_path / "rows.parquet")
    page = write(tmp_path, str(tmp_path / "rows.parquet"), *ASK)
    assert "The curves of 100 segments are too many to be drawn." in page
    assert len(tables(page)[1]) == 1 + 100 * 2


def test_curves_are_drawn_where_scores_are_too_many(tmp_path: Path) -> None:
    rows = bm.load_example().with_columns(health=pl.int_range(pl.len()) % 33)
    rows.write_parquet(tmp_path / "rows.parquet")
    page = write(tmp_path, str(tmp_path / "rows.parquet"), *ASK)
    assert page.count("The scores of 66 models and segments are too many to be drawn.") == 1
    assert page.count("<img") == 6 + 1 + 3


def test_a_state_of_one_threshold_makes_a_page(tmp_path: Path) -> None:
    state = str(tmp_path / "state.parquet")
    main(["histogram", str(PATH), *ASK[:4], "--bins", "0.5", "--output", state])
    page = write(tmp_path, "--from-state", state)
    assert page.count("<img") == 4


@pytest.mark.usefixtures("without_pictures")
def test_charts_call_rows_positive_as_tables_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict: dict[str, object] = {}
    for name in report.PLOTS:

        def drawn(*_: object, name: str = name, **ask: object) -> None:
            strict[name] = ask.get("strict")

        monkeypatch.setitem(report.PLOTS, name, drawn)
    write(tmp_path, str(PATH), *ASK[:4], "--strict")
    assert [name for name in strict if strict[name]] == ["decision", "threshold"]


@pytest.mark.usefixtures("without_pictures")
def test_a_page_says_what_it_is_of(tmp_path: Path) -> None:
    for i in range(2):
        rows = bm.load_example().with_columns(i=pl.int_range(pl.len()) % 1_001)
        rows.write_parquet(tmp_path / f"rows-{i}.parquet")
    ask = ["--label", "health", "--score", "logistic", "--weight", "boosting", "--by", "i"]
    page = write(tmp_path, f"{tmp_path}/rows-*.parquet", *ask, "--positive", "poor")
    assert f"<dt>files</dt><dd>{tmp_path}/rows-*.parquet (2 files)</dd>" in page
    assert "<dt>positive</dt><dd>poor</dd><dt>weight</dt><dd>boosting</dd>" in page
    assert "The table of 1,001 segments is too long for a page." in page
    assert len(tables(page)) == 1


@pytest.mark.usefixtures("without_pictures")
def test_counts_beside_rates_are_written_as_sizes_are(tmp_path: Path) -> None:
    page = write(tmp_path, str(PATH), *ASK, "--metric", "n", "--metric", "tpr")
    for row in [*tables(page)[0][1:], *tables(page)[1][1:]]:
        assert row[-2] == row[-4]


def test_rows_of_one_class_and_no_rows_make_a_page(tmp_path: Path) -> None:
    for rows in (bm.load_example().filter("visited_often").head(9), bm.load_example().clear()):
        rows.write_parquet(tmp_path / "rows.parquet")
        assert tables(write(tmp_path, str(tmp_path / "rows.parquet"), *ASK))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--html", "page.txt"], "argument --html: 'page.txt' should end in .html"),
        (["--html", "/no/where/page.html"], "argument --html: there is no directory"),
        ([], "the following arguments are required: --html"),
        (["--html", "page.html", "--label", "nope"], "argument --label: "),
        (["--html", "page.html", "--interval", "95"], "argument --interval"),
        (["--html", "s3://bucket/page.html"], "argument --html: 's3://bucket/page.html' should be"),
        (["--html", "page.html", "--rollup"], "argument --rollup: a report has"),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_wrong_input_is_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"error: {message}" in refused(capsys, "report", str(PATH), *ASK, *arguments)


def test_a_state_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["--from-state", str(tmp_path / "nope.parquet"), "--html", str(tmp_path / "page.html")]
    assert "error: argument STATE: " in refused(capsys, "report", *ask)


@pytest.mark.usefixtures("elsewhere")
def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: name != "vl_convert")
    line = refused(capsys, "report", str(PATH), *ASK, "--html", "page.html")
    assert "a report needs vl_convert: pip install 'polars-binmetrics[plot]'" in line


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [360, 1400])
def test_a_browser_shows_the_page_whole(page: str, tmp_path: Path, width: int) -> None:
    # The page's own policy lets no script run, so that of the test comes in its place.
    measured = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", MEASURE)
    (tmp_path / "measured.html").write_text(measured, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},1000"]
    dump = subprocess.run(
        [str(BROWSER), *flags, "--dump-dom", (tmp_path / "measured.html").as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    found = re.search(r'<pre id="seen">(.*?)</pre>', dump, re.DOTALL)
    assert found is not None
    seen = json.loads(found[1])
    assert len(seen["sizes"]) == 6 + 1 + 4
    for natural, height, shown in seen["sizes"]:
        assert natural > 100
        assert height > 50
        assert 100 < shown <= natural
    assert seen["overflow"] <= 0
    assert seen["rows"] == 3 + 9
    assert seen["asked"] == []
    assert seen["ground"] == "light dark"
