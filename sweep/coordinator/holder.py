"""Holders of leases: this process, and whether another one is known to be dead."""

import os
import platform
from pathlib import Path

from sweep.records import Holder

_START_TICKS_FIELD = 19  # of /proc/PID/stat, counted after the name in parentheses: see proc(5)


def this_process() -> Holder:
    """This process, as it signs a lease."""
    started_at_s = _started_at_s(os.getpid())
    assert started_at_s is not None, "this process is running"
    return Holder(host=platform.node(), pid=os.getpid(), process_started_at_s=started_at_s)


def is_known_dead(holder: Holder) -> bool:
    """Whether the holder ran on this host and is gone. Of another host nothing is known."""
    if holder.host != platform.node():
        return False
    return _started_at_s(holder.pid) != holder.process_started_at_s


def _started_at_s(pid: int) -> float | None:
    """When a process started, in seconds since the host did; None when there is none.

    Counted from the host's start because the time of day may be set while the process runs.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()
    return int(fields[_START_TICKS_FIELD]) / os.sysconf("SC_CLK_TCK")
