"""
Where rows are placed among those of the other class, for the variance of areas (DeLong).

A positive loses to the negatives that score higher, a negative to the positives that score lower,
by half to those that tie. An area is 1 less the mean share of losses, so what two areas of the same
rows have in common is the covariance of their losses.
"""

from __future__ import annotations

import polars as pl

from polars_binmetrics.ranking import GROUP, Steps

#: Of sums beyond 2^53, the last digits differ from run to run.
ROUNDING = 1e-10
#: What the sizes of the groups of either ranking begin with.
PREFIX = {"left": "n", "right": "other"}


def variance(s: Steps, loss: float = 1) -> pl.Expr:
    """DeLong's variance of 1 less `loss` times the share of losses."""
    above = (s.fp - s.negatives / 2) / s.n_negative
    below = (s.n_positive - s.tp + s.positives / 2) / s.n_positive

    def of_mean(rows: pl.Expr, losses: pl.Expr) -> pl.Expr:
        n, total = rows.sum(), s.each(rows * losses).sum()
        squares = s.each(rows * losses * losses).sum()
        centred = _unless_rounding(squares - total * total / n, squares)
        return pl.when(n > 1).then(centred / (n - 1) / n)

    return (of_mean(s.positives, above) + of_mean(s.negatives, below)) * loss**2


def covariances(keys: pl.LazyFrame, groups: pl.LazyFrame, others: pl.LazyFrame) -> pl.LazyFrame:
    """
    The losses in two rankings of the same rows.

    ``[group, loss, other_loss, variance, other_variance, covariance]``: the shares of lost pairs,
    and how much they vary. What is of the right ranking alone is so only where its groups are
    those of the left one.

    `keys` has the numbers of each row in both rankings, `left` and `right`, as `ranking` packs
    them. The groups of the right one are ``[group, n_positive, n_negative]``, sorted; those of the
    left one have ``other_positive`` and ``other_negative`` as well, the sizes of the group of the
    right one that their rows are in.
    """
    # Sorted twice with the other number beside: a join of the rows takes three times as long.
    placed = _placed(_placed(keys, "right", others), "left", groups)
    products = {
        f"{one} {other}": pl.col(one) * pl.col(other)
        for one, other in (("left", "left"), ("right", "right"), ("left", "right"))
    }
    rows = pl.col("positive").is_not_null().cast(pl.Int64).sum().cast(pl.Float64)
    sums = (
        placed.with_columns(**products)
        .group_by("group", "positive")
        .agg(pl.col("left", "right", *products).sum(), rows=rows)
        .join(groups, on="group", how="left")
    )

    def size(ranking: str, *, same: bool) -> pl.Expr:
        """The rows of the same class, or of the other one, in a group of a ranking."""
        positives, negatives = (
            pl.col(f"{PREFIX[ranking]}_{side}").cast(pl.Float64)
            for side in ("positive", "negative")
        )
        return pl.when(pl.col("positive") == same).then(positives).otherwise(negatives)

    def share(ranking: str) -> pl.Expr:
        won_by = pl.when("positive").then(pl.col(ranking) / size(ranking, same=False))
        return (won_by / size(ranking, same=True)).sum()

    def covariance(one: str, other: str) -> pl.Expr:
        centred = pl.col(f"{one} {other}") - pl.col(one) * pl.col(other) / pl.col("rows")
        squares = pl.col(f"{one} {one}") * pl.col(f"{other} {other}")
        centred = _unless_rounding(centred, squares.sqrt())
        pairs = size(one, same=False) * size(other, same=False)
        return (centred / (pl.col("rows") - 1) / size(other, same=True) / pairs).sum()

    both_classes = pl.when(pl.len() == 2)
    return sums.group_by("group").agg(
        loss=both_classes.then(share("left")),
        other_loss=both_classes.then(share("right")),
        variance=both_classes.then(covariance("left", "left")),
        other_variance=both_classes.then(covariance("right", "right")),
        covariance=both_classes.then(covariance("left", "right")),
    )


def _unless_rounding(centred: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """A sum of centred squares; 0 where no more is left of the squares than rounding leaves."""
    return pl.when(centred.abs() <= squares * ROUNDING).then(0.0).otherwise(centred)


def _placed(keys: pl.LazyFrame, ranking: str, groups: pl.LazyFrame) -> pl.LazyFrame:
    """The numbers of a ranking replaced by losses, with the groups and classes of the rows."""
    key, positive = pl.col(ranking), pl.col("positive")
    ends = groups.select(
        "group",
        positives_before=pl.col("n_positive").cum_sum() - pl.col("n_positive"),
        negatives_through=pl.col("n_negative").cum_sum(),
    )
    # Of the rows that tie, the negatives stand before the positives.
    ties_begin = ((key ^ key.shift(1)) > 1).fill_null(True)
    ties_end = ((key ^ key.shift(-1)) > 1).fill_null(True)
    return (
        keys.sort(ranking)
        .with_row_index("row")
        .with_columns(
            positive=key & pl.lit(1, pl.Int128) == 1, group=(key // GROUP).cast(pl.UInt32)
        )
        .with_columns(positives=positive.cast(pl.Int64).cum_sum())
        .with_columns(negatives=pl.col("row").cast(pl.Int64) + 1 - pl.col("positives"))
        .with_columns(
            negatives_before=pl.when(ties_begin)
            .then(pl.col("negatives") - (~positive).cast(pl.Int64))
            .forward_fill(),
            positives_through=pl.when(ties_end).then("positives").backward_fill(),
        )
        .join(ends, on="group", how="left", maintain_order="left")
        .with_columns(
            pl.when(positive)
            .then(
                pl.col("negatives_through") - (pl.col("negatives_before") + pl.col("negatives")) / 2
            )
            .otherwise(
                (pl.col("positives") + pl.col("positives_through")) / 2 - pl.col("positives_before")
            )
            .alias(ranking)
        )
        .select("group", "positive", "left", "right")
    )
