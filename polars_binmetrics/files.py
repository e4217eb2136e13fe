"""Where files enter and leave: scanned lazily, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from glob import escape, iglob
from pathlib import Path
from secrets import token_hex
from shutil import copymode
from typing import BinaryIO, TypeAlias

import polars as pl

Writers: TypeAlias = Mapping[str, Callable[..., object]]

#: Rows of a text that tell the types of its columns.
LOOKED_AT = 10_000
READERS: dict[str, Callable[..., pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": partial(pl.scan_csv, infer_schema_length=LOOKED_AT),
    ".ipc": pl.scan_ipc,
    ".arrow": pl.scan_ipc,
    ".feather": pl.scan_ipc,
    ".ndjson": partial(pl.scan_ndjson, infer_schema_length=LOOKED_AT),
    ".jsonl": partial(pl.scan_ndjson, infer_schema_length=LOOKED_AT),
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
#: What Polars writes to object stores.
STORED = [".parquet", ".csv", ".ipc", ".arrow"]


def sliced(files: Sequence[str]) -> bool:
    """Whether a part of the files is read without all that stands before it."""
    return all(_suffix(_within(file)) in (".parquet", ".ipc", ".arrow") for file in files)


def scan(files: Sequence[str], numbers: Iterable[str] = ()) -> pl.LazyFrame:
    """
    The rows of files, globs, directories of Parquet files or URLs, all of one kind.

    In a text, numbers may go on with a fraction though they begin as whole ones.
    """
    found(files)
    sources = [_within(file) for file in files]
    kinds = {_suffix(source) for source in sources}
    if len(kinds) > 1:
        raise ValueError(f"all should be of one kind, got {_listed(sorted(kinds))}")
    (kind,) = kinds
    if kind not in READERS:
        raise ValueError(f"{files[0]!r}: should end in {_listed(READERS)}")
    if any(map(_is_folder, files)):  # The keys stand in the names of folders within.
        return pl.scan_parquet(sources, hive_partitioning=True)
    rows = READERS[kind](sources)
    if kind in (".csv", ".ndjson", ".jsonl"):
        schema = rows.collect_schema()
        whole = [name for name in numbers if name in schema and schema[name].is_integer()]
        return READERS[kind](sources, schema_overrides=dict.fromkeys(whole, pl.Float64))
    return rows


def found(files: Sequence[str]) -> set[str]:
    """The files; such as are not there, have nothing in them, or are named twice are refused."""
    seen: set[str] = set()
    for file in files:
        source = _within(file)
        named, local = [source], _path(file) is not None
        if local:
            # An empty name would be that of all there is.
            matched = iglob(source, recursive=True) if _path(file) else ()
            named = [str(_resolved(each)) for each in matched]
            if not named:
                raise FileNotFoundError(f"{file!r}: there is no such file")
        for each in named:
            if each in seen:
                raise ValueError(f"{file!r}: {each!r} is there twice")
            seen.add(each)
            if local and not Path(each).stat().st_size:
                raise ValueError(f"{each!r} is empty")
    return seen


def check_output(output: str, kinds: Iterable[str]) -> None:
    """Refuse a file that can't be written before any work is done for it."""
    suffix, path = _suffix(output), _path(output)
    if suffix not in kinds:
        raise ValueError(f"{output!r} should end in {_listed(kinds)}")
    if path is None:
        if suffix not in STORED:
            raise ValueError(f"{output!r} should be a file of this machine, as it is {suffix}")
        return
    place = _resolved(path)
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {str(Path(path).parent)!r}")
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(f"the directory {str(place.parent)!r} is not writable")
    if place.is_dir():
        raise IsADirectoryError(f"{output!r} is a directory")


def write_table(table: pl.DataFrame, output: str, kinds: Writers) -> None:
    """Write a table: to a file as a whole, to an object store as Polars does."""
    write, path = kinds[_suffix(output)], _path(output)
    if path is None:
        write(table, output)
    else:
        _whole(path, lambda file: write(table, file))


def write_text(text: str, path: str) -> None:
    """Write a text to a file as a whole."""
    _whole(path.removeprefix("file://"), lambda file: file.write(text.encode()))


def _whole(path: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a new file beside the old one, then put it in its place in one step."""
    place = _resolved(path)
    # No glob of outputs matches the name, should it be left over; no other run has it.
    new = place.with_name(f".binmetrics-{token_hex(8)}.tmp")
    try:
        with new.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            copymode(place, new)
        new.replace(place)
    finally:
        new.unlink(missing_ok=True)


def _resolved(path: str) -> Path:
    """The file, or that which a link stands for."""
    try:
        place = Path(path).resolve()
    except RuntimeError:  # As Python before 3.13 has it; later ones leave the link.
        place = Path(path)
    if place.is_symlink():
        raise OSError(f"{path!r} is a loop of links")
    return place


def _within(file: str) -> str:
    """What Polars is to read: a file by its very name, a directory as a glob of Parquet files."""
    path, is_folder = _path(file), _is_folder(file)
    if path is not None:
        file = escape(path) if Path(path).exists() else path
    return f"{file.rstrip('/')}/**/*.parquet" if is_folder else file


def _is_folder(file: str) -> bool:
    path = _path(file)
    if path is None:
        return file.endswith("/")
    if Path(path).exists():
        return Path(path).is_dir()
    # The first file among what matches tells; a tree need not be walked for it.
    folders = (Path(each).is_dir() for each in iglob(path, recursive=True))
    return next(folders, False) and all(folders)


def _path(file: str) -> str | None:
    """Where a file of this machine is."""
    path = file.removeprefix("file://")
    return None if "://" in path else path


def _suffix(file: str) -> str:
    return Path(file).suffix.lower()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
