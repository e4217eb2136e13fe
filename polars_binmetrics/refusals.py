"""Where a plan is stopped by what it finds in the rows."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import polars as pl
import polars.selectors as cs
from polars.exceptions import InvalidOperationError

#: Before the reason for which a plan is stopped.
NO_RESULT = "no result: "


def stopped(when: pl.Expr, why: str, dtype: pl.DataType | type[pl.DataType]) -> pl.Expr:
    """Null, unless the plan is to stop: only a cast that can't be done does so."""
    return pl.when(when).then(pl.lit(f"{NO_RESULT}{why}")).cast(dtype)


@contextmanager
def plainly() -> Generator[None]:
    """Tell why a plan was stopped without how."""
    try:
        yield
    except InvalidOperationError as error:
        why = re.search(rf'\["{NO_RESULT}(.*)"\]', str(error))
        if why is None:
            raise
        raise InvalidOperationError(why[1]) from None


def in_order(
    frame: pl.LazyFrame,
    groups: Iterable[str],
    along: str,
    *falling: pl.Expr,
    why: str,
    held: str,
) -> pl.LazyFrame:
    """
    The rows sorted by group and along a number, of which a group has each finite one once.

    Else the plan is stopped where the column `held` is asked for.
    """
    # Names, not patterns of names.
    keys = [cs.by_name(name).as_expr() for name in groups]
    place, column = pl.col(along), pl.col(held)
    down = [False] * (len(keys) + 1) + [True] * len(falling)
    ordered = frame.sort(*keys, place, *falling, descending=down)
    same = [each.eq_missing(each.shift(1)) for each in (*keys, place)]
    again = pl.all_horizontal(*same, ~place.is_infinite().fill_null(False)).any()
    refusal = stopped(again, why, frame.collect_schema()[held])
    return ordered.with_columns(pl.coalesce(refusal, column).alias(held))
