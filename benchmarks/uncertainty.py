"""A bootstrap from counts beside bootstraps of rows, and beside itself on more rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import polarbearings
import polars as pl
import rapidstats

import polars_binmetrics as bm
from benchmarks import contest

DRAWS = 1000
INTERVAL = bm.bootstrap(n=DRAWS, seed=1)


def rows(number: int) -> pl.LazyFrame:
    """Rows made as they are read, so that there may be more than memory holds."""
    index = pl.int_range(number, dtype=pl.UInt64)
    # Two multiplications with primes, as good as random here.
    score = (index * 2_654_435_761 % 1009) / 1009
    label = (index * 40_503 % 997) / 997 < score * 0.6
    return pl.select(score=score, label=label, eager=False)


def counted(number: int) -> pl.DataFrame:
    """The counts of these rows."""
    return bm.of(rows(number)).counts("score", "label").collect(engine="streaming")


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median time."""
    taken: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def compare(many: int, repeats: int) -> str:
    """All tables, the second on up to `many` rows."""
    number = many // 100
    frame = rows(number).with_columns(call=pl.col("score") >= 0.5).collect()
    counts = counted(number)
    label, call = frame["label"], frame["call"]
    row_bootstrap = rapidstats.Bootstrap(  # type: ignore[attr-defined]
        iterations=DRAWS, seed=1
    )
    plans: dict[str, tuple[Callable[[], object], int, str]] = {
        "polars-binmetrics, from the counts": (
            lambda: bm.of(counts).rates("f1", interval=INTERVAL),
            10 * repeats,
            "",
        ),
        "polars-binmetrics, counting the rows, too": (
            lambda: bm.of(frame).evaluate("score", "label", metrics="f1", interval=INTERVAL),
            repeats,
            "",
        ),
        "rapidstats": (lambda: row_bootstrap.confusion_matrix(label, call), 1, "at least 1,000"),
        "polarbearings, 2 draws only": (
            lambda: polarbearings.bootstrap_ci(
                frame, polarbearings.f1_score, "label", "call", n_resamples=2
            ),
            1,
            "at least 1,000",
        ),
    }
    times = {name: seconds(run, often) for name, (run, often, _) in plans.items()}
    base = times["polars-binmetrics, from the counts"]
    beside = [
        contest.Line(name, taken, taken / base, plans[name][2]) for name, taken in times.items()
    ]
    grown: list[contest.Line] = []
    for size in (many // 1000, many):
        table = counted(size)
        taken = seconds(partial(bm.of(table).rates, "f1", interval=INTERVAL), 10 * repeats)
        first = grown[0].seconds if grown else taken
        grown.append(contest.Line(f"{size:,} rows", taken, taken / first, "about 1"))
    title = f"A bootstrap of F1, {DRAWS:,} draws, {number:,} rows"
    return "\n\n".join(
        [
            contest.table(title, "times ours", beside),
            contest.table("The same from the counts of more rows", "ratio", grown),
        ]
    )
