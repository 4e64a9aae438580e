"""Command: a program run to its end in a process of its own, and what that took."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import ROOT

SWEEP = str(Path(sys.executable).with_name("sweep"))
LAUNCHER = str(Path(__file__).with_name("launcher.py"))
MIB = 2**20

_OF_THE_USER = ("SWEEP_STORAGE", "OPTUNA_STORAGE", "SWEEP_RUN_DIR")


class CommandFailedError(Exception):
    """A command that was to be measured failed: its exit code and its last words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Took:
    """What a command took, from its start to its end.

    `cpu_s` counts its child processes too; `peak_bytes` is the most that it or one of them held.
    """

    seconds: float
    cpu_s: float
    peak_bytes: int
    stdout: str

    @property
    def peak_mib(self) -> float:
        return self.peak_bytes / MIB


def run_command(command: Sequence[str], folder: Path) -> Took:
    """Run a command in a folder. Raises CommandFailedError unless it exits with 0."""
    read_fd, write_fd = os.pipe()
    with os.fdopen(read_fd, "rb") as report:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", LAUNCHER, str(write_fd), *command],
                cwd=folder,
                env=_environment(),
                pass_fds=(write_fd,),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
        finally:
            os.close(write_fd)
        took = json.loads(report.read() or b'{"exit_code": "unknown"}')
    exit_code = took.pop("exit_code")
    if exit_code != 0:
        last_words = " / ".join(done.stderr.strip().splitlines()[-3:])
        raise CommandFailedError(f"{' '.join(command)}: exit code {exit_code}: {last_words}")
    return Took(**took, stdout=done.stdout)


def _environment() -> dict[str, str]:
    """Ours, less what would lead a command to the user's own studies."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_THE_USER}
    return kept | {"PYTHONPATH": str(ROOT)}
