"""The documentation is complete, and its examples run."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
import vl_convert

import polars_binmetrics as bm
from benchmarks import make_pictures, make_readme
from polars_binmetrics import choice
from polars_binmetrics.metric import CountMetric, Metric, RankMetric, RowMetric
from polars_binmetrics.namespaces import ExprNamespace, FrameNamespace, PlotNamespace
from polars_binmetrics.registry import METRICS

README = Path(__file__).parents[1] / "README.md"


def methods(face: type) -> Iterator[tuple[str, Any]]:
    for name in dir(face):
        if callable(value := getattr(face, name)) and not name.startswith("_"):
            yield f"{face.__name__}.{name}", value


FUNCTIONS = {
    name: getattr(bm, name)
    for name in dir(bm)
    if inspect.isfunction(getattr(bm, name)) and not name.startswith("_")
}
VERBS = {**dict(methods(FrameNamespace)), **dict(methods(PlotNamespace))}
EXPRESSIONS = dict(methods(ExprNamespace))
OTHER = {"alias": Metric.alias, "of_counts": CountMetric.of_counts}
DOCUMENTED = {**VERBS, **FUNCTIONS, **EXPRESSIONS, **METRICS, **OTHER}
WITHOUT_PARAMETERS = ["load_example", "FrameNamespace.cumulate"]
WITHOUT_COST = ["of", *choice.__all__]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_examples_of_a_docstring_run(name: str) -> None:
    doc = DOCUMENTED[name].__doc__
    with pl.Config(tbl_cols=-1, tbl_width_chars=100):
        found = doctest.DocTestParser().get_doctest(doc, {"pl": pl, "bm": bm}, name, None, None)
        assert found.examples
        assert doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("name", [*VERBS, *FUNCTIONS, *EXPRESSIONS])
def test_a_function_is_documented_in_full(name: str) -> None:
    doc = DOCUMENTED[name].__doc__
    sections = re.findall(r"^ *(\w+)\n *-+$", doc, flags=re.MULTILINE)
    expected = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
    if name in WITHOUT_PARAMETERS:
        expected.remove("Parameters")
    if name in WITHOUT_COST or isinstance(
        METRICS.get(name.removeprefix("ExprNamespace.")), RowMetric | RankMetric
    ):
        expected.remove("Notes")
    assert sections == expected


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_its_formula_range_undefined_case_and_source(name: str) -> None:
    doc = METRICS[name].__doc__
    assert doc is not None
    assert re.search(r"^``.+", doc, flags=re.MULTILINE)
    assert re.search(r"^Range \S+ to \S+?(, best \S+)?\.$", doc, flags=re.MULTILINE)
    assert "Null " in doc or "null" in doc or "Always defined." in doc
    metric = METRICS[name]
    if not (isinstance(metric, CountMetric) and metric.additive):
        assert "Source: " in doc


@pytest.mark.parametrize("name", METRICS)
def test_a_method_has_the_parameters_of_its_metric(name: str) -> None:
    signature = inspect.signature(getattr(bm.of(pl.col("s")), name))
    own = METRICS[name].signature().parameters
    assert [p for p in signature.parameters if p in own] == list(own)
    for parameter in signature.parameters:
        assert re.search(rf"^{parameter}$", EXPRESSIONS[f"ExprNamespace.{name}"].__doc__, re.M)


def blocks() -> list[tuple[str, str]]:
    """Language and content of the code blocks of the README."""
    return re.findall(
        r"^```(\w+)\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def test_the_python_of_the_readme_runs_and_prints_what_it_says() -> None:
    sessions = [content for language, content in blocks() if language == "pycon"]
    assert sessions
    session = "\n".join(sessions)
    found = doctest.DocTestParser().get_doctest(session, {}, "README", None, None)
    with pl.Config() as config:
        config.restore_defaults()
        config.set_tbl_width_chars(100)
        assert doctest.DocTestRunner().run(found).failed == 0


def test_the_commands_of_the_readme_run_and_print_what_they_say(tmp_path: Path) -> None:
    bm.load_example().write_parquet(tmp_path / "visits.parquet")
    consoles = "".join(content for language, content in blocks() if language == "console")
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:[^$].*\n)*)", consoles, re.MULTILINE)
    assert len(commands) == consoles.count("\n$ ") + 1
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command, output in commands:
        run = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env=environment,
        )
        assert run.stdout == output
    assert {each.name for each in tmp_path.iterdir()} == {
        "visits.parquet",
        "state",
        "november.html",
        "november.parquet",
    }


def test_what_the_readme_says_of_the_code_is_made_from_it() -> None:
    text = README.read_text(encoding="utf-8")
    assert make_readme.filled(text) == text


def test_the_pictures_of_the_readme_are_those_of_the_code() -> None:
    made = make_pictures.pictures()
    shown = re.findall(r"^!\[.+\]\((.+)\)$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == [f"benchmarks/pictures/{name}.svg" for name in made]
    for name, chart in made.items():
        # The words alone: where they stand is up to the version of what draws them.
        stored, drawn = (
            [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]
            for svg in (
                (make_pictures.PICTURES / f"{name}.svg").read_text(encoding="utf-8"),
                vl_convert.vegalite_to_svg(chart.to_dict()),
            )
        )
        assert sorted(stored) == sorted(drawn)


def test_the_set_up_of_the_readme_is_what_is_promised() -> None:
    (setup,) = [content for language, content in blocks() if language == "sh"]
    assert setup.splitlines() == [
        "pip install . && python -m polars_binmetrics demo",
        'pip install -e ".[test]" && pytest',
    ]
