"""Holders of leases: this process, and whether another one is known to be dead."""

import os
import platform

import psutil

from sweep.records import Holder

_SAME_START_S = 1.0


def this_process() -> Holder:
    """This process, as it signs a lease."""
    return Holder(
        host=platform.node(),
        pid=os.getpid(),
        process_started_at_s=psutil.Process().create_time(),
    )


def is_known_dead(holder: Holder) -> bool:
    """Whether the holder ran on this host and is gone. Of another host nothing is known."""
    if holder.host != platform.node():
        return False
    try:
        started_at_s = psutil.Process(holder.pid).create_time()
    except psutil.NoSuchProcess:
        return True
    return abs(started_at_s - holder.process_started_at_s) > _SAME_START_S
