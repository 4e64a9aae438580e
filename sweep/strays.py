"""Strays: processes that outlived their worker, or that its code put out of its process group.

All that a worker starts inherits a mark in its environment; by that it is found, whatever session
it has made for itself. What clears its environment escapes. The mark names the coordinator too,
so that what a dead one has left can be told.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

MARK = "SWEEP_WORKER"
_PROC = Path("/proc")
_MAX_ROUNDS = 20
_START_TICKS_FIELD = 19  # of /proc/PID/stat, counted after the name in parentheses: see proc(5)


def new_mark() -> str:
    """A mark for a worker of this process."""
    return f"{_signature(os.getpid())}/{uuid4().hex}"


def kill_ghosts() -> int:
    """Kill what coordinators of this host that are dead have left; how many processes."""
    here = pid_namespace()
    ghosts = [pid for pid, mark in _all_marked() if _is_ghost(mark, here)]
    for pid in ghosts:
        _kill(pid)
    return len(ghosts)


def started_at_s(pid: int) -> float | None:
    """When a process started, in seconds since the host did; None when there is none.

    Counted from the host's start because the time of day may be set while the process runs.
    """
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return int(fields[_START_TICKS_FIELD]) / os.sysconf("SC_CLK_TCK")


def kill_strays(mark: str, group: int) -> None:
    """Kill all that carries the mark and is not in the process group, until nothing is left."""
    for _ in range(_MAX_ROUNDS if mark else 0):  # an empty mark is nobody's
        found = [pid for pid, other in _all_marked() if other == mark and _is_outside(pid, group)]
        for pid in found:
            _kill(pid)
        if not found:
            return


def _signature(pid: int) -> str:
    """What tells a process from every other one that this host had or will have."""
    return f"{pid_namespace()}:{pid}:{started_at_s(pid)}"


def pid_namespace() -> str:
    """Where process numbers mean what they mean here: a container has its own."""
    return str((_PROC / "self/ns/pid").readlink())


def _is_ghost(mark: str, here: str) -> bool:
    signature = mark.partition("/")[0]
    namespace, _, rest = signature.rpartition(":")[0].rpartition(":")
    return namespace == here and rest.isdigit() and _signature(int(rest)) != signature


def _all_marked() -> Iterator[tuple[int, str]]:
    """Every process with a mark, and the mark."""
    start = f"{MARK}=".encode()
    for folder in _PROC.iterdir():
        for entry in _environment(folder) if folder.name.isdigit() else ():
            if entry.startswith(start):
                yield int(folder.name), entry[len(start) :].decode(errors="replace")


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
