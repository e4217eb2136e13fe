"""The data of the benchmarks: made here, with a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

MODELS = ["model_1", "model_2", "model_3"]
SEGMENTS = 100


def made(rows: int, *, seed: int = 0) -> pl.DataFrame:
    """Segments of one size, three models of growing skill, six keys to group by."""
    random = np.random.default_rng(seed)
    label = random.random(rows) < 0.3
    logits = {
        model: random.normal(size=rows) + skill * label for skill, model in enumerate(MODELS, 1)
    }
    scores = {model: 1 / (1 + np.exp(-logit)) for model, logit in logits.items()}
    segment = random.integers(0, SEGMENTS, rows)
    return pl.DataFrame({"segment": segment, "label": label, **scores}).with_columns(
        name=pl.format("segment {}", "segment"),
        tens=pl.col("segment") // 10,
        ones=pl.col("segment") % 10,
        many=pl.Series(random.integers(0, 1000 * SEGMENTS, rows)),
    )


def stored(folder: Path, rows: int, *, files: int) -> None:
    """Files of `rows` rows altogether."""
    for i in range(files):
        columns = ["segment", "label", *MODELS]
        made(rows // files, seed=i).select(columns).write_parquet(folder / f"{i:03}.parquet")
