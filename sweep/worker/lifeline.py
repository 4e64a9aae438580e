"""The lifeline: this process and all that it starts die when the coordinator does."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent ends; exit if it has ended already.

    This does not reach the processes that this one starts; `kill_own_group` does.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        sys.exit(1)


def kill_own_group() -> None:
    """Kill this process and everything in its process group."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
