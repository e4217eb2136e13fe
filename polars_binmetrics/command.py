"""The command line: evaluate a file, then show or write the table."""

from __future__ import annotations

import argparse
import ast
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import polars as pl
from polars.exceptions import PolarsError

from polars_binmetrics import thresholds
from polars_binmetrics.example import PATH as EXAMPLE
from polars_binmetrics.namespaces import of
from polars_binmetrics.registry import IntoMetric, named
from polars_binmetrics.thresholds import IntoThresholds

T = TypeVar("T")

READERS: dict[str, Callable[[list[str]], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
    ".ipc": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".feather": pl.scan_ipc,
    ".ndjson": pl.scan_ndjson,
    ".jsonl": pl.scan_ndjson,
}
WRITERS: dict[str, Callable[[pl.DataFrame, str], object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".csv": pl.DataFrame.write_csv,
    ".json": pl.DataFrame.write_json,
}
#: What an argument is called in the verbs' errors, and what it is called here.
OPTIONS = {
    "scores": "--score",
    "label": "--label",
    "by": "--by",
    "thresholds": "--threshold",
    "metrics": "--metric",
    "weight": "--weight",
    "positive": "--positive",
}
DEMO = (
    "--label visited_often --score logistic --score boosting --by health"
    " --threshold 0.3,0.5 --metric precision --metric recall --metric roc_auc"
)
#: Left out of a printed table, for its width, unless asked for; a file has them.
DETAIL = {"tp", "fp", "fn", "tn", "n_negative"}


class Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 2 and one line on stderr when not."""
    parser = Parser(prog="python -m polars_binmetrics", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    evaluate = commands.add_parser("evaluate", help="metrics per segment, model and threshold")
    _declare(evaluate)
    demo = commands.add_parser("demo", help="the same on the data that ships with the package")
    evaluate.set_defaults(run=_evaluate, parser=evaluate)
    demo.set_defaults(run=_demo, parser=demo)
    given = parser.parse_args(arguments)
    given.run(given.parser, given)
    return 0


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    kinds = "Parquet, CSV, IPC or NDJSON"
    files = f"{kinds}, all of one kind; globs; directories of Parquet files"
    add("files", metavar="FILE", nargs="+", help=files)
    add("--label", metavar="COLUMN", required=True, help="outcome, Boolean or 0 and 1")
    add("--score", metavar="COLUMN", action="append", required=True, help="score; repeat a model")
    add("--by", metavar="COLUMN", action="append", default=[], help="segment; repeat a key")
    cuts = "numbers with commas, 'uniform(101)', 'quantiles(11)', ... (default: 0.5)"
    add("--threshold", metavar="T,T", action="append", help=cuts)
    add(
        "--metric",
        metavar="NAME",
        action="append",
        required=True,
        help="recall, roc_auc, 'fbeta(beta=2)', ...; repeat a metric",
    )
    add("--weight", metavar="COLUMN", help="weight of each row")
    add("--positive", metavar="VALUE", help="value of the label that counts as positive")
    add("--strict", action="store_true", help="positive when score > threshold, not >=")
    add("--rollup", action="store_true", help="add totals over the last keys, up to all rows")
    add("--output", metavar="FILE", help="write .parquet, .csv or .json (inf is null there)")


def _demo(parser: Parser, given: argparse.Namespace) -> None:
    arguments = ["evaluate", str(EXAMPLE), *shlex.split(DEMO)]
    print(f"$ python -m polars_binmetrics {shlex.join(arguments)}\n")
    main(arguments)


def _evaluate(parser: Parser, given: argparse.Namespace) -> None:
    frame, schema = _read(parser, given.files)
    write = _writer(parser, given.output, hidden=DETAIL - set(given.metric))
    label = schema.get(given.label)
    try:
        table = of(frame).evaluate(
            given.score,
            given.label,
            metrics=[_metric(text) for text in given.metric],
            thresholds=_thresholds(",".join(given.threshold or ["0.5"])),
            by=given.by,
            weight=given.weight,
            positive=_positive(given.positive, label),
            strict=given.strict,
            rollup=given.rollup,
        )
    except (PolarsError, TypeError, ValueError) as error:
        parser.error(re.sub(r"^`(\w+)`", lambda m: f"argument {OPTIONS[m[1]]}", _line(error)))
    try:
        result = table.collect(engine="streaming")
    except (PolarsError, OSError) as error:
        parser.error(f"argument FILE: {_line(error)}")
    try:
        write(result)
    except (PolarsError, OSError) as error:
        parser.error(f"argument --output: {_line(error)}")


def _read(parser: Parser, files: list[str]) -> tuple[pl.LazyFrame, pl.Schema]:
    kinds = {".parquet" if Path(file).is_dir() else Path(file).suffix.lower() for file in files}
    if len(kinds) > 1:
        parser.error(f"argument FILE: all should be of one kind, got {_names(sorted(kinds))}")
    (kind,) = kinds
    if kind not in READERS:
        parser.error(f"argument FILE: {files[0]!r}: should end in {_names(READERS)}")
    try:
        frame = READERS[kind](files)
        return frame, frame.collect_schema()
    except (PolarsError, OSError) as error:
        parser.error(f"argument FILE: {_line(error)}")


def _writer(
    parser: Parser, output: str | None, hidden: set[str]
) -> Callable[[pl.DataFrame], object]:
    if output is None:
        return lambda table: _show(table.drop(hidden))
    path = Path(output)
    if path.suffix.lower() not in WRITERS:
        parser.error(f"argument --output: {output!r} should end in {_names(WRITERS)}")
    if not path.parent.is_dir():
        parser.error(f"argument --output: there is no directory {str(path.parent)!r}")
    return lambda table: WRITERS[path.suffix.lower()](table, output)


def _show(table: pl.DataFrame) -> None:
    with pl.Config(
        tbl_cols=-1,
        tbl_rows=-1,
        tbl_width_chars=-1,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="ASCII_MARKDOWN",
        tbl_cell_numeric_alignment="RIGHT",
        fmt_str_lengths=100,
        float_precision=4,
    ):
        text = str(table)
    try:
        print(text, flush=True)
    except BrokenPipeError:  # The reader, say `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _metric(text: str) -> IntoMetric:
    """A name, or a name with keyword parameters as in ``fbeta(beta=2)``."""
    call = _call(text)
    if call is None or call.args:
        return text
    return _made("metrics", text, named(_name(call)), call)


def _thresholds(text: str) -> IntoThresholds:
    """Numbers, or a name with parameters as in ``uniform(101)``."""
    call = _call(text)
    if call is not None and _name(call) in thresholds.__all__:
        make: Callable[..., IntoThresholds] = getattr(thresholds, _name(call))
        return _made("thresholds", text, make, call)
    try:
        return [float(each) for each in text.split(",")]
    except ValueError:
        allowed = ", ".join(thresholds.__all__)
        raise ValueError(
            f"`thresholds` should be numbers with commas, or one of {allowed}; got {text!r}"
        ) from None


def _call(text: str) -> ast.Call | None:
    """The text as the call of a name, if it is one."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None
    return call if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def _made(argument: str, text: str, make: Callable[..., T], call: ast.Call) -> T:
    """What the call makes of its parameters, which are literals."""
    try:
        args = [ast.literal_eval(each) for each in call.args]
        return make(
            *args, **{str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"`{argument}`: {text!r}: {error}") from None


def _positive(text: str | None, dtype: pl.DataType | None) -> object:
    """The value that the text stands for in a label of this type."""
    if text is None or dtype is None:
        return text
    if dtype == pl.Boolean:
        return {"true": True, "false": False}.get(text.lower(), text)
    if dtype.is_numeric():
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _names(suffixes: Iterable[str]) -> str:
    return ", ".join(suffixes)
