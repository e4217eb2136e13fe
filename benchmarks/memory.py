"""Peak memory of a sweep over Parquet files: `python -m benchmarks.memory FOLDER`, in a process."""

from __future__ import annotations

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


def peak(folder: Path) -> tuple[float, float]:
    """Megabytes and seconds of a sweep in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    megabytes, seconds = map(float, run.stdout.split())
    return megabytes, seconds


def compare(rows: int) -> str:
    """A tenth of the rows beside all of them."""
    lines = []
    first = 0.0
    with tempfile.TemporaryDirectory() as made:
        for name, number in (("tenth", rows // 10), ("all", rows)):
            folder = Path(made) / name
            folder.mkdir()
            stored(folder, number, files=FILES)
            megabytes, seconds = peak(folder)
            first = first or megabytes
            target = "" if name == "tenth" else "at most 1.2, below 1,000 MB"
            figures = f"{seconds:.3g} | {megabytes:.0f} MB | {megabytes / first:.3g}"
            lines.append(f"| {number:,} rows | {figures} | {target} |")
    title = (
        f"Peak memory of a sweep of {len(MODELS)} models, {SEGMENTS} segments, 101 thresholds,"
        " streaming from Parquet"
    )
    head = [f"**{title}**", "", "| | seconds | peak | ratio | target |", "|---|--:|--:|--:|--:|"]
    return "\n".join([*head, *lines])


def main() -> None:
    """Sweep the files of a folder and print the peak of this process, and the time."""
    frame = pl.scan_parquet(Path(sys.argv[1]) / "*.parquet")
    start = time.perf_counter()
    bm.of(frame).counts(MODELS, "label", thresholds=bm.uniform(101), by="segment").collect(
        engine="streaming"
    )
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
