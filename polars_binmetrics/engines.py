"""The state of rows in another engine: one group-by there, and all that follows in Polars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import polars as pl

from polars_binmetrics import histograms
from polars_binmetrics.columns import Clean, IntoColumn, IntoColumns, clean, listed
from polars_binmetrics.extras import require
from polars_binmetrics.face import Frame, FrameFace
from polars_binmetrics.histograms import STATE, state_of
from polars_binmetrics.state import SIDES
from polars_binmetrics.sweep import from_places
from polars_binmetrics.thresholds import IntoThresholds, thresholds_of
from polars_binmetrics.wording import documented

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["histogram"]

#: The packages whose frames are taken, and the extra that each needs.
EXTRAS = {"pyspark": "spark", "duckdb": "duckdb", "ibis": "ibis"}
ELSEWHERE = "unless the frame is one of Polars"
#: Not in names: Spark takes a dot for a field, and what is quoted for something else.
PATTERNS = ".`"


@overload
def histogram(  # type: ignore[overload-overlap]
    frame: Frame,
    scores: IntoColumns,
    label: IntoColumn,
    *,
    bins: IntoThresholds,
    by: IntoColumns | None = ...,
    weight: IntoColumn | None = ...,
    positive: object = ...,
    rollup: bool = ...,
) -> Frame: ...
@overload
def histogram(
    frame: object,
    scores: str | Sequence[str],
    label: str,
    *,
    bins: IntoThresholds,
    by: str | Sequence[str] | None = ...,
    weight: str | None = ...,
    positive: object = ...,
    rollup: bool = ...,
) -> pl.DataFrame: ...
@documented(
    frame="A DataFrame or LazyFrame of Polars, a DataFrame of PySpark, a relation of DuckDB, or a"
    " table of Ibis. The last three need the extra `[spark]`, `[duckdb]` or `[ibis]`, and take"
    " columns by name.",
    bins="The thresholds between the bins. Unless the frame is one of Polars: one number below"
    " ``2**53``, or neighbouring multiples of ``2**-k`` for a k of at least 0, as those of"
    " `dyadic`.",
    raises="""\
Raises
------
ColumnNotFoundError, SchemaError, DuplicateError, TypeError, ValueError
    When the call is made, naming the argument.
ModuleNotFoundError
    When an extra is missing, which the message names.

""",
)
def histogram(
    frame: object,
    scores: IntoColumns,
    label: IntoColumn,
    *,
    bins: IntoThresholds,
    by: IntoColumns | None = None,
    weight: IntoColumn | None = None,
    positive: object = None,
    rollup: bool = False,
) -> object:
    """
    Count positives and negatives between thresholds, wherever the rows are.

    Returns
    -------
    DataFrame or LazyFrame
        What ``frame.binmetrics.histogram`` gives of the same rows, a LazyFrame for a LazyFrame
        and else a DataFrame. Counts are the same to the bit, sums of weights to rounding; keys
        are of the types that the engine has.

    Notes
    -----
    The engine runs one group-by, and nothing but its result is collected, a row a segment, model
    and bin. All that follows, as `cumulate`, `roc_auc`, `merge_histograms` and the plots, is
    Polars on this state.

    Examples
    --------
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.6, 0.4, 0.8]})
    >>> bm.histogram(df, "score", "y", bins=bm.dyadic(1))
    shape: (4, 4)
    ┌───────┬───────────┬───────────┬───────────┐
    │ model ┆ threshold ┆ positives ┆ negatives │
    │ ---   ┆ ---       ┆ ---       ┆ ---       │
    │ str   ┆ f64       ┆ i64       ┆ i64       │
    ╞═══════╪═══════════╪═══════════╪═══════════╡
    │ score ┆ null      ┆ 0         ┆ 0         │
    │ score ┆ 0.0       ┆ 1         ┆ 1         │
    │ score ┆ 0.5       ┆ 1         ┆ 1         │
    │ score ┆ 1.0       ┆ 0         ┆ 0         │
    └───────┴───────────┴───────────┴───────────┘
    """
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        face: FrameFace[Any] = FrameFace(frame)
        return histograms.histogram(
            face,
            scores,
            label,
            bins=bins,
            by=by,
            weight=weight,
            positive=positive,
            rollup=rollup,
        )
    there = _narwhal(frame)
    schema = there.collect_schema()
    thresholds = thresholds_of("bins", bins)
    if not isinstance(thresholds, list) or (grid := _grid(thresholds)) is None:
        raise ValueError(
            "`bins` should be one number below 2**53, or neighbouring multiples of a power of two,"
            f" as bm.dyadic(10), {ELSEWHERE}"
        )
    scores, by = list(listed(scores)), None if by is None else list(listed(by))
    given: dict[str, Sequence[Any]] = {"scores": scores, "label": [label], "by": by or []}
    given["weight"] = [] if weight is None else [weight]
    for argument, names in given.items():
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"`{argument}` should be names, {ELSEWHERE}")
        # What an engine reads as more than a name.
        if odd := [name for name in names if name == "*" or {*name} & {*PATTERNS}]:
            raise ValueError(f"`{argument}`: {odd[0]!r} should be renamed, {ELSEWHERE}")
    rows = clean(
        pl.LazyFrame(schema=schema.to_polars()),
        scores,
        label,
        by=by,
        weight=weight,
        positive=positive,
        taken=STATE,
    )
    counted = _counted(there, rows, str(label), schema[str(label)], weight, positive, grid)
    swept = from_places(counted, rows, thresholds, rollup=rollup)
    return state_of(rows, swept).collect()


class Grid(NamedTuple):
    """Neighbouring multiples of ``1 / scale``, a power of two: ``first / scale`` and on."""

    scale: float
    first: int
    number: int

    def place(self, score: nw.Expr) -> nw.Expr:
        """How many of them a score reaches; nothing of this rounds."""
        import narwhals as nw

        below, last = self.first - 1, self.first + self.number - 1
        # What is clipped first is floored to a number that every engine's integers hold.
        return (score * self.scale).clip(below, last).floor().cast(nw.Int64) - below


def _grid(thresholds: Sequence[float]) -> Grid | None:
    """The multiples that the thresholds are, if they are such."""
    if not all(map(math.isfinite, thresholds)):
        return None
    exact = [Fraction(threshold) for threshold in thresholds]
    scale = max(threshold.denominator for threshold in exact)
    first = int(exact[0] * scale)
    neighbours = all(threshold * scale == first + i for i, threshold in enumerate(exact))
    # Beyond, Float64 and some engines' integers do not hold all of them.
    held = scale < 2**1023 and abs(first) + len(exact) < 2**53
    return Grid(float(scale), first, len(exact)) if neighbours and held else None


def _narwhal(frame: object) -> nw.LazyFrame[Any]:
    """The frame behind the one face that all engines have."""
    package = type(frame).__module__.partition(".")[0].lstrip("_")
    if package not in EXTRAS:
        raise TypeError(
            "`frame` should be a frame of Polars, PySpark, DuckDB or Ibis, got"
            f" {type(frame).__module__}.{type(frame).__name__}"
        )
    require("narwhals", f"a frame of {package}", EXTRAS[package])
    import narwhals as nw

    return nw.from_native(frame).lazy()  # type: ignore[call-overload,no-any-return]


def _counted(
    frame: nw.LazyFrame[Any],
    rows: Clean,
    label: str,
    dtype: nw.dtypes.DType,
    weight: IntoColumn | None,
    positive: Any,
    grid: Grid,
) -> pl.LazyFrame:
    """The rows counted there by segment, model and place, as `from_places` takes them."""
    import narwhals as nw

    outcome = nw.col(label)
    if dtype == nw.Boolean:
        is_positive = outcome if positive in (None, True) else ~outcome
        sound = ~outcome.is_null()
    elif positive is None:
        is_positive = outcome == 1
        sound = is_positive | (outcome == 0)
    else:
        value = int(positive) if isinstance(positive, bool) else positive
        literal = nw.lit(value)
        if dtype == nw.Float32:
            literal = literal.cast(nw.Float32)
        is_positive = outcome == literal
        sound = ~outcome.is_null()
    absent, weighed = outcome.is_null(), nw.lit(1)
    if weight is not None:
        given = nw.col(str(weight)).cast(nw.Float64)
        usable = (given >= 0) & (given < math.inf)
        sound &= usable
        absent |= given.is_null()
        weighed = nw.when(usable).then(given).otherwise(1.0)

    # Not null for what is missing: an unpivot may leave nulls out.
    def place(name: str) -> nw.Expr:
        """As `columns.rows` has it: what is missing, then what is at fault, then the score."""
        score = nw.col(name).cast(nw.Float64)
        faulty, missing = (nw.lit(grid.number + more, nw.Int64) for more in (1, 2))
        reached = nw.when(score.is_nan()).then(faulty).otherwise(grid.place(score))
        reached = nw.when(score.is_null()).then(missing).otherwise(reached)
        reached = nw.when(sound).then(reached).otherwise(faulty)
        return nw.when(absent).then(missing).otherwise(reached)

    keys = {f"key {i}": name for i, name in enumerate(rows.keys)}
    places = {f"place {i}": name for i, name in enumerate(rows.models)}
    sides = {
        side: nw.when(where).then(weighed).otherwise(0)
        for side, where in zip(SIDES, (is_positive, ~is_positive), strict=True)
    }
    wide = frame.select(
        **{key: nw.col(name) for key, name in keys.items()},
        **{to: place(name) for to, name in places.items()},
        **sides,
    )
    counted: pl.DataFrame = (
        _unpivoted(wide, [*places], [*keys, *SIDES])
        .group_by(*keys, "model", "place")
        .agg(nw.col(SIDES).sum(), nw.len().alias("rows"))
        .collect("polars")
        .to_native()
    )
    counts = pl.Float64 if rows.weighted else pl.Int64
    return counted.lazy().select(
        *(pl.col(key).alias(f"key {name}") for key, name in keys.items()),
        pl.col("model").replace_strict(places, return_dtype=pl.String),
        pl.when(pl.col("place") < grid.number + 2).then("place").cast(pl.UInt32),
        pl.col("rows").cast(pl.Int64),
        pl.col(SIDES).cast(counts),
    )


def _unpivoted(frame: nw.LazyFrame[Any], places: list[str], index: list[str]) -> nw.LazyFrame[Any]:
    """A row a model, [*index, model, place], of one scan."""
    import narwhals as nw

    if frame.implementation.is_duckdb():
        # That of narwhals runs on DuckDB's default connection, whichever the frame is of.
        columns = ", ".join(f'"{place}"' for place in places)
        query = f"unpivot wide on {columns} into name model value place"
        stacked: nw.LazyFrame[Any] = nw.from_native(frame.to_native().query("wide", query))
        return stacked
    return frame.unpivot(places, index=index, variable_name="model", value_name="place")
