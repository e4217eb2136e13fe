"""The data that ships with the package."""

from __future__ import annotations

from pathlib import Path

import polars as pl

PATH = Path(__file__).with_name("example.parquet")


def load_example() -> pl.DataFrame:
    """
    Doctor visits in the RAND Health Insurance Experiment, with the scores of two models.

    Returns
    -------
    DataFrame
        20,190 person-years: `visited_often` (Boolean, four or more outpatient visits in the
        year), `health` (self-rated: excellent, good, fair, poor), and two out-of-fold predicted
        probabilities of `visited_often`, `logistic` (logistic regression) and `boosting`
        (gradient-boosted trees).

    Raises
    ------
    FileNotFoundError
        When the installation lacks its data file.

    Notes
    -----
    A read of a small Parquet file. Source: J. Newhouse, Free for All? Lessons from the RAND
    Health Insurance Experiment, 1993; public domain, as distributed with statsmodels.

    Examples
    --------
    >>> bm.load_example().columns
    ['visited_often', 'health', 'logistic', 'boosting']
    """
    return pl.read_parquet(PATH)
