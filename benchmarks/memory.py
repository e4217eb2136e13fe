"""Peak memory over Parquet files, each run in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import polars as pl

import polars_binmetrics as bm
from benchmarks.data import MODELS, SEGMENTS, stored

FILES = 20


def alone(
    work: str, folder: Path | str, env: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Megabytes and seconds of some work in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.memory", work, str(folder)]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **(env or {})}
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
        few = alone("101", tenth)
        runs = [
            (f"{rows // 10:,} rows", few, ""),
            (f"{rows:,} rows", alone("101", whole), "at most 1.2, below 1,000 MB"),
            (
                f"{rows:,} rows, 1,001 thresholds, `POLARS_OOC_MEMORY_BUDGET_MB=500`",
                alone("1001", whole, {"POLARS_OOC_MEMORY_BUDGET_MB": "500"}),
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


def rank(rows: int) -> str:
    """AUC beside two that hold the rows."""
    budget = {"POLARS_OOC_MEMORY_BUDGET_MB": "1000"}
    with tempfile.TemporaryDirectory() as made:
        stored(Path(made), rows, files=FILES)
        runs = {
            "polars-binmetrics, `POLARS_OOC_MEMORY_BUDGET_MB=1000`": alone("auc", made, env=budget),
            "polarbearings, the same budget": alone("polarbearings", made, env=budget),
            "scikit-learn": alone("scikit-learn", made),
        }
    ours = runs["polars-binmetrics, `POLARS_OOC_MEMORY_BUDGET_MB=1000`"][0]
    lines = [
        f"| {name} | {seconds:.3g} | {megabytes:.0f} MB | {megabytes / ours:.3g} |"
        for name, (megabytes, seconds) in runs.items()
    ]
    head = [
        f"**Peak memory of one AUC of {rows:,} rows from Parquet**",
        "",
        "| | seconds | peak | times ours |",
        "|---|--:|--:|--:|",
    ]
    return "\n".join([*head, *lines])


def main() -> None:
    """Do the work on the files of a folder; print the peak of this process, and the time."""
    work, folder = sys.argv[1:]
    frame = pl.scan_parquet(Path(folder) / "*.parquet")
    model = MODELS[0]
    start = time.perf_counter()
    if work == "auc":
        plan = bm.of(frame).evaluate(model, "label", metrics="roc_auc", thresholds=None)
        plan.collect(engine="streaming")
    elif work == "polarbearings":
        import polarbearings

        frame.select(polarbearings.roc_auc("label", model)).collect(engine="streaming")
    elif work == "scikit-learn":
        from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

        rows = frame.select("label", model).collect()
        roc_auc_score(rows["label"].to_numpy(), rows[model].to_numpy())
    else:
        grid = bm.uniform(int(work))
        plan = bm.of(frame).counts(MODELS, "label", thresholds=grid, by="segment")
        plan.collect(engine="streaming")
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
