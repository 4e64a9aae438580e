"""Output: where this process's stdout and stderr go, a file for each attempt."""

import os
import sys
from pathlib import Path


def redirect_output(path: Path) -> None:
    """Append everything that is printed from now on to a file, also by C code and children."""
    sys.stdout.flush()
    sys.stderr.flush()
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(fd, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    os.dup2(fd, sys.__stderr__.fileno() if sys.__stderr__ else 2)
    os.close(fd)
