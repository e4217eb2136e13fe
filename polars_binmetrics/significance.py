"""Tests: whether a difference may be there by chance, of one pair and of many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import polars as pl

from polars_binmetrics.columns import IntoColumn, column
from polars_binmetrics.extras import require
from polars_binmetrics.tails import two_sided
from polars_binmetrics.wording import documented

__all__ = ["benjamini_hochberg", "holm", "mcnemar", "mcnemar_exact"]

RAISES = """\
Raises
------
TypeError
    When `p_value` is neither.

"""

#: z, if there is one, and the p-value, from the rows that the one model alone has right, and those
#: that the other one alone has right.
Tested: TypeAlias = tuple[pl.Expr, pl.Expr]


@dataclass(frozen=True)
class Test:
    """A test of two shares of the same rows."""

    of_discordant: Callable[[pl.Expr, pl.Expr], Tested]


def mcnemar(*, corrected: bool = False) -> Test:
    """
    McNemar's test of two shares of the same rows.

    ``z = (b - c) / sqrt(b + c)``, where b rows count for the model alone, and c for the baseline
    alone; `corrected` for continuity, ``b - c`` is nearer to 0 by 1. The square of z is that of
    the chi-square test.

    Parameters
    ----------
    corrected
        Correct for continuity.

    Returns
    -------
    Test
        For `compare`.

    Raises
    ------
    TypeError
        When `corrected` is not True or False.

    Notes
    -----
    Arithmetic on the counts. With no discordant rows z is 0 and the p-value 1.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated
    proportions or percentages, Psychometrika 12, 1947.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [1] * 9, "a": [0.9] * 8 + [0.1], "b": [0.9] * 3 + [0.1] * 6})
    >>> table = df.binmetrics.compare(
    ...     ["a", "b"], "y", baseline="b", metrics="recall", test=bm.mcnemar(corrected=True)
    ... )
    >>> table.select("difference", "z", "p_value")
    shape: (1, 3)
    ┌────────────┬──────────┬──────────┐
    │ difference ┆ z        ┆ p_value  │
    │ ---        ┆ ---      ┆ ---      │
    │ f64        ┆ f64      ┆ f64      │
    ╞════════════╪══════════╪══════════╡
    │ 0.555556   ┆ 1.788854 ┆ 0.073638 │
    └────────────┴──────────┴──────────┘
    """
    return Test(partial(_of_normal, corrected=_checked("corrected", corrected)))


def mcnemar_exact(*, mid_p: bool = False) -> Test:
    """
    McNemar's exact test of two shares of the same rows.

    Twice the probability that a fair coin, thrown ``b + c`` times, shows heads ``min(b, c)`` times
    or fewer; with `mid_p` half the probability of just so many less. At most 1.

    Parameters
    ----------
    mid_p
        Count what was seen by half: not exact, but no longer short of the nominal size.

    Returns
    -------
    Test
        For `compare`. It has no z.

    Raises
    ------
    TypeError
        When `mid_p` is not True or False.
    ModuleNotFoundError
        Without scipy: install polars-binmetrics[exact].

    Notes
    -----
    One tail of a binomial distribution a comparison, by scipy: a Python function in the plan, over
    the table of results.

    Source: M. Fagerland, S. Lydersen and P. Laake, The McNemar test for binary matched-pairs data:
    mid-p and asymptotic are better than exact conditional, BMC Medical Research Methodology 13,
    2013.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [1] * 9, "a": [0.9] * 8 + [0.1], "b": [0.9] * 3 + [0.1] * 6})
    >>> table = df.binmetrics.compare(
    ...     ["a", "b"], "y", baseline="b", metrics="recall", test=bm.mcnemar_exact()
    ... )
    >>> table.select("difference", "z", "p_value")
    shape: (1, 3)
    ┌────────────┬──────┬─────────┐
    │ difference ┆ z    ┆ p_value │
    │ ---        ┆ ---  ┆ ---     │
    │ f64        ┆ f64  ┆ f64     │
    ╞════════════╪══════╪═════════╡
    │ 0.555556   ┆ null ┆ 0.0625  │
    └────────────┴──────┴─────────┘
    """
    require("scipy", "bm.mcnemar_exact", "exact")
    return Test(partial(_of_binomial, mid_p=_checked("mid_p", mid_p)))


@documented(RAISES)
def holm(p_value: IntoColumn) -> pl.Expr:
    """
    Holm's correction of p-values: the chance of one false alarm or more in the family.

    The i-th smallest of m p-values is multiplied by ``m - i + 1``; none is below a smaller one, and
    none above 1.

    Returns
    -------
    Expr
        The corrected p-values, under their name. The family is all rows, or those of a group:
        ``bm.holm("p_value").over("metric")``.

    Notes
    -----
    A sort of the family.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal
    of Statistics 6, 1979.

    Examples
    --------
    >>> df = pl.DataFrame({"p_value": [0.01, 0.04, None, 0.03]})
    >>> df.select(bm.holm("p_value")).to_series().to_list()
    [0.03, 0.06, None, 0.06]
    """
    p = column("p_value", p_value).fill_nan(None)
    # `sort_by` of a formula would lose its place in `over` of polars 1.44.
    ordered = p.sort(nulls_last=True)
    raised = ordered * (ordered.count() - ordered.rank("min") + 1)
    return raised.cum_max().clip(upper_bound=1).gather(p.rank("ordinal") - 1)


@documented(RAISES)
def benjamini_hochberg(p_value: IntoColumn) -> pl.Expr:
    """
    Benjamini and Hochberg's correction of p-values: the share of false alarms among all alarms.

    The i-th smallest of m p-values is multiplied by ``m / i``; none is above a greater one.

    Returns
    -------
    Expr
        The corrected p-values, under their name. The family is all rows, or those of a group:
        ``bm.benjamini_hochberg("p_value").over("metric")``.

    Notes
    -----
    A sort of the family.

    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate: a practical and
    powerful approach to multiple testing, Journal of the Royal Statistical Society B 57, 1995.

    Examples
    --------
    >>> df = pl.DataFrame({"p_value": [0.01, 0.04, None, 0.03]})
    >>> df.select(bm.benjamini_hochberg("p_value")).to_series().to_list()
    [0.03, 0.04, None, 0.04]
    """
    p = column("p_value", p_value).fill_nan(None)
    ordered = p.sort(nulls_last=True)
    raised = ordered * ordered.count() / ordered.rank("max")
    return raised.cum_min(reverse=True).gather(p.rank("ordinal") - 1)


def _checked(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` should be True or False, got {value!r}")
    return value


def _of_normal(b: pl.Expr, c: pl.Expr, *, corrected: bool) -> Tested:
    difference = b - c
    if corrected:
        nearer = difference - difference.sign()
        difference = pl.when(difference.abs() > 1).then(nearer).otherwise(0.0)
    z = pl.when(b + c > 0).then(difference / (b + c).sqrt()).otherwise(0.0)
    return z, two_sided(z)


def _of_binomial(b: pl.Expr, c: pl.Expr, *, mid_p: bool) -> Tested:
    def tail(given: pl.Series) -> pl.Series:
        from scipy.special import betainc  # type: ignore[import-untyped]

        k, n = (given.struct.field(name).to_numpy() for name in ("k", "n"))
        return pl.Series(given.name, betainc(n - k, k + 1, 0.5), dtype=pl.Float64)

    def at_most(k: pl.Expr) -> pl.Expr:
        p = pl.struct(k=k, n=b + c).map_batches(tail, pl.Float64, is_elementwise=True)
        return pl.when(k < 0).then(0.0).when(b + c > 0).then(p).otherwise(1.0)

    less = pl.min_horizontal(b, c)
    p = at_most(less) + at_most(less - 1 if mid_p else less)
    return pl.lit(None, pl.Float64), p.clip(upper_bound=1)
