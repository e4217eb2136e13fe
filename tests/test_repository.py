"""Rules of the repository, as small programs."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

PACKAGE = Path(__file__).parents[1] / "polars_binmetrics"
#: A file imports only files to its left.
ORDER = [
    "columns",
    "wording",
    "refusals",
    "face",
    "extras",
    "thresholds",
    "counts",
    "state",
    "dual",
    "tails",
    "intervals",
    "planning",
    "resampling",
    "bins",
    "ranking",
    "placements",
    "hull",
    "sweep",
    "metric",
    "rates",
    "areas",
    "probability",
    "registry",
    "table",
    "histograms",
    "engines",
    "evaluate",
    "contrast",
    "significance",
    "compare",
    "gaps",
    "choice",
    "curves",
    "charts",
    "drawing",
    "plots",
    "methods",
    "namespaces",
    "example",
    "files",
    "progress",
    "arguments",
    "report",
    "command",
    "__init__",
    "__main__",
]


def imports(file: Path) -> list[tuple[str, str]]:
    """Module and name of everything a file imports."""
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return found


def test_the_order_names_every_file() -> None:
    assert sorted(ORDER) == sorted(file.stem for file in PACKAGE.glob("*.py"))


@pytest.mark.parametrize("name", ORDER)
def test_a_file_imports_from_its_left_only(name: str) -> None:
    left = ORDER[: ORDER.index(name)]
    for module, imported in imports(PACKAGE / f"{name}.py"):
        package, _, inner = module.partition(".")
        if package == "polars_binmetrics":
            assert (inner or imported) in left


@pytest.mark.parametrize("name", ORDER)
def test_a_file_imports_nothing_private(name: str) -> None:
    for module, imported in imports(PACKAGE / f"{name}.py"):
        parts = [*module.split("."), imported]
        assert not [part for part in parts if part.startswith("_") and part != "__future__"]


def test_import_loads_polars_and_nothing_else() -> None:
    program = (
        "import sys, polars; before = set(sys.modules); import polars_binmetrics;"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split()) - set(sys.stdlib_module_names)
    assert loaded == {"polars_binmetrics"}


def test_import_takes_little_longer_than_that_of_polars(tmp_path: Path) -> None:
    # As it is once installed: compiled.
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def seconds(module: str) -> float:
        """What a fresh process needs, in time of the processor."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def ratio() -> float:
        return median(seconds("polars_binmetrics") / seconds("polars") for _ in range(7))

    ratio()  # Compiles.
    # Whatever else the machine does can only add.
    assert any(ratio() <= 1.3 for _ in range(5))


def test_import_works_without_docstrings() -> None:
    subprocess.run([sys.executable, "-OO", "-c", "import polars_binmetrics"], check=True)


def test_the_package_shows_no_more_than_it_offers() -> None:
    import polars_binmetrics as bm

    modules = [import_module(f"polars_binmetrics.{name}") for name in ORDER[:-2]]
    offered = {name for module in modules for name in getattr(module, "__all__", [])}
    public = {name for name in dir(bm) if not name.startswith("_")}
    assert public == {"of", "load_example", *offered}
