"""How things are timed: all in turn in one process, so that a slow moment meets everyone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Line(NamedTuple):
    """A line of a table: a plan, and how its time compares with another's."""

    name: str
    seconds: float
    ratio: float
    target: str


def race(runs: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each run, by turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def ratio(times: Mapping[str, list[float]], name: str, base: str) -> float:
    """Median over the turns of one run's time over another's."""
    return statistics.median(a / b for a, b in zip(times[name], times[base], strict=True))


def table(title: str, ratio_of: str, lines: list[Line]) -> str:
    """The lines as a Markdown table."""
    head = [f"**{title}**", "", f"| | seconds | {ratio_of} | target |", "|---|--:|--:|--:|"]
    body = [
        f"| {line.name} | {line.seconds:.3g} | {line.ratio:.3g} | {line.target} |" for line in lines
    ]
    return "\n".join([*head, *body])
