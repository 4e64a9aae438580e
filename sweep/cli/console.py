"""Console: the answer goes to stdout, the story to stderr; a reader who left ends either."""

import errno
import io
import os
import shutil
import sys
from contextlib import suppress
from typing import IO, TextIO

import typer

from sweep.errors import DiskError
from sweep.views.sparkline import BLOCKS, PLAIN

MIN_WIDTH = 40


def open_streams() -> None:
    """stdout and stderr take any text, also where the shell knows no UTF-8.

    Where it closed stderr nobody wants the story; where it closed stdout the answer is lost, and
    writing it fails.
    """
    sys.stdout, sys.stderr = sys.stdout or _closed(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def answer(text: str) -> None:
    """The text is on stdout. A reader who has left, as `head` does, ends the command in peace."""
    encoding = sys.stdout.encoding or "utf-8"
    answer_bytes(_shown_in(encoding, text).encode(encoding, errors="backslashreplace"))


def offer(text: str) -> None:
    """The text is on stdout, or its reader has left: the command ends as it would have anyway."""
    with suppress(typer.Exit):
        answer(text)


def _shown_in(encoding: str, text: str) -> str:
    """The text with plain marks for blocks where the encoding has none."""
    try:
        BLOCKS.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN)
    return text


def answer_bytes(data: bytes) -> None:
    """The bytes are on stdout as they are."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        _silence(sys.stdout)
        raise typer.Exit(0) from error
    except OSError as error:
        raise lost_answer(error) from error


def lost_answer(error: OSError) -> DiskError:
    """Why the answer is not on stdout, or not all of it; what follows is dropped."""
    _silence(sys.stdout)
    is_closed = error.errno == errno.EBADF
    reason = "stdout is closed" if is_closed else str(error.strerror).lower()
    return DiskError(f"the answer cannot be written: {reason}")


def tell(text: str) -> None:
    """The text is on stderr, as lines. A reader who has left misses the rest; work goes on."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def width() -> int:
    """The columns that a table on stdout may take: the terminal's, or those of COLUMNS, or 80."""
    return max(MIN_WIDTH, shutil.get_terminal_size((80, 24)).columns)


def _closed() -> TextIO:
    """A stream that fails when it is written to; no other file is opened in its place."""
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def _silence(stream: IO[str]) -> None:
    """Whatever is written to the stream from now on is dropped, also by Python at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
