"""
Plans as Polars' remote engine takes them.

It distributes group-bys, equi-joins, filters, explodes, unions, scans and elementwise expressions,
and finishes the rest on one machine: https://github.com/pola-rs/polars/issues/21487. That plans
serialise and hold no Python is in `test_plans.py`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

from tests.test_plans import FRAME, VERBS, verbs

pytestmark = pytest.mark.skipif(
    int(pl.__version__[0]) < 2, reason="the form of stored plans is that of the newest polars"
)
#: What works on tables: no rolling or dynamic group-by, nothing of a plug-in or of Python.
TABLES = {
    *("DataFrameScan", "Select", "HStack", "Filter", "GroupBy", "Join", "Union", "Distinct"),
    *("Sort", "Slice", "Cache", "MapFunction"),
}
MAPS = {"Unpivot", "Explode", "Unnest", "Rename", "RowIndex", "Hint"}
OTHERS = {
    "Scan",
    "PythonScan",
    "Pivot",
    "HConcat",
    "ExtContext",
    "MergeSorted",
    "Sink",
    "IRFunction",
}
#: What is done to the rows before they are reduced, a row at a time.
BY_ROW = {"Select", "HStack", "Cache", "Unpivot"}


def stored(plan: pl.LazyFrame) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The form may change with any version.
        return json.loads(plan.serialize(format="json"))


def nodes(plan: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(plan, dict):
        for name, inner in plan.items():
            yield name, inner
            yield from nodes(inner)
    elif isinstance(plan, list):
        for inner in plan:
            yield from nodes(inner)


def ways(plan: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Every table that is read, with what is done to it, from the last to the first."""
    if isinstance(plan, dict):
        for name, inner in plan.items():
            if name == "DataFrameScan":
                yield inner["df"], way
            of = next(iter(inner["function"])) if name == "MapFunction" else name
            yield from ways(inner, (*way, of) if name in TABLES else way)
    elif isinstance(plan, list):
        for inner in plan:
            yield from ways(inner, way)


@pytest.mark.parametrize("verb", VERBS)
def test_plans_hold_nothing_but_plain_operations_on_tables(verb: str) -> None:
    found = list(nodes(stored(verbs(FRAME.lazy())[verb])))
    names = {name for name, _ in found}
    assert not names & OTHERS
    for name, inner in found:
        if name == "MapFunction":
            assert {*inner["function"]} <= MAPS
        elif name == "GroupBy":
            assert inner["options"] | {"slice": None} == dict.fromkeys(
                ("dynamic", "rolling", "slice")
            )
            assert inner["apply"] is None
        elif name == "Join":
            assert inner["options"]["args"]["how"] in ("Left", "Inner", "Cross")


@pytest.mark.parametrize(
    "verb", ["counts", "strict counts", "weighted counts", "histogram", "rates", "rolled-up counts"]
)
def test_rows_are_reduced_by_a_group_by_before_anything_is_sorted_or_joined(verb: str) -> None:
    plan = stored(verbs(FRAME.lazy())[verb])
    ((rows, _),) = ways(stored(FRAME.lazy()))
    found = [way for table, way in ways(plan) if table == rows]
    assert found
    for way in found:
        after_reading = way[::-1]
        before_group_by = after_reading[: after_reading.index("GroupBy")]
        assert {*before_group_by} <= BY_ROW
