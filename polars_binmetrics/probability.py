"""Metrics of the scores taken as probabilities."""

from __future__ import annotations

from math import inf

import polars as pl

from polars_binmetrics.columns import Rows
from polars_binmetrics.metric import row_metric

__all__ = ["brier", "log_loss"]


@row_metric(best=0)
def brier(rows: Rows) -> pl.Expr:
    """
    Brier score: mean squared distance of the probability from the outcome.

    ``mean((score - y)^2)``, y being 1 for a positive and 0 for a negative. Null without rows,
    and where a score is no probability (outside [0, 1]). One pass over the rows.

    Source: G. Brier, Verification of forecasts expressed in terms of probability, Monthly
    Weather Review 78, 1950.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.5, 1.0]})
    >>> df.select(pl.col("score").binmetrics.brier("y")).item()
    0.125
    """
    distance = rows.score - rows.positive.cast(pl.Float64)
    return _mean_loss(rows, distance * distance)


@row_metric(range=(0, inf), best=0)
def log_loss(rows: Rows) -> pl.Expr:
    """
    Mean negative logarithm of the probability that was given to the outcome.

    ``-mean(y ln(score) + (1 - y) ln(1 - score))``, in nats. A sure miss (probability 0 for what
    happened) makes it inf; nothing is clipped. Null without rows, and where a score is no
    probability (outside [0, 1]). One pass over the rows.

    Source: I. J. Good, Rational decisions, JRSS B 14, 1952.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 1], "score": [0.5, 0.5]})
    >>> round(df.select(pl.col("score").binmetrics.log_loss("y")).item(), 4)
    0.6931
    """
    gain = pl.when(rows.positive).then(rows.score.log()).otherwise((-rows.score).log1p())
    return _mean_loss(rows, -gain)


def _mean_loss(rows: Rows, loss: pl.Expr) -> pl.Expr:
    if rows.weight is not None:
        # A row of no weight has no part in the mean, even where its loss is infinite.
        loss = pl.when(rows.weight > 0).then(loss * rows.weight).otherwise(rows.score * 0)
    n = rows.total(rows.score.is_not_null()).cast(pl.Float64)
    return pl.when(rows.score.is_between(0, 1).all() & (n > 0)).then(loss.sum() / n)
