"""Time the package beside others, in one run, after all agree: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path

import polars as pl

from benchmarks import comparison, evaluation, memory, ranking, sweep, uncertainty
from benchmarks.data import made

RIVALS = ["duckdb", "polarbearings", "polars-ds", "rapidstats", "scikit-learn"]


def main() -> None:
    """Print the tables, and write them where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--stored-rows", type=int, default=100_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, in under a minute")
    parser.add_argument("--output", type=Path, help="write the tables to this file")
    given = parser.parse_args()
    if given.quick:
        given.rows, given.stored_rows, given.repeats = 20_000, 1_000_000, 1
    rows = made(given.rows)
    tables = [
        sweep.beside_others(rows, given.repeats),
        sweep.beside_itself(rows, given.repeats),
        memory.compare(given.stored_rows),
        evaluation.compare(rows, given.repeats),
        ranking.compare(rows, given.repeats),
        memory.rank(given.stored_rows // 2),
        comparison.compare(rows, given.repeats),
        uncertainty.compare(given.stored_rows, given.repeats),
        f"{given.rows:,} rows; medians of {given.repeats} turns, all in one process by turns;"
        f" {pl.thread_pool_size()} cores, Python {platform.python_version()}, polars"
        f" {pl.__version__}, " + ", ".join(f"{name} {version(name)}" for name in RIVALS) + ".",
    ]
    text = "\n\n".join(tables)
    print(text)
    if given.output:
        given.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
