"""The lifeline: this process and all that it starts die when the coordinator does.

The pipe down is the lifeline: its end closes when the coordinator ends, however it ends. Two watch
it: the channel's thread, and a process of its own, which a call that holds the interpreter's lock
cannot stop. The kernel's death signal is of no use here: it kills this process before either can
kill what this process has started.
"""

import os
import select
import signal

from sweep.strays import MARK, kill_strays


def start_guard(down_fd: int, up_fd: int | None = None) -> None:
    """Fork a process that kills this process group when the pipe down is closed.

    It does not hold the pipe up, where there is one. To be called before any thread is started.
    The guard itself ends with the group.
    """
    if os.fork() == 0:
        if up_fd is not None:
            os.close(up_fd)
        _wait_for_end(down_fd)
        kill_own_group()


def kill_own_group() -> None:
    """Kill this process, everything in its process group, and what has left that."""
    kill_strays(os.environ.get(MARK, ""), os.getpgrp())
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _wait_for_end(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, 0)  # no event but the end: the messages are for the worker
    poll.poll()
