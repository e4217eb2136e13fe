"""Peak memory of a sweep over Parquet files, each in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import polars_binmetrics as bm
from benchmarks.data import MODELS, SEGMENTS, stored

FILES = 20


def peak(folder: Path, *, thresholds: int, budget: int | None = None) -> tuple[float, float]:
    """Megabytes and seconds of a sweep in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", str(folder), str(thresholds)]
    limit = {} if budget is None else {"POLARS_OOC_MEMORY_BUDGET_MB": str(budget)}
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | limit
    )
    megabytes, seconds = map(float, run.stdout.split())
    return megabytes, seconds


def compare(rows: int) -> str:
    """A tenth of the rows beside all of them, and many bins within a budget."""
    with tempfile.TemporaryDirectory() as made:
        folders = {number: Path(made) / str(number) for number in (rows // 10, rows)}
        for number, folder in folders.items():
            folder.mkdir()
            stored(folder, number, files=FILES)
        tenth, whole = folders.values()
        few = peak(tenth, thresholds=101)
        runs = [
            (f"{rows // 10:,} rows", few, ""),
            (f"{rows:,} rows", peak(whole, thresholds=101), "at most 1.2, below 1,000 MB"),
            (
                f"{rows:,} rows, 1,001 thresholds, `POLARS_OOC_MEMORY_BUDGET_MB=500`",
                peak(whole, thresholds=1001, budget=500),
                "",
            ),
        ]
    lines = [
        f"| {name} | {seconds:.3g} | {megabytes:.0f} MB | {megabytes / few[0]:.3g} | {target} |"
        for name, (megabytes, seconds), target in runs
    ]
    title = (
        f"Peak memory of a sweep of {len(MODELS)} models, {SEGMENTS} segments, 101 thresholds,"
        " streaming from Parquet"
    )
    head = [f"**{title}**", "", "| | seconds | peak | ratio | target |", "|---|--:|--:|--:|--:|"]
    return "\n".join([*head, *lines])


def main() -> None:
    """Sweep the files of a folder and print the peak of this process, and the time."""
    folder, thresholds = sys.argv[1:]
    frame = pl.scan_parquet(Path(folder) / "*.parquet")
    grid = bm.uniform(int(thresholds))
    start = time.perf_counter()
    bm.of(frame).counts(MODELS, "label", thresholds=grid, by="segment").collect(engine="streaming")
    seconds = time.perf_counter() - start
    print(_peak(), seconds)


def _peak() -> float:
    """Megabytes of memory that this process held at most."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    # getrusage would count the parent, of which this process is a fork.
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
