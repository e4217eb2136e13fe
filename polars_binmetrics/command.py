"""The command line: count files, merge the counts of many days, show or write what they tell."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import ceil
from typing import Any, NoReturn, TypeAlias

import polars as pl
from polars.exceptions import PolarsError

from polars_binmetrics import files, report
from polars_binmetrics.arguments import cuts_of, metric_of, positive_of
from polars_binmetrics.evaluate import of_state
from polars_binmetrics.example import PATH as EXAMPLE
from polars_binmetrics.histograms import merge_histograms, ordered
from polars_binmetrics.namespaces import of
from polars_binmetrics.progress import Progress, shown

#: What an argument is called in the verbs' errors, and what it is called here.
OPTIONS = {
    "scores": "--score",
    "label": "--label",
    "by": "--by",
    "bins": "--bins",
    "thresholds": "--threshold",
    "metrics": "--metric",
    "weight": "--weight",
    "positive": "--positive",
    "interval": "--interval",
    "level": "--interval",
    "frames": "STATE",
}
DEMO = (
    "--label visited_often --score logistic --score boosting --by health"
    " --threshold 0.3,0.5 --metric precision --metric recall --metric roc_auc"
)
#: What a report tells unless asked for other metrics.
REPORTED = ["roc_auc", "tpr", "tnr", "precision", "f1"]
#: Left out of a printed table, for its width, unless asked for; a file has them.
DETAIL = {"tp", "fp", "fn", "tn", "n_negative"}
CUTS = "numbers with commas, 'uniform(101)', 'dyadic(10)', 'quantiles(11)', ..."
#: What says how rows are counted, which has been said where there is a state.
COUNTING = ["label", "score", "by", "weight", "positive", "strict", "rollup"]
#: Rows that are counted between two steps of a progress.
PIECE = 5_000_000


class Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")

    @contextmanager
    def naming(self, argument: str) -> Generator[None]:
        """Refuse in one line what is wrong with an argument, or with one that the error names."""
        try:
            yield
        except (PolarsError, OSError, TypeError, ValueError) as error:
            line, _, _ = str(error).partition("\n")
            named = re.match(r"`(\w+)`", line)
            if named and named[1] in OPTIONS:
                self.error(f"argument {OPTIONS[named[1]]}{line.removeprefix(named[0])}")
            self.error(f"argument {argument}: {line}")

    def say(self, text: str) -> None:
        """Print a text, if it is read."""
        try:
            print(text, flush=True)
        except (OSError, UnicodeError) as error:
            # Else Python would try once more as it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):  # A reader, say `head`, has seen enough.
                self.error(f"standard output: {error}")


Declare: TypeAlias = Callable[[Parser], None]
Run: TypeAlias = Callable[[Parser, argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when all went well, 2 and one line on stderr when not."""
    parser = Parser(prog="python -m polars_binmetrics", description=__doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (text, declare, run) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        declare(command)
        command.set_defaults(run=run, parser=command)
    given = parser.parse_args(arguments)
    try:
        given.run(given.parser, given)
    except ModuleNotFoundError as error:
        given.parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(130, f"{given.parser.prog}: interrupted, nothing was written\n")
    return 0


def _declare_rows(parser: Parser) -> None:
    """Declare what says how the rows of files are counted."""
    kinds = "Parquet, CSV, IPC or NDJSON"
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help=f"{kinds}, all of one kind; globs; URLs; directories of Parquet files",
    )
    add = parser.add_argument_group("how rows are counted (states have been)").add_argument
    add("--label", metavar="COLUMN", help="outcome, Boolean or 0 and 1")
    add("--score", metavar="COLUMN", action="append", help="score; repeat a model")
    add("--by", metavar="COLUMN", action="append", default=[], help="segment; repeat a key")
    add("--weight", metavar="COLUMN", help="weight of each row")
    add("--positive", metavar="VALUE", help="value of the label that counts as positive")
    add("--rollup", action="store_true", help="add totals over the last keys, up to all rows")
    parser.add_argument(
        "--progress", action="store_true", help="show how far it is, if at a terminal"
    )


def _declare_evaluate(parser: Parser) -> None:
    _declare_question(parser)
    add = parser.add_argument
    add("--output", metavar="FILE", help="write .parquet, .csv or .json (inf is null there)")


def _declare_report(parser: Parser) -> None:
    _declare_question(parser)
    parser.add_argument("--html", metavar="FILE", help="the page to write, .html")


def _declare_question(parser: Parser) -> None:
    """Declare what is asked of rows or of states."""
    _declare_rows(parser)
    add = parser.add_argument
    add("--from-state", action="store_true", help="the files are states, which are merged")
    add("--threshold", metavar="T,T", action="append", help=f"{CUTS} (default: 0.5)")
    add("--strict", action="store_true", help="positive when score > threshold, not >=")
    add(
        "--metric",
        metavar="NAME",
        action="append",
        help="recall, roc_auc, 'fbeta(beta=2)', ...; repeat a metric",
    )
    add("--interval", metavar="LEVEL", type=float, help="add confidence intervals, as of 0.95")


def _declare_histogram(parser: Parser) -> None:
    _declare_rows(parser)
    parser.add_argument("--bins", metavar="T,T", help=f"limits of the bins: {CUTS}")
    _declare_state(parser)


def _declare_merge(parser: Parser) -> None:
    parser.add_argument("files", metavar="STATE", nargs="+", help="states over the same bins")
    _declare_state(parser)


def _declare_state(parser: Parser) -> None:
    parser.add_argument("--output", metavar="STATE", help="write .parquet, .ipc or .arrow")


def _require(parser: Parser, given: argparse.Namespace, *names: str) -> None:
    """Refuse a command without its arguments, all at once."""
    lacking = [f"--{name}" for name in names if not getattr(given, name)]
    if lacking:
        parser.error(f"the following arguments are required: {', '.join(lacking)}")


def _evaluate(parser: Parser, given: argparse.Namespace) -> None:
    _require(parser, given, *([] if given.from_state else ["label", "score"]), "metric")
    if given.output is not None:
        with parser.naming("--output"):
            files.check_output(given.output, files.TABLES)
    asked = _question(parser, given)
    if given.from_state:
        state = _state_of(parser, given)
        with parser.naming("STATE"):
            result = of_state(state, **asked)
    else:
        frame, counting = _counting(parser, given)
        with parser.naming("FILE"):
            table = of(frame).evaluate(
                **counting, **asked, strict=given.strict, rollup=given.rollup
            )
        with parser.naming("FILE"), shown(given.progress):
            result = table.collect(engine="streaming")
    if given.positive is not None and result["n"].sum() and not result["n_positive"].sum():
        print(f"{parser.prog}: warning: the label of no row is {given.positive!r}", file=sys.stderr)
    if given.output is None:
        parser.say(_text(result.drop((DETAIL - {*given.metric}) & {*result.columns})))
    else:
        with parser.naming("--output"):
            files.write_table(result, given.output, files.TABLES)


def _report(parser: Parser, given: argparse.Namespace) -> None:
    _require(parser, given, *([] if given.from_state else ["label", "score"]), "html")
    if given.rollup:
        parser.error("argument --rollup: a report has all rows and the finest segments")
    with parser.naming("--html"):
        files.check_output(given.html, [".html"])
    given.metric = given.metric or REPORTED
    asked = _question(parser, given)
    if given.from_state:
        state = _state_of(parser, given)
        asked["interval"] = _level(given, weighted=state.schema["positives"].is_float())
        with parser.naming("STATE"):
            page = report.of_states(state, **asked, facts=_facts(given))
    else:
        frame, counting = _counting(parser, given)
        asked["interval"] = _level(given, weighted=given.weight is not None)
        asked["strict"] = given.strict
        with parser.naming("FILE"), shown(given.progress):
            page = report.of_rows(frame, **counting, **asked, facts=_facts(given))
    with parser.naming("--html"):
        files.write_text(page, given.html)


def _facts(given: argparse.Namespace) -> dict[str, str]:
    """What a page is of; of a state, its rows are not known."""
    number = len(files.found(given.files))
    several = f" ({number:,} files)" if number > len(given.files) else ""
    facts = {
        "files": ", ".join(given.files) + several,
        "made": f"{datetime.now():%Y-%m-%d %H:%M}",
        "label": given.label,
        "models": ", ".join(given.score or []),
        "positive": given.positive,
        "weight": given.weight,
    }
    return {name: text for name, text in facts.items() if text}


def _level(given: argparse.Namespace, *, weighted: bool) -> float | None:
    """The level of a report; that of weights has no intervals unless they are asked for."""
    return 0.95 if given.interval is None and not weighted else given.interval


def _question(parser: Parser, given: argparse.Namespace) -> dict[str, Any]:
    """What is asked of the counts."""
    with parser.naming("--metric"):
        return {
            "metrics": [metric_of(text) for text in given.metric],
            "thresholds": cuts_of("thresholds", ",".join(given.threshold or ["0.5"])),
            "interval": given.interval,
        }


def _state_of(parser: Parser, given: argparse.Namespace) -> pl.DataFrame:
    """The sum of the states given, of which nothing is counted again."""
    for name in COUNTING:
        if getattr(given, name):
            parser.error(f"argument --{name}: a state has been counted already")
    return _merged(parser, given.files)


def _histogram(parser: Parser, given: argparse.Namespace) -> None:
    _require(parser, given, "label", "score", "bins", "output")
    with parser.naming("--output"):
        files.check_output(given.output, files.STATES)
    with parser.naming("--bins"):
        bins = cuts_of("bins", given.bins)
    frame, counting = _counting(parser, given)
    with parser.naming("FILE"):
        state = of(frame).histogram(**counting, bins=bins, rollup=given.rollup)
    with parser.naming("FILE"), shown(given.progress) as progress:
        # Sums of weights would differ in their last digits.
        whole = given.weight is not None or not files.sliced(given.files)
        if progress.looked_at and isinstance(bins, list) and not whole:
            result = _piece_by_piece(frame, progress, bins=bins, **counting, rollup=given.rollup)
        else:
            result = state.collect(engine="streaming")
    with parser.naming("--output"):
        files.write_table(result, given.output, files.STATES)


def _piece_by_piece(frame: pl.LazyFrame, progress: Progress, **ask: Any) -> pl.DataFrame:
    """The histogram of the rows as the sum of those of their pieces."""
    rows = frame.select(pl.len()).collect(engine="streaming").item()
    pieces = max(1, ceil(rows / PIECE))
    states: list[pl.DataFrame] = []
    for i in range(pieces):
        progress.share = i / pieces
        piece = of(frame.slice(i * PIECE, PIECE)).histogram(**ask)
        states = [merge_histograms([*states, piece.collect(engine="streaming")])]
    return states[0]


def _merge(parser: Parser, given: argparse.Namespace) -> None:
    _require(parser, given, "output")
    with parser.naming("--output"):
        files.check_output(given.output, files.STATES)
    result = _merged(parser, given.files)
    with parser.naming("--output"):
        files.write_table(result, given.output, files.STATES)


def _merged(parser: Parser, names: list[str]) -> pl.DataFrame:
    """The sum of stored states."""
    states: list[pl.DataFrame] = []
    with parser.naming("STATE"):
        files.found(names)
    for name in names:
        with parser.naming("STATE"):
            state = files.scan([name])
        with parser.naming(f"STATE: {name!r}"):
            states.append(ordered(state.collect()))
    with parser.naming("STATE"):
        return merge_histograms(states)


def _demo(parser: Parser, given: argparse.Namespace) -> None:
    arguments = ["evaluate", str(EXAMPLE), *shlex.split(DEMO)]
    parser.say(f"$ python -m polars_binmetrics {shlex.join(arguments)}\n")
    main(arguments)


def _counting(parser: Parser, given: argparse.Namespace) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The rows, and what says how they are counted."""
    with parser.naming("FILE"):
        numbers = {*given.score, given.weight} - {None, *given.by}
        frame = files.scan(given.files, numbers)
        label = frame.collect_schema().get(given.label)
    return frame, {
        "scores": given.score,
        "label": given.label,
        "by": given.by,
        "weight": given.weight,
        "positive": positive_of(given.positive, label),
    }


def _text(table: pl.DataFrame) -> str:
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
        return str(table)


#: What a command does, what it is given, and how it is run.
COMMANDS: dict[str, tuple[str, Declare, Run]] = {
    "evaluate": ("metrics per segment, model and threshold", _declare_evaluate, _evaluate),
    "report": ("a page with tables and charts, for any browser", _declare_report, _report),
    "histogram": ("count rows into a state to store and to merge", _declare_histogram, _histogram),
    "merge": ("add states, of many days, files or machines", _declare_merge, _merge),
    "demo": ("evaluate the data that ship with the package", lambda parser: None, _demo),
}
