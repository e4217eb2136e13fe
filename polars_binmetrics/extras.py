"""Packages that are not needed to import this one, and what to install for them."""

from __future__ import annotations

from importlib.util import find_spec


def require(package: str, what: str, extra: str) -> None:
    """Refuse what needs a package that is not installed."""
    if not find_spec(package):
        raise ModuleNotFoundError(
            f"{what} needs {package}: pip install 'polars-binmetrics[{extra}]'"
        )
