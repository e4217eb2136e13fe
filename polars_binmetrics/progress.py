"""What a person at a terminal sees of a long run."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

#: How often the line is written anew, in seconds.
PACE = 0.2


class Progress:
    """A line on the terminal, with the time that has passed and, if known, the share done."""

    def __init__(self, *, looked_at: bool) -> None:
        self.looked_at = looked_at
        self.share: float | None = None

    def line(self, seconds: float) -> str:
        """The line."""
        done = "" if self.share is None else f"{self.share:4.0%}, "
        return f"{done}{seconds:.0f} s"


@contextmanager
def shown(wanted: bool) -> Generator[Progress]:
    """Show how far a run has come, unless nobody looks at a terminal."""
    progress = Progress(looked_at=wanted and sys.stderr.isatty())
    if not progress.looked_at:
        yield progress
        return
    start, finished = monotonic(), Event()

    def show() -> None:
        going_on = True
        while going_on:
            line = progress.line(monotonic() - start)
            print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
            going_on = not finished.wait(PACE)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        finished.set()
        thread.join()
