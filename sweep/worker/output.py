"""Output: where this process's stdout and stderr go, a file for each attempt."""

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

from sweep.worker.disk import is_full


def redirect_output(path: Path) -> None:
    """Append everything that is printed from now on to a file, also by C code and children.

    A symbolic link in its place is not followed: that is an OSError.

    It does so whatever a train function has done to its output before.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)
    sys.stdout = _lines_to(1)
    sys.stderr = _lines_to(2)


class _Log(io.FileIO):
    """A log that is full swallows what is printed: no training fails for a line in its log."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data) or 0
        except OSError as error:
            if not is_full(error):
                raise
            return memoryview(data).nbytes


def _lines_to(fd: int) -> io.TextIOWrapper:
    raw = _Log(fd, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=True
    )
