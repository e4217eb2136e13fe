"""Fill what the README says of the code: `python -m benchmarks.make_readme`."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path

from polars_binmetrics.metric import AnyMetric
from polars_binmetrics.registry import METRICS, meaning_of

README = Path(__file__).parents[1] / "README.md"
RESULTS = Path(__file__).with_name("results.md")


def metrics() -> str:
    """A row a metric: its names, meaning, formula and range, as its docstring has them."""
    synonyms: dict[str, list[str]] = {}
    for name, metric in METRICS.items():
        of = re.search(r"^Synonym of `(\w+)`", cleandoc(metric.__doc__ or ""), re.MULTILINE)
        if of:
            synonyms.setdefault(of[1], []).append(name)
        else:
            synonyms.setdefault(name, [])
    rows = [_row(METRICS[name], name, others) for name, others in synonyms.items()]
    head = "| metric | synonyms | meaning | formula | range | best |\n|---|---|---|---|---|---|\n"
    return head + "".join(rows)


def _row(metric: AnyMetric, name: str, synonyms: list[str]) -> str:
    doc = cleandoc(metric.__doc__ or "")
    formula = re.search(r"^``(.+?)``", doc, re.MULTILINE | re.DOTALL)
    ends = re.search(r"^Range (\S+ to \S+?)(?:, best (\S+))?\.$", doc, re.MULTILINE)
    assert formula is not None, name
    assert ends is not None, name
    cells = [
        f"`{name}`",
        ", ".join(f"`{other}`" for other in synonyms),
        meaning_of(metric),
        "`" + " ".join(formula[1].split()).replace("|", "\\|") + "`",
        ends[1],
        ends[2] or "",
    ]
    return f"| {' | '.join(cells)} |\n"


def results() -> str:
    """The tables of the last benchmark."""
    return RESULTS.read_text(encoding="utf-8")


#: What stands between the marks of each name.
PARTS: dict[str, Callable[[], str]] = {"metrics": metrics, "results": results}


def filled(text: str) -> str:
    """The text with its parts as they should be."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{part().strip()}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
