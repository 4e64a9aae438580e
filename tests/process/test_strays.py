"""Ghosts: what a dead coordinator has left is found by its mark and killed by the next one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sweep.strays import MARK, kill_ghosts, new_mark, pid_namespace, started_at_s

DEAD_PID = 2**22 + 1  # above the largest that Linux gives out


@contextmanager
def _marked(mark: str) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "600"], env=os.environ | {MARK: mark}) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_process_of_a_dead_coordinator_is_killed() -> None:
    with _marked(f"{pid_namespace()}:{DEAD_PID}:12.5/a") as ghost:
        assert kill_ghosts() == 1
        assert ghost.wait(5) == -9


@pytest.mark.parametrize(
    "mark",
    [
        new_mark(),
        f"{pid_namespace()}:{os.getppid()}:{started_at_s(os.getppid())}/a",
        f"pid:[1]:{DEAD_PID}:12.5/a",
        "",
        "of another program",
    ],
    ids=["ours", "of our parent", "of another container", "empty", "foreign"],
)
def test_a_process_of_a_living_coordinator_or_of_another_container_is_left_alone(
    mark: str,
) -> None:
    with _marked(mark) as process:
        assert kill_ghosts() == 0
        assert process.poll() is None


def test_a_pid_that_was_given_out_anew_is_no_living_coordinator() -> None:
    with _marked(f"{pid_namespace()}:{os.getpid()}:0.0/a") as ghost:
        assert kill_ghosts() == 1
        assert ghost.wait(5) == -9


def test_marks_are_one_of_a_kind() -> None:
    code = "from sweep.strays import new_mark; print(new_mark())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len({new_mark(), new_mark(), done.stdout.strip()}) == 3
