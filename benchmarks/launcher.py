"""Launcher: runs a command and says what it took. A program by itself, small on purpose.

Linux counts the memory of the process that starts a program to that program's peak; so what is
measured is started by a Python that holds next to nothing: `python -I -S launcher.py FD COMMAND`.
"""

import json
import os
import sys
import time


def main() -> None:
    """Run the command in `sys.argv`; write its figures to the file descriptor before it."""
    report_fd, *command = sys.argv[1:]
    started = time.monotonic()
    os.set_inheritable(int(report_fd), False)
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    took = {
        "exit_code": os.waitstatus_to_exitcode(status),
        "seconds": time.monotonic() - started,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
    }
    os.write(int(report_fd), json.dumps(took).encode())


if __name__ == "__main__":
    main()
