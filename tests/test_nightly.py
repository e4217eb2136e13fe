"""Nightly states from a shell: stored whole, merged over any window, evaluated without the rows."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from polars_binmetrics import command, files
from polars_binmetrics.command import main
from polars_binmetrics.progress import Progress
from tests.test_command import refused, run

ROWS = bm.load_example()
ASK = ["--label", "visited_often", "--score", "logistic", "--score", "boosting", "--by", "health"]
BINS = ["--bins", "dyadic(6)"]
DAYS = {"day=2026-11-18": (0, 7_000), "day=2026-11-19": (7_000, 13_000), "day=2026-11-20": (0, 0)}


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    """A folder with the rows of three days, the last one empty, and an empty folder for states."""
    for day, (start, end) in DAYS.items():
        ROWS[start:end].write_parquet(tmp_path / f"{day}.parquet")
    (tmp_path / "state").mkdir()
    return tmp_path


def store(folder: Path, day: str, *more: str) -> Path:
    """The state of a day, written by the command."""
    output = folder / "state" / f"{day}.parquet"
    main(["histogram", str(folder / f"{day}.parquet"), *ASK, *BINS, *more, "--output", str(output)])
    return output


def all_rows() -> pl.DataFrame:
    return ROWS[:13_000]


def counted(rows: pl.DataFrame, **ask: Any) -> pl.DataFrame:
    return rows.binmetrics.histogram(
        ["logistic", "boosting"], "visited_often", bins=bm.dyadic(6), by="health", **ask
    )


def test_a_state_is_that_of_the_verb(nights: Path) -> None:
    state = pl.read_parquet(store(nights, "day=2026-11-18", "--rollup"))
    assert_frame_equal(state, counted(ROWS[:7_000], rollup=True))


@pytest.mark.parametrize("window", [["*.parquet"], [""], [f"{day}.parquet" for day in DAYS]])
def test_any_window_of_days_merges_to_the_state_of_its_rows(
    nights: Path, window: list[str]
) -> None:
    for day in DAYS:
        store(nights, day)
    names = [str(nights / "state" / each) for each in window]
    main(["merge", *names, "--output", str(nights / "month.parquet")])
    assert_frame_equal(pl.read_parquet(nights / "month.parquet"), counted(all_rows()))


def test_metrics_of_merged_states_are_those_of_the_rows(nights: Path) -> None:
    states = [str(store(nights, day)) for day in DAYS]
    metrics = ["recall", "mcc", "roc_auc"]
    options = [word for name in metrics for word in ("--metric", name)]
    output = str(nights / "report.parquet")
    asked = [*options, "--threshold", "0.25,0.5", "--interval", "0.9", "--output", output]
    main(["evaluate", "--from-state", *states, *asked])
    report = pl.read_parquet(output)
    rows = all_rows().binmetrics.evaluate(
        ["logistic", "boosting"],
        "visited_often",
        metrics=metrics,
        by="health",
        thresholds=[0.25, 0.5],
        interval=0.9,
    )
    exact = [name for name in rows.columns if "auc" not in name and name != "n_missing"]
    assert_frame_equal(report.select(exact), rows.select(exact), rel_tol=1e-12)
    low, high = report["roc_auc_lower"], report["roc_auc_upper"]
    assert ((low <= rows["roc_auc"]) & (rows["roc_auc"] <= high)).all()
    assert {"roc_auc_low", "roc_auc_high"} <= {*report.columns}


def test_a_state_is_evaluated_at_all_of_its_thresholds(nights: Path) -> None:
    state, output = store(nights, "day=2026-11-18"), nights / "report.parquet"
    asked = ["--threshold", "every_score()", "--metric", "tpr", "--output", str(output)]
    main(["evaluate", "--from-state", str(state), *asked])
    expected = counted(ROWS[:7_000]).binmetrics.cumulate().binmetrics.rates("tpr")
    assert_frame_equal(pl.read_parquet(output).select(expected.columns), expected)


@pytest.mark.parametrize("suffix", files.STATES)
def test_states_of_every_kind_are_written_and_read(nights: Path, suffix: str) -> None:
    state = str(nights / f"state{suffix}")
    day = str(nights / "day=2026-11-18.parquet")
    main(["histogram", day, *ASK, *BINS, "--output", state])
    main(["merge", state, "--output", str(nights / "sum.parquet")])
    assert_frame_equal(pl.read_parquet(nights / "sum.parquet"), counted(ROWS[:7_000]))


def test_what_the_writer_leaves_undone_is_not_seen(
    nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = store(nights, "day=2026-11-18")
    before = state.read_bytes()

    def interrupted(table: pl.DataFrame, file: Any) -> None:
        file.write(b"PAR1")
        raise KeyboardInterrupt

    monkeypatch.setitem(files.STATES, ".parquet", interrupted)
    with pytest.raises(SystemExit) as stopped:
        store(nights, "day=2026-11-18", "--rollup")
    assert stopped.value.code == 130
    assert state.read_bytes() == before
    assert [each.name for each in state.parent.iterdir()] == [state.name]


#: A run that dies as it writes, after half of the file.
KILLED = """
import os, signal, sys
from polars_binmetrics import command, files

def half(table, file):
    write(table, path := file.name + ".whole")
    content = open(path, "rb").read()
    os.remove(path)
    file.write(content[: len(content) // 2])
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

write = files.STATES[".parquet"]
files.STATES[".parquet"] = half
command.main(sys.argv[1:])
"""


def test_a_run_killed_as_it_writes_leaves_the_old_file(nights: Path) -> None:
    state = store(nights, "day=2026-11-18")
    rows = str(nights / "day=2026-11-19.parquet")
    arguments = ["histogram", rows, *ASK, *BINS, "--output", str(state)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len([*state.parent.iterdir()]) == 2
    # A whole folder of states is read, whatever else was left in it.
    main(["merge", str(state.parent), "--output", str(nights / "sum.parquet")])
    assert_frame_equal(pl.read_parquet(nights / "sum.parquet"), counted(ROWS[:7_000]))


def test_a_link_goes_on_to_be_one(nights: Path) -> None:
    (nights / "elsewhere").mkdir()
    link = nights / "state" / "day=2026-11-18.parquet"
    link.symlink_to(nights / "elsewhere" / "kept.parquet")
    store(nights, "day=2026-11-18")
    assert link.is_symlink()
    assert_frame_equal(pl.read_parquet(link), counted(ROWS[:7_000]))


def on_terminal(*arguments: str) -> str:
    """What a person at a terminal sees of a command on stderr."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "polars_binmetrics", *arguments]
    with subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 1_000):
                seen += chunk
        except OSError:  # The other end is closed.
            pass
    os.close(ours)
    assert process.returncode == 0
    return seen.decode()


def test_progress_is_shown_on_a_terminal_only(nights: Path) -> None:
    output = str(nights / "state.parquet")
    arguments = ["histogram", str(nights / "day*.parquet"), *ASK, *BINS, "--output", output]
    assert run(*arguments, "--progress").stderr == ""
    assert on_terminal(*arguments) == ""
    seen = on_terminal(*arguments, "--progress")
    assert re.search(r"\d s\x1b\[K", seen)
    assert seen.endswith("\r\x1b[K")  # The line is wiped.


def test_progress_tells_the_share_if_it_is_known() -> None:
    progress = Progress(looked_at=True)
    assert progress.line(2.4) == "2 s"
    progress.share = 0.07
    assert progress.line(75) == "  7%, 75 s"


def test_the_pieces_of_a_progress_add_up(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PIECE", 999)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    state = store(nights, "day=2026-11-18", "--progress")
    assert_frame_equal(pl.read_parquet(state), counted(ROWS[:7_000]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["merge", "state/2027*.parquet"], "argument STATE: 'state/2027*.parquet': there is no"),
        (["merge", "state/nope.parquet"], "argument STATE: 'state/nope.parquet': there is no"),
        (["merge", "half.parquet"], "argument STATE: 'half.parquet': parquet: File out of"),
        (["merge", "day=2026-11-18.parquet"], "argument STATE: 'day=2026-11-18.parquet': the"),
        (["merge", "good.parquet", "grid.parquet"], "argument STATE: the states are over diff"),
        (["merge", "good.parquet", "keys.parquet"], "argument STATE: the first has columns "),
        (["merge", "good.parquet", "text.parquet"], "argument STATE: 'text.parquet': the frame"),
        (["evaluate", "--from-state", "good.parquet"], "the following arguments are required: "),
        (
            ["evaluate", "--from-state", "good.parquet", "--metric", "ks"],
            "argument --metric: 'ks' ",
        ),
        (
            ["evaluate", "--from-state", "good.parquet", "--metric", "tpr", "--threshold", "0.3"],
            "argument --threshold: 0.3 is none of the state's; the nearest is 0.296875",
        ),
        (
            ["evaluate", "--from-state", "good.parquet", "--metric", "tpr", "--label", "y"],
            "argument --label: a state has been counted already",
        ),
        (["histogram", "day=2026-11-18.parquet"], "the following arguments are required: --label"),
        (
            ["histogram", "day=2026-11-18.parquet", *ASK, "--bins", "0.1;0.2"],
            "argument --bins should be numbers",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_refused_in_one_line(
    nights: Path,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(nights)
    good = store(nights, "day=2026-11-18")
    good.rename("good.parquet")
    state = pl.read_parquet("good.parquet")
    Path("half.parquet").write_bytes(Path("good.parquet").read_bytes()[:1_000])
    state.filter(threshold=0.5).vstack(state.filter(pl.col("threshold").is_null())).write_parquet(
        "grid.parquet"
    )
    state.drop("health").write_parquet("keys.parquet")
    state.with_columns(pl.col("positives").cast(pl.String)).write_parquet("text.parquet")
    output = ["--output", "sum.parquet"] if arguments[0] == "merge" else []
    if "--bins" in arguments:
        output = ["--output", "sum.parquet"]
    assert f"error: {message}" in refused(capsys, *arguments, *output)
    assert not Path("sum.parquet").exists()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("sum.csv", "'sum.csv' should end in .parquet, .ipc, .arrow"),
        ("nowhere/sum.parquet", "there is no directory 'nowhere'"),
        ("state", "'state' should end in .parquet"),
        ("folder.parquet", "'folder.parquet' is a directory"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(
    nights: Path,
    output: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(nights)
    Path("folder.parquet").mkdir()
    state = str(store(nights, "day=2026-11-18"))
    assert f"argument --output: {message}" in refused(capsys, "merge", state, "--output", output)


def test_a_state_given_twice_is_refused(nights: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = str(store(nights, "day=2026-11-18"))
    for again in (state, f"{nights}/state/../state/*.parquet", f"{nights}/state"):
        line = refused(capsys, "merge", state, again, "--output", str(nights / "sum.parquet"))
        assert f"{state!r} is there twice" in line


def test_folders_that_name_keys_are_kept_apart(nights: Path) -> None:
    for day in [*DAYS][:2]:
        folder = nights / "hive" / day
        folder.mkdir(parents=True)
        store(nights, day).rename(folder / "state.parquet")
    output = nights / "report.parquet"
    asked = ["--metric", "roc_auc", "--output", str(output)]
    main(["evaluate", "--from-state", str(nights / "hive"), *asked])
    report = pl.read_parquet(output)
    assert report.columns[:4] == ["health", "day", "model", "threshold"]
    assert report.height == 2 * 4 * 2
    chart = pl.scan_parquet(nights / "hive", hive_partitioning=True).binmetrics.plot.roc()
    assert chart.to_dict()["encoding"]["facet"]["title"] == "health · day"


def test_weights_have_no_interval_from_a_state(
    nights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ROWS.with_columns(w=1_000.0).write_parquet(nights / "day=2026-11-18.parquet")
    state = str(store(nights, "day=2026-11-18", "--weight", "w"))
    line = refused(
        capsys, "evaluate", "--from-state", state, "--metric", "tpr", "--interval", "0.9"
    )
    assert "argument --interval takes no states of sums of weights" in line


def test_a_third_label_in_one_partition_is_a_fault_of_the_whole(nights: Path) -> None:
    numbers = ROWS.with_columns(pl.col("visited_often").cast(pl.Int64))
    numbers[:7_000].write_parquet(nights / "day=2026-11-18.parquet")
    odd = numbers[7_000:13_000].with_columns(
        visited_often=pl.when(pl.int_range(pl.len()) == 17).then(2).otherwise("visited_often")
    )
    odd.write_parquet(nights / "day=2026-11-19.parquet")
    states = [str(store(nights, day)) for day in [*DAYS][:2]]
    output = nights / "report.parquet"
    asked = ["--metric", "tpr", "--metric", "roc_auc", "--output", str(output)]
    main(["evaluate", "--from-state", *states, *asked])
    report = pl.read_parquet(output)
    at_fault = report["health"] == odd["health"][17]
    assert report.filter(at_fault).select("tp", "tpr", "roc_auc").null_count().row(0) == (2, 2, 2)
    assert report.filter(~at_fault).select("tp", "tpr", "roc_auc").null_count().row(0) == (0, 0, 0)
