"""
Where counts are drawn again: the bootstrap of rows, from their counts alone.

Rows drawn with replacement fall into the cells of a confusion matrix as one multinomial draw says,
however many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_binmetrics.counts import CELLS
from polars_binmetrics.intervals import Interval, checked_level

if TYPE_CHECKING:
    import numpy as np

__all__ = ["bootstrap"]

ENDS = ["low", "high"]
#: So many draws are computed at a time.
BATCH = 2**20


@dataclass(frozen=True)
class Bootstrap(Interval):
    """A level, and how rows are drawn again."""

    n: int = 2000
    seed: int = 0
    corrected: bool = True
    stratified: bool = False

    def resampled(self, value: pl.Expr) -> pl.Expr:
        """Both ends of the interval of a metric of the columns of a counts frame."""
        names = sorted({*CELLS, *value.meta.root_names()})

        def draw(rows: pl.Series) -> pl.Series:
            return self._ends(rows.struct.unnest(), value).to_struct(rows.name)

        dtype = pl.Struct(dict.fromkeys(ENDS, pl.Float64))
        return pl.struct(names).map_batches(draw, dtype, is_elementwise=True)

    def _ends(self, rows: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
        import numpy as np

        found = np.full((rows.height, 2), np.nan)
        sane = pl.all_horizontal(pl.col(CELLS) >= 0)
        known = rows.select(rows=pl.int_range(pl.len()), value=pl.when(sane).then(value))
        known = known.drop_nulls()
        for part in known.iter_slices(max(1, BATCH // self.n)):
            of_part = rows[part["rows"]]
            values = self._again(of_part, value)
            found[part["rows"].to_numpy()] = [
                self._quantiles(*each)
                for each in zip(values, part["value"], self._left_out(of_part, value), strict=True)
            ]
        return pl.DataFrame(found, schema=ENDS, orient="row").fill_nan(None)

    def _again(self, rows: pl.DataFrame, value: pl.Expr) -> np.ndarray[Any, Any]:
        """The metric of all draws: a row each, sorted, with NaN at the end where undefined."""
        import numpy as np

        drawn = [self._draw(cells) for cells in rows.select(CELLS).iter_rows()]
        table = pl.DataFrame(np.concatenate(drawn), schema=CELLS)
        rest = rows.drop(CELLS)
        repeated = rest.select(pl.all().repeat_by(self.n).explode())
        values = pl.concat([table, repeated], how="horizontal").select(value).to_series()
        return np.sort(values.to_numpy().reshape(-1, self.n))

    def _draw(self, cells: Iterable[int]) -> np.ndarray[Any, Any]:
        """Counts drawn again. The same counts and the same seed give the same draws anywhere."""
        import numpy as np

        counts = np.array(list(cells))
        random = np.random.default_rng([self.seed, *counts])
        if not self.stratified:
            return random.multinomial(counts.sum(), counts / counts.sum(), self.n)
        drawn = np.empty((self.n, len(CELLS)), dtype=np.int64)
        for side in ([0, 2], [1, 3]):
            total = max(counts[side].sum(), 1)
            drawn[:, side[0]] = random.binomial(counts[side].sum(), counts[side[0]] / total, self.n)
            drawn[:, side[1]] = counts[side].sum() - drawn[:, side[0]]
        return drawn

    def _left_out(self, rows: pl.DataFrame, value: pl.Expr) -> Iterable[float]:
        """The acceleration of each row of counts, from leaving out a row of each cell."""
        import numpy as np

        without = [
            rows.with_columns(pl.max_horizontal(pl.col(cell) - 1, 0)).select(value).to_series()
            for cell in CELLS
        ]
        values = np.stack([each.to_numpy() for each in without], axis=1)
        weights = rows.select(CELLS).to_numpy()
        weights = np.where(np.isnan(values), 0, weights)
        values = np.nan_to_num(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = (values * weights).sum(1, keepdims=True) / weights.sum(1, keepdims=True)
            away = middle - values
            return (weights * away**3).sum(1) / (6 * (weights * away**2).sum(1) ** 1.5)

    def _quantiles(
        self, values: np.ndarray[Any, Any], value: float, acceleration: float
    ) -> tuple[float, float]:
        import numpy as np

        values = values[~np.isnan(values)]
        normal = NormalDist()
        shares = [(1 - self.level) / 2, (1 + self.level) / 2]
        if self.corrected:
            below = ((values < value).mean() + (values <= value).mean()) / 2
            if not 0 < below < 1 or isnan(acceleration):
                same = bool(values.size) and values[0] == values[-1]
                return (value, value) if same else (np.nan, np.nan)
            shift = normal.inv_cdf(below)
            scores = [shift + normal.inv_cdf(share) for share in shares]
            shares = [normal.cdf(shift + z / (1 - acceleration * z)) for z in scores]
        low, high = np.quantile(values, shares)
        return float(low), float(high)


def bootstrap(
    level: float = 0.95,
    *,
    n: int = 2000,
    seed: int,
    corrected: bool = True,
    stratified: bool = False,
) -> Interval:
    """
    Bootstrap interval of any metric of the counts.

    `n` times, as many rows are drawn with replacement as there are, which is a multinomial draw
    of the counts. The interval lies between two quantiles of the metric of the draws:
    ``(1 -+ level) / 2``; or `corrected` for bias and acceleration (BCa), from the share of draws
    below the value itself and the skewness of leaving out a row.

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
        For `evaluate` and `rates`. Other metrics than those of the counts get their own interval.

    Raises
    ------
    TypeError, ValueError
        When an argument is no number or out of range.

    Notes
    -----
    `n` draws a row of the result, whatever the number of rows behind it: a Python function in the
    plan, over the table of results. Draws where the metric is undefined are left out. Null where
    the metric is, or where a correction can't be had.

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
    for name, number, least in (("n", n, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"`{name}` should be an integer, got {number!r}")
        if number < least:
            raise ValueError(f"`{name}` should be at least {least}, got {number}")
    return Bootstrap(
        checked_level(level), n=n, seed=seed, corrected=corrected, stratified=stratified
    )
