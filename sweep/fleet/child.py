"""A child: a module of this package run to its end, in a process that may come to harm."""

import os
import subprocess
import sys

from sweep.fleet.process import without_secrets


def run_child(
    module: str, *arguments: str, patience_s: float, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """What became of the child: its exit code, and what it wrote.

    It sees no secret of the database's. Raises subprocess.TimeoutExpired, the child killed.
    """
    return subprocess.run(
        # -P: the folder that the user stands in must not shadow the modules of this package.
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=patience_s,
        env=without_secrets(os.environ) | environment,
    )
