"""
Where rows enter: names and expressions become clean scores, labels, weights and keys.

After this file a score is Float64 and says all there is to say about its row: null where
the row is missing (a null score, label or weight) and NaN where the row is at fault (a NaN
score, a label that is neither 0 nor 1, a weight that is negative, NaN or infinite). Such a row is
negative if it has no label, and weighs 1 if it has no weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import polars as pl
import polars.selectors as cs
from polars.exceptions import ColumnNotFoundError, DuplicateError, SchemaError

IntoColumn: TypeAlias = str | pl.Expr
IntoColumns: TypeAlias = IntoColumn | Iterable[IntoColumn]
Schema: TypeAlias = Mapping[str, pl.DataType]


class Rows(NamedTuple):
    """The clean rows of one model, as expressions."""

    score: pl.Expr
    positive: pl.Expr
    weight: pl.Expr | None

    def total(self, where: pl.Expr) -> pl.Expr:
        """Rows, or their weight, for which `where` holds; null is not counted."""
        if self.weight is None:
            return where.cast(pl.Int64).sum()
        return (where.cast(pl.Float64) * self.weight).sum()

    def faulty(self) -> pl.Expr:
        """Whether any row is at fault."""
        return self.score.is_nan().any()


class Clean(NamedTuple):
    """
    A frame of clean rows: a column a key and a model, `positive` and `weight`.

    `keys` and `models` map the user's names to those of the columns.
    """

    frame: pl.LazyFrame
    keys: dict[str, str]
    models: dict[str, str]
    weighted: bool

    def of(self, model: str) -> Rows:
        """The rows of one model."""
        weight = pl.col("weight") if self.weighted else None
        return Rows(pl.col(self.models[model]), pl.col("positive"), weight)

    def reduce(
        self, aggregations: Mapping[str, pl.Expr], blocks: Sequence[Mapping[str, pl.Expr]]
    ) -> pl.LazyFrame:
        """Aggregate per key, then give every block, made of the aggregations, a row."""
        internal = list(self.keys.values())
        if internal:
            reduced = self.frame.group_by(internal).agg(**aggregations)
        else:  # One row even of an empty frame; polars 1.44 may give as many as there are rows.
            reduced = self.frame.select(**aggregations).head(1)
        structs = [pl.struct(expr.alias(name) for name, expr in block.items()) for block in blocks]
        return (
            reduced.select(*internal, pl.concat_list(structs).alias("block"))
            .explode("block", empty_as_null=False)
            .unnest("block")
        )

    def named(self, result: pl.LazyFrame) -> pl.LazyFrame:
        """The result with the keys under the names that the user gave them."""
        return result.rename({ours: name for name, ours in self.keys.items()})


def rows(
    score: pl.Expr,
    label: IntoColumn,
    *,
    weight: IntoColumn | None,
    positive: object,
) -> Rows:
    """Clean the rows of one model, or of each model that `score` expands to."""
    label = column("label", label)
    score = score.cast(pl.Float64)
    if positive is None:
        is_positive = label == 1
        sound = is_positive | (label == 0)
    else:
        is_positive = label == pl.lit(positive)
        sound = pl.lit(True)
    present = label.is_not_null()
    if weight is not None:
        given = column("weight", weight).cast(pl.Float64)
        usable = given.is_between(0, float("inf"), closed="left")
        sound &= usable
        present &= given.is_not_null()
        weight = pl.when(usable).then(given).otherwise(1.0)
    # The score comes first in this expression because it gives the result its name.
    score = pl.when(present & sound).then(score).when(present).then(float("nan"))
    return Rows(score, is_positive.fill_null(False), weight)


def clean(
    frame: pl.LazyFrame,
    scores: IntoColumns,
    label: IntoColumn,
    *,
    by: IntoColumns | None,
    weight: IntoColumn | None,
    positive: object,
    taken: Iterable[str],
) -> Clean:
    """Select what a frame verb needs under names that no user column can have."""
    # The source is asked for its schema once; what follows asks an empty frame like it.
    header = pl.LazyFrame(schema=frame.collect_schema())
    score_exprs, models = _resolve(header, "scores", listed(scores))
    labels = _resolve_one(header, "label", label)
    weights: Schema = {} if weight is None else _resolve_one(header, "weight", weight)
    key_exprs, keys = _resolve(header, "by", [] if by is None else listed(by))
    if not models:
        raise ValueError("`scores` should name at least one column")
    _check_numeric("scores", models)
    _check_numeric("weight", weights)
    for name, dtype in labels.items():
        _check_label(name, dtype, positive)
    for name in (*taken, "level"):  # That of totals is the same in every table.
        if name in keys:
            raise DuplicateError(
                f"`by`: the output has a column {name!r} of its own; rename the key,"
                f" as in pl.col({name!r}).alias({name + '_key'!r})"
            )
    cleaned = [rows(score, label, weight=weight, positive=positive) for score in score_exprs]
    _, is_positive, clean_weight = cleaned[0]
    selected = [key.name.prefix("key ") for key in key_exprs]
    selected += [each.score.name.prefix("score ") for each in cleaned]
    selected.append(is_positive.alias("positive"))
    if clean_weight is not None:
        selected.append(clean_weight.alias("weight"))
    return Clean(
        # What reads the rows more than once reads the source once, on both engines.
        frame=frame.select(selected).cache(),
        keys={key: f"key {key}" for key in keys},
        models={model: f"score {model}" for model in models},
        weighted=weight is not None,
    )


def column(argument: str, value: IntoColumn) -> pl.Expr:
    """A name or an expression, as an expression."""
    if isinstance(value, str):
        return pl.col(value)
    if isinstance(value, cs.Selector):
        return value.as_expr()  # A selector's operators are those of sets.
    if isinstance(value, pl.Expr):
        return value
    raise TypeError(
        f"`{argument}` should be a column name or an expression, got {type(value).__name__}"
    )


def _resolve(
    header: pl.LazyFrame, argument: str, values: Iterable[IntoColumn]
) -> tuple[list[pl.Expr], Schema]:
    """The expressions of an argument, and the schema they select."""
    exprs = [column(argument, value) for value in values]
    if not exprs:
        return exprs, {}
    try:
        return exprs, dict(header.select(exprs).collect_schema())
    except (ColumnNotFoundError, DuplicateError) as error:
        reason, _, _ = str(error).partition("\n")
        raise type(error)(f"`{argument}`: {reason}") from None


def _resolve_one(header: pl.LazyFrame, argument: str, value: IntoColumn) -> Schema:
    _, schema = _resolve(header, argument, [value])
    if len(schema) != 1:
        raise ValueError(f"`{argument}` should be one column, got {len(schema)}")
    return schema


def listed(values: IntoColumns) -> Iterable[IntoColumn]:
    if isinstance(values, str | pl.Expr) or not isinstance(values, Iterable):
        return [values]
    return values


def _check_numeric(argument: str, schema: Schema) -> None:
    for name, dtype in schema.items():
        if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
            raise SchemaError(f"`{argument}`: column {name!r} should be numeric, is {dtype}")


def _check_label(name: str, dtype: pl.DataType, positive: object) -> None:
    if positive is None:
        if _kind(dtype) != "number" and dtype != pl.Null:
            raise SchemaError(
                f"`label`: column {name!r} is {dtype}; unless `positive` says which value is"
                " positive, a label is Boolean or a number that is 0 or 1"
            )
        return
    try:
        fits = _kind(dtype) == _kind(pl.Series([positive]).dtype)
    except OverflowError:  # A number that no column holds.
        fits = False
    if isinstance(dtype, pl.Enum):
        fits = positive in dtype.categories.to_list()
    elif dtype == pl.Boolean:
        fits = fits and positive in (False, True)
    if not fits and dtype != pl.Null:
        raise SchemaError(f"`positive`: {positive!r} is no value of the label {name!r}, {dtype}")


def _kind(dtype: pl.DataType) -> object:
    """What a type can be compared with."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return "text"
    return dtype.base_type()
