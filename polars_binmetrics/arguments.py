"""What the texts of a command line stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

import polars as pl

from polars_binmetrics import thresholds
from polars_binmetrics.registry import IntoMetric, named
from polars_binmetrics.thresholds import IntoThresholds

T = TypeVar("T")


def metric_of(text: str) -> IntoMetric:
    """A name, or a name with keyword parameters as in ``fbeta(beta=2)``."""
    call = _call(text)
    if call is None or call.args:
        return text
    return _made("metrics", text, named(_name(call)), call)


def cuts_of(argument: str, text: str) -> IntoThresholds:
    """Numbers, or a name with parameters as in ``uniform(101)``."""
    call = _call(text)
    if call is not None and _name(call) in thresholds.__all__:
        make: Callable[..., IntoThresholds] = getattr(thresholds, _name(call))
        return _made(argument, text, make, call)
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        allowed = ", ".join(thresholds.__all__)
        raise ValueError(
            f"`{argument}` should be numbers with commas, or one of {allowed}; got {text!r}"
        ) from None


def _call(text: str) -> ast.Call | None:
    """The text as the call of a name, if it is one."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    return call if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _made(argument: str, text: str, make: Callable[..., T], call: ast.Call) -> T:
    """What the call makes of its parameters, which are literals."""
    try:
        args = [_literal(each) for each in call.args]
        return make(*args, **{str(each.arg): _literal(each.value) for each in call.keywords})
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{argument}`: {text!r}: {error}") from None


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)} is neither a number nor a text") from None


def positive_of(text: str | None, dtype: pl.DataType | None) -> object:
    """The value that the text stands for in a label of this type."""
    if text is None or dtype is None:
        return text
    if dtype == pl.Boolean:
        return {"true": True, "false": False}.get(text.lower(), text)
    if dtype.is_numeric():
        try:
            return int(text) if dtype.is_integer() else float(text)
        except ValueError:
            return text
    return text
