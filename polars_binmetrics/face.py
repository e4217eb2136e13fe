"""What a namespace holds: the frame or the expression that it was asked of."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

import polars as pl

from polars_binmetrics.columns import column
from polars_binmetrics.refusals import plainly

Frame = TypeVar("Frame", bound=pl.DataFrame | pl.LazyFrame)


class FrameFace(Generic[Frame]):
    """A frame."""

    def __init__(self, frame: Frame) -> None:
        # The frame itself, not its lazy(): the namespace lives on when the frame is extended.
        self.frame: Frame = frame


def like(frame: Frame, result: pl.LazyFrame) -> Frame:
    """The result in the kind of the frame: eager is lazy, collected."""
    if isinstance(frame, pl.DataFrame):
        with plainly():
            return cast(Frame, result.collect())
    return cast(Frame, result)


class ExprFace:
    """One or many score columns."""

    def __init__(self, expr: pl.Expr) -> None:
        self.expr = column("expr", expr)
