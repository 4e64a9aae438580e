"""Strays: processes that a worker's code has put out of the reach of its process group.

All that a worker starts inherits a mark in its environment; by that it is found, whatever session
it has made for itself. What clears its environment escapes.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

MARK = "SWEEP_WORKER"
_PROC = Path("/proc")
_MAX_ROUNDS = 20


def kill_strays(mark: str, group: int) -> None:
    """Kill all that carries the mark and is not in the process group, until nothing is left."""
    entry = f"{MARK}={mark}".encode()
    for _ in range(_MAX_ROUNDS):
        found = [pid for pid in _marked(entry) if _is_outside(pid, group)]
        for pid in found:
            _kill(pid)
        if not found:
            return


def _marked(entry: bytes) -> Iterator[int]:
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and entry in _environment(folder):
            yield int(folder.name)


def _environment(folder: Path) -> list[bytes]:
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:  # it has just ended, or is another user's
        return []


def _is_outside(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) != group
    except ProcessLookupError:
        return False


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
