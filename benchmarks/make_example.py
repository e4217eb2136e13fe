"""Make the data that ships with the package: `python -m benchmarks.make_example [--check]`.

Source: the RAND Health Insurance Experiment as distributed with statsmodels
(`statsmodels.datasets.randhie`), public domain. Scores are out of fold; the years of one person,
who can only be told by their covariates, stay in one fold.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal
from sklearn.ensemble import HistGradientBoostingClassifier  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import (  # type: ignore[import-untyped]
    StratifiedGroupKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
from statsmodels.datasets import randhie  # type: ignore[import-untyped]

import polars_binmetrics as bm
from polars_binmetrics.example import PATH

MODELS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}


def make() -> pl.DataFrame:
    """Fit the models and predict every row by models that did not see its person."""
    data = randhie.load_pandas().data
    rows = pl.DataFrame({name: data[name].to_numpy() for name in data.columns})
    outcome = (rows["mdvis"] >= 4).to_numpy()
    covariates = rows.drop("mdvis").to_numpy()
    _, person = np.unique(covariates, axis=0, return_inverse=True)
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    scores = {
        name: cross_val_predict(
            model, covariates, outcome, groups=person, cv=folds, method="predict_proba"
        )[:, 1]
        for name, model in MODELS.items()
    }
    health = (
        pl.when(pl.col("hlthp") == 1)
        .then(pl.lit("poor"))
        .when(pl.col("hlthf") == 1)
        .then(pl.lit("fair"))
        .when(pl.col("hlthg") == 1)
        .then(pl.lit("good"))
        .otherwise(pl.lit("excellent"))
    )
    return rows.select(
        visited_often=pl.Series(outcome),
        health=health,
        # Rounded, so that the last bits of a library's arithmetic do not matter.
        **{name: pl.Series(score).round(4) for name, score in scores.items()},
    )


def main() -> None:
    """Write the file, or compare it with a new one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    made = make()
    if parser.parse_args().check:
        assert_frame_equal(pl.read_parquet(PATH), made, check_exact=False, abs_tol=0.001)
    else:
        made.write_parquet(PATH, compression="zstd", statistics=False)
    table = bm.of(made).evaluate(
        ["logistic", "boosting"], "visited_often", metrics=["prevalence", "roc_auc"], by="health"
    )
    print(table.select("health", "model", "n", "prevalence", "roc_auc"))


if __name__ == "__main__":
    main()
