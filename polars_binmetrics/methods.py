"""Metrics as methods of expressions: where a score becomes a number."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol, cast

import polars as pl

from polars_binmetrics import counts
from polars_binmetrics.columns import IntoColumn, rows
from polars_binmetrics.face import ExprFace
from polars_binmetrics.metric import AnyMetric, CountMetric, RankMetric, RowMetric
from polars_binmetrics.thresholds import IntoThreshold, threshold_expr


class AtThreshold(Protocol):
    """Signature of a metric of the counts."""

    def __call__(
        self,
        label: IntoColumn,
        threshold: IntoThreshold = 0.5,
        *,
        positive: object = None,
        weight: IntoColumn | None = None,
        strict: bool = False,
    ) -> pl.Expr: ...


class AtThresholdWith(Protocol):
    """Signature of a metric of the counts that has parameters."""

    def __call__(
        self,
        label: IntoColumn,
        threshold: IntoThreshold = 0.5,
        *,
        positive: object = None,
        weight: IntoColumn | None = None,
        strict: bool = False,
        **parameters: float | None,
    ) -> pl.Expr: ...


class ThresholdFree(Protocol):
    """Signature of a metric that takes no threshold."""

    def __call__(
        self, label: IntoColumn, *, positive: object = None, weight: IntoColumn | None = None
    ) -> pl.Expr: ...


class ThresholdFreeWith(Protocol):
    """Signature of a metric that takes no threshold and has parameters."""

    def __call__(
        self,
        label: IntoColumn,
        *,
        positive: object = None,
        weight: IntoColumn | None = None,
        **parameters: Any,
    ) -> pl.Expr: ...


# What a type checker sees of a method that is made; at run time it is a plain function.
class AtThresholdMethod(Protocol):
    def __get__(self, instance: object, owner: type | None = None) -> AtThreshold: ...


class AtThresholdWithMethod(Protocol):
    def __get__(self, instance: object, owner: type | None = None) -> AtThresholdWith: ...


class ThresholdFreeMethod(Protocol):
    def __get__(self, instance: object, owner: type | None = None) -> ThresholdFree: ...


class ThresholdFreeWithMethod(Protocol):
    def __get__(self, instance: object, owner: type | None = None) -> ThresholdFreeWith: ...


LABEL = """
Parameters
----------
label
    The outcome: Boolean, or a number that is 0 or 1, unless `positive` is given.
"""
THRESHOLD = """\
threshold
    A number, a column name or an expression. A row is called positive when
    ``score >= threshold``; a null threshold skips its row, a NaN one makes the result null.
"""
POSITIVE_AND_WEIGHT = """\
positive
    The value of `label` that counts as positive; any other value is then negative.
weight
    Weight of each row, at least 0.
"""
STRICT = """\
strict
    Call a row positive only when ``score > threshold``.
"""
PARAMETERS = {
    "prevalence": "Share of positives to assume, 0 to 1; by default the data's own.",
    "beta": "How many times as much recall matters as precision, at least 0.",
    "fp": "Cost of a false positive, at least 0.",
    "fn": "Cost of a false negative, at least 0.",
    "fpr": "A range of FPR, least and greatest.",
    "tpr": "A range of TPR, least and greatest; either this or `fpr`.",
    "corrected": "Scale the area so that a random score has 1/2 and a perfect one 1.",
    "severity_ratio": "How much worse a false positive is; by default positives to negatives.",
    "at": "Share of the rows to call positive, above 0 and at most 1.",
    "bins": "Number of bins of equal width between 0 and 1.",
}
RESULT = """
Returns
-------
Expr
    {dtype}, one value a score column, under the name of the score. A row whose score, label or
    weight is null is skipped. A NaN score, a label that is neither 0 nor 1, or a weight that
    is negative, NaN or infinite makes the result null.

Raises
------
TypeError, ValueError
    When an argument is wrong in itself; what depends on the data raises Polars' own errors.
"""
FOUR_SUMS = """
Notes
-----
Four sums. For many metrics, models, segments or thresholds at once, `evaluate` on the frame
counts only once.
"""


def at_threshold(metric: CountMetric[[]]) -> AtThresholdMethod:
    """A metric of the counts, as a method of expressions."""
    return cast(AtThresholdMethod, _counting(metric))


def with_parameters(metric: CountMetric[...]) -> AtThresholdWithMethod:
    """A metric of the counts that has parameters, as a method of expressions."""
    return cast(AtThresholdWithMethod, _counting(metric))


def _counting(metric: CountMetric[...]) -> Callable[..., pl.Expr]:
    def method(
        self: ExprFace,
        label: IntoColumn,
        threshold: IntoThreshold = 0.5,
        *,
        positive: object = None,
        weight: IntoColumn | None = None,
        strict: bool = False,
        **parameters: Any,
    ) -> pl.Expr:
        bound = metric(**parameters)
        cleaned = rows(self.expr, label, weight=weight, positive=positive)
        cut = threshold_expr(threshold)
        value = bound.expr(counts.cells(cleaned, cut, strict=strict))
        return pl.when(counts.sound(cleaned, cut)).then(value)

    returns = RESULT.format(
        dtype="Int64, or Float64 with weights" if metric.additive else "Float64"
    )
    shared = LABEL + THRESHOLD + POSITIVE_AND_WEIGHT + STRICT + _own(metric) + returns + FOUR_SUMS
    return _dress(method, metric, shared)


def threshold_free(metric: RowMetric[[]] | RankMetric[[]]) -> ThresholdFreeMethod:
    """A metric that takes no threshold, as a method of expressions."""
    return cast(ThresholdFreeMethod, _summing(metric))


def threshold_free_with(metric: RowMetric[...] | RankMetric[...]) -> ThresholdFreeWithMethod:
    """A metric that takes no threshold and has parameters, as a method of expressions."""
    return cast(ThresholdFreeWithMethod, _summing(metric))


def _summing(metric: RowMetric[...] | RankMetric[...]) -> Callable[..., pl.Expr]:
    def method(
        self: ExprFace,
        label: IntoColumn,
        *,
        positive: object = None,
        weight: IntoColumn | None = None,
        **parameters: Any,
    ) -> pl.Expr:
        bound = metric(**parameters)
        return bound.expr(rows(self.expr, label, weight=weight, positive=positive))

    shared = LABEL + POSITIVE_AND_WEIGHT + _own(metric) + RESULT.format(dtype="Float64")
    return _dress(method, metric, shared)


def _own(metric: AnyMetric) -> str:
    return "".join(f"{name}\n    {PARAMETERS[name]}\n" for name in metric.signature().parameters)


def _dress(
    method: Callable[..., pl.Expr],
    metric: CountMetric[...] | RowMetric[...] | RankMetric[...],
    shared: str,
) -> Callable[..., pl.Expr]:
    """Give a made method the name, the signature and the documentation of its metric."""
    head, _, examples = metric.doc.partition("\nExamples\n")
    method.__name__ = metric.name
    method.__qualname__ = f"ExprNamespace.{metric.name}"
    method.__doc__ = f"{head.rstrip()}\n{shared}\nExamples\n{examples}"
    common = inspect.signature(method).parameters.values()
    fixed = [each for each in common if each.kind is not each.VAR_KEYWORD]
    own = [each.replace(kind=each.KEYWORD_ONLY) for each in metric.signature().parameters.values()]
    method.__signature__ = inspect.Signature([*fixed, *own])  # type: ignore[attr-defined]
    return method


def confusion(
    self: ExprFace,
    label: IntoColumn,
    threshold: IntoThreshold = 0.5,
    *,
    positive: object = None,
    weight: IntoColumn | None = None,
    strict: bool = False,
) -> pl.Expr:
    """
    Count true and false positives and negatives.

    Parameters
    ----------
    label
        The outcome: Boolean, or a number that is 0 or 1, unless `positive` is given.
    threshold
        A number, a column name or an expression. A row is called positive when
        ``score >= threshold``; a null threshold skips its row, a NaN one makes the result
        null.
    positive
        The value of `label` that counts as positive; any other value is then negative.
    weight
        Weight of each row, at least 0.
    strict
        Call a row positive only when ``score > threshold``.

    Returns
    -------
    Expr
        A struct ``{tp, fp, fn, tn}``, Int64 or, with weights, Float64; one a score column,
        under the name of the score. A row whose score, label or weight is null is skipped.
        A NaN score, a label that is neither 0 nor 1, or a weight that is negative, NaN or
        infinite makes the struct null.

    Raises
    ------
    TypeError, ValueError
        When an argument is wrong in itself; what depends on the data raises Polars' own
        errors.

    Notes
    -----
    Four sums.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.confusion("y")).unnest("score")
    shape: (1, 4)
    ┌─────┬─────┬─────┬─────┐
    │ tp  ┆ fp  ┆ fn  ┆ tn  │
    │ --- ┆ --- ┆ --- ┆ --- │
    │ i64 ┆ i64 ┆ i64 ┆ i64 │
    ╞═════╪═════╪═════╪═════╡
    │ 1   ┆ 1   ┆ 1   ┆ 1   │
    └─────┴─────┴─────┴─────┘
    """
    cleaned = rows(self.expr, label, weight=weight, positive=positive)
    return counts.confusion(cleaned, threshold_expr(threshold), strict=strict)
