"""A child: a module of this package run to its end, in a process that may come to harm.

It runs code of a user's, so that it is treated as a worker is: it has a process group of its own,
a mark, and a lifeline, and nothing of it outlives the call or this process.
"""

import os
import subprocess
import sys
from tempfile import TemporaryFile
from typing import IO

from sweep.fleet.process import without_secrets
from sweep.strays import MARK, new_mark


def run_child(
    module: str, *arguments: str, patience_s: float, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """What became of the child: its exit code, and what it wrote.

    The module's first argument is its lifeline, for `start_guard`. It sees no secret of the
    database's. Raises subprocess.TimeoutExpired, the child killed.
    """
    lifeline, held = os.pipe()
    # -P: the folder that the user stands in must not shadow the modules of this package.
    command = [sys.executable, "-P", "-m", module, str(lifeline), *arguments]
    # Files: what the child has started could hold the end of a pipe.
    with TemporaryFile() as said, TemporaryFile() as complained:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complained,
                timeout=patience_s,
                pass_fds=(lifeline,),
                start_new_session=True,
                env=without_secrets(os.environ) | environment | {MARK: new_mark()},
            )
        finally:
            os.close(held)  # whatever is left of the child ends with that
            os.close(lifeline)
        return subprocess.CompletedProcess(
            command, done.returncode, _text(said), _text(complained)
        )


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
