"""Where files enter and leave: scanned lazily, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from glob import iglob
from pathlib import Path
from typing import BinaryIO, TypeAlias

import polars as pl

Writers: TypeAlias = Mapping[str, Callable[..., object]]

READERS: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
    ".ipc": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".feather": pl.scan_ipc,
    ".ndjson": pl.scan_ndjson,
    ".jsonl": pl.scan_ndjson,
}
TABLES: Writers = {
    ".parquet": pl.DataFrame.write_parquet,
    ".csv": pl.DataFrame.write_csv,
    ".json": pl.DataFrame.write_json,
}
#: States are read again, so their types are kept.
STATES: dict[str, Callable[..., object]] = {
    ".parquet": pl.DataFrame.write_parquet,
    ".ipc": pl.DataFrame.write_ipc,
    ".arrow": pl.DataFrame.write_ipc,
}


def sliced(files: Sequence[str]) -> bool:
    """Whether a part of the files is read without all that stands before it."""
    return all(_suffix(_within(file)) in (".parquet", ".ipc", ".arrow") for file in files)


def scan(files: Sequence[str]) -> pl.LazyFrame:
    """The rows of files, globs, directories of Parquet files or URLs, all of one kind."""
    sources = [_within(file) for file in files]
    for file, source in zip(files, sources, strict=True):
        if _is_local(source) and not (Path(source).exists() or any(iglob(source, recursive=True))):
            raise FileNotFoundError(f"{file!r}: there is no such file")
    kinds = {_suffix(source) for source in sources}
    if len(kinds) > 1:
        raise ValueError(f"all should be of one kind, got {_listed(sorted(kinds))}")
    (kind,) = kinds
    if kind not in READERS:
        raise ValueError(f"{files[0]!r}: should end in {_listed(READERS)}")
    if sources != [*files]:  # The keys of a directory stand in the names of those in it.
        return pl.scan_parquet(sources, hive_partitioning=True)
    return READERS[kind](sources)


def check_output(output: str, kinds: Iterable[str], *, local: bool = False) -> None:
    """Refuse a file that can't be written before any work is done for it."""
    output = output.removeprefix("file://")
    if _suffix(output) not in kinds:
        raise ValueError(f"{output!r} should end in {_listed(kinds)}")
    if local and not _is_local(output):
        raise ValueError(f"{output!r} should be a file of this machine")
    if _is_local(output):
        parent = Path(output).parent
        if not parent.is_dir():
            raise FileNotFoundError(f"there is no directory {str(parent)!r}")
        if not os.access(parent, os.W_OK):
            raise PermissionError(f"the directory {str(parent)!r} is not writable")
        if Path(output).is_dir():
            raise IsADirectoryError(f"{output!r} is a directory")


def write_table(table: pl.DataFrame, output: str, kinds: Writers) -> None:
    """Write a table: to a file as a whole, to an object store as Polars does."""
    output = output.removeprefix("file://")
    write = kinds[_suffix(output)]
    if _is_local(output):
        _whole(output, lambda file: write(table, file))
    else:
        write(table, output)


def write_text(text: str, output: str) -> None:
    """Write a text to a file as a whole."""
    _whole(output.removeprefix("file://"), lambda file: file.write(text.encode()))


def _whole(output: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a new file beside the old one, then put it in its place in one step."""
    place = Path(output).resolve()  # Of a link, the file that it stands for.
    # No glob of outputs matches the name, should it be left over.
    new = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        with new.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def _within(file: str) -> str:
    """A directory as a glob of its Parquet files, which no other file is part of."""
    if file.endswith("/") or (_is_local(file) and Path(file).is_dir()):
        return f"{file.rstrip('/')}/**/*.parquet"
    return file


def _is_local(file: str) -> bool:
    return "://" not in file


def _suffix(file: str) -> str:
    return Path(file).suffix.lower()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
