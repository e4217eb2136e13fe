"""The command line: what it reads, prints and writes, and how it refuses."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_binmetrics as bm
from polars_binmetrics.command import main
from polars_binmetrics.example import PATH

ASK = ["--label", "visited_often", "--score", "logistic", "--metric", "recall"]
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "rows.parquet": pl.DataFrame.write_parquet,
    "rows.csv": pl.DataFrame.write_csv,
    "rows.ipc": pl.DataFrame.write_ipc,
    "rows.arrow": pl.DataFrame.write_ipc,
    "rows.ndjson": pl.DataFrame.write_ndjson,
    "rows.jsonl": pl.DataFrame.write_ndjson,
}
READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "report.parquet": pl.read_parquet,
    "report.csv": pl.read_csv,
    "report.json": pl.read_json,
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "polars_binmetrics", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which the command refuses, or fails the test."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.strip()


def test_demo_shows_its_command_and_the_table_of_that_command() -> None:
    demo = run("demo")
    assert (demo.returncode, demo.stderr) == (0, "")
    command, _, table = demo.stdout.partition("\n\n")
    assert command.startswith("$ python -m polars_binmetrics evaluate ")
    assert table == run(*shlex.split(command)[4:]).stdout
    assert table.count("\n") == 2 + 4 * 2 * 2


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_is_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WRITERS[name](bm.load_example(), tmp_path / name)
    main(["evaluate", str(tmp_path / name), *ASK])
    here = capsys.readouterr().out
    main(["evaluate", str(PATH), *ASK])
    assert here == capsys.readouterr().out


@pytest.mark.parametrize(
    "where", [["*.parquet"], ["part-*.parquet"], [""], ["part-1.parquet", "part-2.parquet"]]
)
def test_globs_directories_and_many_files_are_read(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = bm.load_example()
    rows.head(5_000).write_parquet(tmp_path / "part-1.parquet")
    rows.tail(-5_000).write_parquet(tmp_path / "part-2.parquet")
    main(["evaluate", *(str(tmp_path / each) for each in where), *ASK])
    parts = capsys.readouterr().out
    main(["evaluate", str(PATH), *ASK])
    assert parts == capsys.readouterr().out


def test_folders_that_are_called_like_files_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i, rows in enumerate(bm.load_example().iter_slices(12_000)):
        (tmp_path / f"day-{i}.parquet").mkdir()
        rows.write_parquet(tmp_path / f"day-{i}.parquet" / "part-0.parquet")
        (tmp_path / f"day-{i}.parquet" / "_SUCCESS").touch()
    main(["evaluate", f"{tmp_path}/day-*.parquet", *ASK])
    days = capsys.readouterr().out
    main(["evaluate", str(PATH), *ASK])
    assert days == capsys.readouterr().out


def test_a_text_may_begin_with_whole_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(1, 1, 1)] * 12_000 + [(1, 0.25, 1)] * 3_000 + [(1, 0, 0.5)]
    csv = ["y,s,w", *(f"{y},{s},{w}" for y, s, w in rows)]
    (tmp_path / "rows.csv").write_text("\n".join(csv))
    json = (f'{{"y": {y}, "s": {s}, "w": {w}}}' for y, s, w in rows)
    (tmp_path / "rows.ndjson").write_text("\n".join(json))
    for name in ("rows.csv", "rows.ndjson"):
        options = ["--label", "y", "--score", "s", "--weight", "w", "--metric", "tpr"]
        main(["evaluate", str(tmp_path / name), *options])
        shown = capsys.readouterr().out
        assert f"{12_000 / 15_000.5:.4f}" in shown
        assert "15000.5" in shown


def test_a_score_that_is_a_key_keeps_its_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text("y,s\n1,30\n0,30\n")
    ask = ["--label", "y", "--score", "s", "--by", "s", "--metric", "tpr"]
    main(["evaluate", str(tmp_path / "rows.csv"), *ask])
    assert "| 30 | s" in capsys.readouterr().out


def test_a_terminal_that_can_not_show_a_name_is_told_in_one_line(tmp_path: Path) -> None:
    rows = bm.load_example().with_columns(health=pl.lit("gesünder"))
    rows.write_parquet(tmp_path / "rows.parquet")
    command = ["evaluate", str(tmp_path / "rows.parquet"), *ASK, "--by", "health"]
    done = subprocess.run(
        [sys.executable, "-m", "polars_binmetrics", *command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_the_rights_of_an_output_stay(tmp_path: Path) -> None:
    output = tmp_path / "report.csv"
    output.touch(mode=0o600)
    main(["evaluate", str(PATH), *ASK, "--output", str(output)])
    assert output.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_the_names_of_folders_are_keys(
    scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = bm.load_example()
    for health in ("good", "poor"):
        (tmp_path / f"health={health}").mkdir()
        part = rows.filter(health=health).drop("health")
        part.write_parquet(tmp_path / f"health={health}" / "rows.parquet")
    main(["evaluate", f"{scheme}{tmp_path}", *ASK, "--by", "health"])
    parts = capsys.readouterr().out
    rows.filter(pl.col("health").is_in(["good", "poor"])).write_parquet(tmp_path / "all.parquet")
    main(["evaluate", str(tmp_path / "all.parquet"), *ASK, "--by", "health"])
    assert parts == capsys.readouterr().out


@pytest.mark.parametrize("name", READERS)
def test_every_kind_of_report_is_written(name: str, tmp_path: Path) -> None:
    output = tmp_path / name
    # Thresholds may be repeated, as scores and metrics.
    options = ["--by", "health", "--threshold", "0.3", "--threshold", "0.5", "--metric", "roc_auc"]
    assert main(["evaluate", str(PATH), *ASK, *options, "--output", str(output)]) == 0
    expected = bm.load_example().binmetrics.evaluate(
        "logistic",
        "visited_often",
        metrics=["recall", "roc_auc"],
        by="health",
        thresholds=[0.3, 0.5],
    )
    assert READERS[name](output).equals(expected)


def test_the_printed_table_has_the_counts_that_were_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["evaluate", str(PATH), *ASK, "--metric", "fp"])
    header, _, row = capsys.readouterr().out.splitlines()
    cells = dict(zip(*(line.replace(" ", "").split("|") for line in (header, row)), strict=True))
    expected = bm.load_example().binmetrics.counts("logistic", "visited_often")
    assert cells["fp"] == str(expected["fp"].item())
    assert not {"tp", "fn", "tn"} & cells.keys()


def test_options_reach_the_verb(tmp_path: Path) -> None:
    rows = bm.load_example().with_columns(
        outcome=pl.when("visited_often").then(pl.lit("yes")).otherwise(pl.lit("no")),
        w=pl.int_range(pl.len()) % 3,
    )
    rows.write_parquet(tmp_path / "rows.parquet")
    cut = rows["logistic"].median()  # A score that rows have, for --strict to matter.
    arguments = [
        *("evaluate", str(tmp_path / "rows.parquet"), "--label", "outcome", "--positive", "yes"),
        *("--score", "logistic", "--score", "boosting", "--weight", "w", "--strict"),
        *("--threshold", str(cut)),
        *("--metric", "fbeta(beta=2)", "--metric", "expected_cost(fp=1, fn=5)"),
        *("--output", str(tmp_path / "report.parquet")),
    ]
    main(arguments)
    expected = rows.binmetrics.evaluate(
        ["logistic", "boosting"],
        "outcome",
        metrics=[bm.fbeta(2), bm.expected_cost(fp=1, fn=5)],
        thresholds=cut,
        weight="w",
        positive="yes",
        strict=True,
    )
    assert pl.read_parquet(tmp_path / "report.parquet").equals(expected)


@pytest.mark.parametrize(
    ("dtype", "positive"), [(pl.Boolean, "true"), (pl.Int8, "1"), (pl.Float64, "1")]
)
def test_positive_is_read_as_the_type_of_the_label(
    dtype: pl.DataType, positive: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = bm.load_example().with_columns(pl.col("visited_often").cast(dtype))
    rows.write_parquet(tmp_path / "rows.parquet")
    main(["evaluate", str(tmp_path / "rows.parquet"), *ASK, "--positive", positive])
    given = capsys.readouterr().out
    main(["evaluate", str(PATH), *ASK])
    assert given == capsys.readouterr().out


def test_a_positive_value_that_no_row_has_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["--label", "health", "--score", "logistic", "--metric", "tpr"]
    main(["evaluate", str(PATH), *ask, "--positive", "Poor"])
    out, err = capsys.readouterr()
    assert out.count("\n") == 3
    assert err.endswith(": warning: the label of no row is 'Poor'\n")
    main(["evaluate", str(PATH), *ask, "--positive", "poor"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "thresholds"),
    [
        ("0.3,0.5", [0.3, 0.5]),
        ("uniform(11)", bm.uniform(11)),
        ("dyadic(3, lo=-1, hi=1)", bm.dyadic(3, -1, 1)),
        ("quantiles(5, per='segment')", bm.quantiles(5, per="segment")),
        ("every_score(midpoints=True)", bm.every_score(midpoints=True)),
    ],
)
def test_any_thresholds_and_totals(text: str, thresholds: Any, tmp_path: Path) -> None:
    output = tmp_path / "report.parquet"
    options = ["--by", "health", "--rollup", "--threshold", text, "--output", str(output)]
    main(["evaluate", str(PATH), *ASK, *options])
    expected = bm.load_example().binmetrics.evaluate(
        "logistic",
        "visited_often",
        metrics="recall",
        by="health",
        thresholds=thresholds,
        rollup=True,
    )
    assert_frame_equal(pl.read_parquet(output), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "nope"], "argument --label: "),
        (["--score", "nope"], "argument --score: "),
        (["--score", "logistic"], "argument --score: "),
        (["--score", "health"], "argument --score: column 'health' should be numeric"),
        (["--by", "nope"], "argument --by: "),
        (["--by", "n"], "argument --by: "),
        (["--weight", "health"], "argument --weight: column 'health' should be numeric"),
        (["--label", "health"], "argument --label: column 'health' is String; unless"),
        (["--positive", "maybe"], "argument --positive: 'maybe' is no value of the label"),
        (["--threshold", "0.3;0.5"], "argument --threshold should be numbers with commas"),
        (["--threshold", ""], "argument --threshold should be numbers with commas"),
        (["--threshold", "nan"], "argument --threshold should be a number, got NaN"),
        (["--threshold", "uniform(1)"], "argument --threshold: 'uniform(1)': `n` should be at"),
        (["--threshold", "uniform()"], "argument --threshold: 'uniform()': "),
        (["--threshold", "uniform(9**9)"], "argument --threshold: 'uniform(9**9)': 9 ** 9 is"),
        (["--threshold", "uniform(n)"], "argument --threshold: 'uniform(n)': "),
        (["--threshold", "exit(1)"], "argument --threshold should be numbers with commas, or"),
        (["--metric", "recal"], "argument --metric: there is no metric 'recal'; did you mean"),
        (["--metric", "fbeta"], "argument --metric: "),
        (["--metric", "fbeta(beta=-1)"], "argument --metric: 'fbeta(beta=-1)': `beta` should"),
        (["--metric", "fbeta(gamma=1)"], "argument --metric: 'fbeta(gamma=1)': "),
        (["--metric", "nope(beta=1)"], "argument --metric: there is no metric 'nope'"),
        (["--metric", "fbeta(beta=open)"], "argument --metric: 'fbeta(beta=open)': "),
        (["--metric", "recall"], "argument --metric: 'recall' is there twice"),
        (["--output", "report.xlsx"], "argument --output: 'report.xlsx' should end in"),
        (["--output", "s3://bucket/report.json"], "argument --output: 's3://bucket/report.json'"),
        (["--output", "/no/where/report.csv"], "argument --output: there is no directory"),
        (["--nope"], "unrecognized arguments: --nope"),
    ],
    ids=str,
)
def test_wrong_input_is_refused_in_one_line_that_names_it(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, "evaluate", str(PATH), *ASK, *arguments)
    assert f"error: {message}" in line


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("nope.parquet", "argument FILE: "),
        ("nope-*.parquet", "argument FILE: "),
        ("", "argument FILE: '': there is no such file"),
        ("file://", "argument FILE: 'file://': there is no such file"),
        ("rows.xlsx", "argument FILE: 'rows.xlsx': there is no such file"),
        (__file__, f"argument FILE: {__file__!r}: should end in .parquet, .csv"),
    ],
)
def test_a_file_that_is_not_there_is_refused(
    file: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"error: {message}" in refused(capsys, "evaluate", file, *ASK)


def test_an_empty_file_is_refused_wherever_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bm.load_example().write_parquet(tmp_path / "rows.parquet")
    (tmp_path / "failed.parquet").touch()
    for name in ("", "*.parquet", "failed.parquet"):
        line = refused(capsys, "evaluate", str(tmp_path / name), *ASK)
        assert "failed.parquet' is empty" in line


def test_a_name_with_brackets_is_the_file_of_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = bm.load_example().head(100)
    (tmp_path / "dir[1]").mkdir()
    (tmp_path / "dir1").mkdir()
    for place in ("dir[1]", "dir1"):
        rows = few if place == "dir[1]" else bm.load_example()
        rows.write_parquet(tmp_path / place / "rows.parquet")
        rows.write_parquet(tmp_path / f"{place.replace('dir', 'rows')}.parquet")
    for name in ("dir[1]", "rows[1].parquet"):
        main(["evaluate", str(tmp_path / name), *ASK])
        assert "100 |" in capsys.readouterr().out.replace("  ", " ")


def test_whole_numbers_stay_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = pl.DataFrame({"visited_often": [2**53, 2**53 + 1, 5], "logistic": [0.9, 0.9, 0.1]})
    rows.write_parquet(tmp_path / "rows.parquet")
    asked = [*ASK, "--positive", str(2**53 + 1), "--metric", "tp"]
    main(["evaluate", str(tmp_path / "rows.parquet"), *asked])
    header, _, row = capsys.readouterr().out.splitlines()
    cells = dict(zip(*(line.replace(" ", "").split("|") for line in (header, row)), strict=True))
    assert cells["n_positive"] == "1"


@pytest.mark.parametrize("at_once", ["", "1"])
@pytest.mark.parametrize("arguments", [["demo"], ["evaluate", str(PATH), *ASK]])
def test_an_output_that_is_full_is_told_in_one_line(arguments: list[str], at_once: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "polars_binmetrics", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": at_once},
        )
    assert done.returncode == 2
    assert "error: standard output: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_loop_of_links_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / "report.csv"
    loop.symlink_to(loop)
    line = refused(capsys, "evaluate", str(PATH), *ASK, "--output", str(loop))
    assert "argument --output: " in line
    (tmp_path / "loop.parquet").symlink_to(tmp_path / "loop.parquet")
    for file in (str(tmp_path), f"{tmp_path}/*.parquet"):
        assert "is a loop of links" in refused(capsys, "evaluate", file, *ASK)


def test_a_file_that_is_broken_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 this is no Parquet")
    assert "argument FILE: " in refused(capsys, "evaluate", str(broken), *ASK)
    late = tmp_path / "late.csv"
    late.write_text("visited_often,logistic\n" + "true,0.5\n" * 20_000 + "true,high\n")
    assert "argument FILE: " in refused(capsys, "evaluate", str(late), *ASK)


def test_an_output_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "report.csv"
    taken.mkdir()
    assert "argument --output: " in refused(
        capsys, "evaluate", str(PATH), *ASK, "--output", str(taken)
    )


def test_missing_arguments_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "COMMAND" in refused(capsys)
    assert "--label, --score, --metric" in refused(capsys, "evaluate", str(PATH))


def test_files_of_two_kinds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows.csv").write_text("visited_often,logistic\ntrue,0.5\n")
    line = refused(capsys, "evaluate", str(PATH), str(tmp_path / "rows.csv"), *ASK)
    assert "argument FILE: all should be of one kind" in line


def test_a_reader_may_stop_early() -> None:
    command = [sys.executable, "-m", "polars_binmetrics", "evaluate", str(PATH), *ASK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
