"""
Where counts are drawn again: the bootstrap of rows, from their counts alone.

Rows drawn with replacement fall into cells, of a confusion matrix or of positives and negatives
between scores, as one multinomial draw says, however many rows there are. Positives are in the
even cells, negatives in the odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_binmetrics.counts import CELLS
from polars_binmetrics.intervals import Interval, checked_level
from polars_binmetrics.state import SIDES
from polars_binmetrics.thresholds import check_count

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

__all__ = ["bootstrap"]

ENDS = ["low", "high"]
#: So many cells are held at a time.
BATCH = 2**21
#: With more cells than this there are so many rows that none of them makes a skewness.
MOST_LEFT_OUT = 2000

Values: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Bootstrap(Interval):
    """A level, and how rows are drawn again."""

    n: int = 2000
    seed: int = 0
    corrected: bool = True
    stratified: bool = False

    def of_counts(self, value: pl.Expr, cells: Sequence[str] = CELLS) -> pl.Expr:
        """Both ends of the interval of what is computed from columns of counts."""
        names = sorted({*cells, *value.meta.root_names()})

        def ends(given: pl.Series) -> pl.Series:
            rows = given.struct.unnest()
            sane = pl.all_horizontal(pl.col(cells) >= 0)
            known = rows.select(pl.when(sane).then(value).is_not_null()).to_series()
            found = [
                self._of_matrix(row, value, cells) if row_known else dict.fromkeys(ENDS)
                for row, row_known in zip(rows.iter_slices(1), known, strict=True)
            ]
            return pl.Series(given.name, found, dtype)

        dtype = pl.Struct(dict.fromkeys(ENDS, pl.Float64))
        return pl.struct(names).map_batches(ends, dtype, is_elementwise=True)

    def of_bins(self, bins: pl.Expr, names: Sequence[str], values: Values) -> pl.Expr:
        """
        Both ends of the intervals of some metrics, from lists of bins.

        `values` gives the metrics of the bins of many draws, ``[group, threshold, *SIDES]``.
        """

        def ends(lists: pl.Series) -> pl.Series:
            return pl.Series(
                lists.name, [self._of_list(each, names, values) for each in lists], dtype
            )

        dtype = pl.Struct(dict.fromkeys(names, pl.Struct(dict.fromkeys(ENDS, pl.Float64))))
        return bins.map_batches(ends, dtype, is_elementwise=True)

    def _of_matrix(
        self, row: pl.DataFrame, value: pl.Expr, cells: Sequence[str]
    ) -> dict[str, float | None]:
        import numpy as np

        counts = row.select(cells).to_numpy()[0]
        drawn = pl.DataFrame(np.concatenate(list(self._tables(counts))), schema=cells)
        others = [pl.lit(column).first() for column in row.drop(cells)]
        return self._ends(drawn.with_columns(others).select(value).to_series(), counts)

    def _of_list(
        self, bins: pl.Series, names: Sequence[str], values: Values
    ) -> dict[str, dict[str, float | None]]:
        import numpy as np

        table = bins.struct.unnest()
        if not table.select(pl.all_horizontal((pl.col(SIDES) >= 0).fill_null(False).all())).item():
            return dict.fromkeys(names, dict.fromkeys(ENDS))
        counts = table.select(SIDES).to_numpy().reshape(-1)
        parts: list[pl.DataFrame] = []
        for drawn in self._tables(counts):
            group = np.repeat(np.arange(len(drawn), dtype=np.uint32), table.height)
            threshold = pl.concat([table["threshold"]] * len(drawn))
            sides = pl.DataFrame(drawn.reshape(-1, 2), schema=SIDES)
            parts.append(values(sides.with_columns(group=pl.Series(group), threshold=threshold)))
        return {each.name: self._ends(each, counts) for each in pl.concat(parts)}

    def _tables(self, counts: Array) -> Iterator[Array]:
        """
        Cells to compute a metric of: those given, those with a row of each left out, those drawn.

        The same cells and the same seed give the same draws anywhere.
        """
        import numpy as np

        yield np.concatenate([counts[None], self._without(counts)])
        random = np.random.default_rng([self.seed, *counts])
        strata = [slice(0, None, 2), slice(1, None, 2)] if self.stratified else [slice(None)]
        shares = [counts[of] / max(counts[of].sum(), 1) for of in strata]
        most = max(1, BATCH // len(counts))
        for start in range(0, self.n, most):
            drawn = np.empty((min(most, self.n - start), len(counts)), dtype=np.int64)
            for of, share in zip(strata, shares, strict=True):
                drawn[:, of] = random.multinomial(counts[of].sum(), share, len(drawn))
            yield drawn

    def _without(self, counts: Array) -> Array:
        import numpy as np

        size = len(counts) if len(counts) <= MOST_LEFT_OUT else 0
        fewer: Array = np.maximum(counts - np.eye(size, len(counts), dtype=np.int64), 0)
        return fewer

    def _ends(self, numbers: pl.Series, counts: Array) -> dict[str, float | None]:
        """Both ends, from the metric of all that `_tables` gives."""
        import numpy as np

        value, rest = numbers[0], numbers[1:].to_numpy()
        left_out, values = np.split(rest, [len(rest) - self.n])
        values = values[~np.isnan(values)]
        unknown: dict[str, float | None] = dict.fromkeys(ENDS)
        if value is None or not values.size:
            return unknown
        normal = NormalDist()
        shares = [(1 - self.level) / 2, (1 + self.level) / 2]
        if self.corrected and values.min() < values.max():
            below = float((values < value).mean() + (values <= value).mean()) / 2
            if not 0 < below < 1:
                return unknown
            shift, skew = normal.inv_cdf(below), _skewness(left_out, counts)
            scores = [shift + normal.inv_cdf(share) for share in shares]
            shares = [normal.cdf(shift + z / (1 - skew * z)) for z in scores]
        with np.errstate(invalid="ignore"):
            found = np.quantile(values, shares)
        # Between two infinite draws nothing is interpolated.
        found = np.where(np.isnan(found), np.quantile(values, shares, method="higher"), found)
        return dict(zip(ENDS, map(float, found), strict=True))


def _skewness(left_out: Array, counts: Array) -> float:
    """The acceleration, from the metric with a row of each cell left out."""
    import numpy as np

    weights = counts[: len(left_out)] * np.isfinite(left_out)
    if not weights.any():
        return 0.0
    left_out = np.where(weights > 0, left_out, 0)
    away = (left_out * weights).sum() / weights.sum() - left_out
    spread = (weights * away**2).sum()
    return float((weights * away**3).sum() / (6 * spread**1.5)) if spread > 0 else 0.0


def bootstrap(
    level: float = 0.95,
    *,
    n: int = 2000,
    seed: int,
    corrected: bool = True,
    stratified: bool = False,
) -> Interval:
    """
    Bootstrap interval of any metric of the counts or of the ranks.

    `n` times, as many rows are drawn with replacement as there are, which is a multinomial draw
    of the counts, or of the positives and negatives that have each score. The interval lies
    between two quantiles of the metric of the draws: ``(1 -+ level) / 2``; or `corrected` for bias
    and acceleration (BCa), from the share of draws below the value itself and the skewness of
    leaving out a row.

    Parameters
    ----------
    level
        The share of such intervals that hold the true value, above 0 and below 1.
    n
        The number of draws.
    seed
        The same seed gives the same interval for the same counts, on any engine, in any order.
    corrected
        Correct for bias and acceleration; without it, the interval is of percentiles.
    stratified
        Draw from either class by itself, so that the prevalence stays.

    Returns
    -------
    Interval
        For `evaluate` and `rates`, `gaps`, `compare` (metrics of the counts) and the `roc_auc` of
        a histogram. Metrics of probabilities have none.

    Raises
    ------
    TypeError, ValueError
        When an argument is no number or out of range.

    Notes
    -----
    For metrics of the counts `n` draws a row of the result, whatever the number of rows behind it;
    for those of the ranks `n` times the number of distinct scores, which wants rounded scores
    where there are many rows. A Python function in the plan, over the counts.

    Draws where the metric is undefined are left out. No width where all draws agree, as for a rate
    of 0 or 1; null where the metric is, or where it is beyond all draws. With more than 1,000
    distinct scores the acceleration is taken as 0. A distance as `ks` grows when rows are drawn
    again; its corrected interval may lie below it. Whole rows are drawn, so weights are refused.

    Source: B. Efron, Better bootstrap confidence intervals, Journal of the American Statistical
    Association 82, 1987.

    Examples
    --------
    >>> counts = pl.DataFrame({"tp": [8], "fp": [1], "fn": [2], "tn": [9]})
    >>> counts.binmetrics.rates("f1", interval=bm.bootstrap(0.9, seed=1)).drop(
    ...     "tp", "fp", "fn", "tn"
    ... )
    shape: (1, 3)
    ┌──────────┬────────┬──────────┐
    │ f1       ┆ f1_low ┆ f1_high  │
    │ ---      ┆ ---    ┆ ---      │
    │ f64      ┆ f64    ┆ f64      │
    ╞══════════╪════════╪══════════╡
    │ 0.842105 ┆ 0.6    ┆ 0.952381 │
    └──────────┴────────┴──────────┘
    """
    check_count("n", n, least=1)
    check_count("seed", seed, least=0)
    return Bootstrap(
        checked_level(level), n=n, seed=seed, corrected=corrected, stratified=stratified
    )
