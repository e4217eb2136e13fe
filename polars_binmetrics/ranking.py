"""Metrics of the order in which the scores put the rows."""

from __future__ import annotations

from math import inf

import polars as pl

from polars_binmetrics.columns import Rows
from polars_binmetrics.metric import row_metric

__all__ = ["roc_auc"]


@row_metric(best=1)
def roc_auc(rows: Rows) -> pl.Expr:
    """
    Area under the ROC curve: how often a positive scores higher than a negative.

    ``P(S+ > S-) + P(S+ = S-) / 2`` over all pairs of a positive and a negative, a pair weighing
    the product of its weights. Exact with ties. Null with one class only. One sort a group.

    Source: J. Hanley and B. McNeil, The meaning and use of the area under a receiver operating
    characteristic (ROC) curve, Radiology 143, 1982.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> df.select(pl.col("score").binmetrics.roc_auc("y")).item()
    0.875
    """
    used = rows.score.is_not_null()
    positives = rows.total(used & rows.positive).cast(pl.Float64)
    negatives = rows.total(used & ~rows.positive).cast(pl.Float64)
    if rows.weight is None:
        ranks = rows.score.rank("average").filter(rows.positive).sum()
        area = (ranks - positives * (positives + 1) / 2) / (positives * negatives)
    else:
        area = _weighted_area(rows, rows.weight)
    return pl.when((positives > 0) & (negatives > 0)).then(area)


def _weighted_area(rows: Rows, weight: pl.Expr) -> pl.Expr:
    """Mean share of the negatives' weight that a positive has below it, ties half."""
    used = rows.score.is_not_null()
    score = rows.score.filter(used)
    positive, negative = (
        ((used & of_class).cast(pl.Float64) * weight).filter(used).sort_by(score)
        for of_class in (rows.positive, ~rows.positive)
    )
    ordered = score.sort()
    first = (ordered != ordered.shift()).fill_null(True)
    last = (ordered != ordered.shift(-1)).fill_null(True)
    passed = negative.cum_sum()
    # The weight passed before and after the run of equal scores that a row is in.
    before = pl.when(first).then(passed.shift(fill_value=0)).otherwise(0).cum_max()
    after = pl.when(last).then(passed).otherwise(inf).cum_min(reverse=True)
    won = positive * ((before + after) / 2)
    # The same sum for a perfect order, so that a perfect order gives exactly 1.
    return won.sum() / (positive * passed.last()).sum()
