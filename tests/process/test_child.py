"""A look at code of a user's: nothing that it starts outlives the command that looks."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from sweep.fleet.child import run_child
from tests.process.commands import PATIENCE_S, is_gone, sweep, wait_for_file, wait_until

CODE = """
import os, subprocess, sys, time
from pathlib import Path

sleeper = subprocess.Popen(["sleep", "600"], start_new_session={apart})
here = Path(__file__).parent
(here / "story.txt").write_text("")
(here / "beside").write_text(f"{{os.getpid()}} {{sleeper.pid}}")
(here / "beside").rename(here / "pids")
time.sleep({sleep})

def train(params, device, state=None):
    yield {{"test_accuracy": 0.5}}
"""
STUDY = """
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {x: {choices: [1, 2]}}
"""


def write_study(folder: Path, *, sleep: int, apart: bool = False) -> None:
    (folder / "mine.py").write_text(dedent(CODE).format(sleep=sleep, apart=apart))
    (folder / "mine.yaml").write_text(STUDY)


def wait_until_gone(folder: Path) -> None:
    for pid in map(int, (folder / "pids").read_text().split()):
        wait_until(f"the end of {pid}", lambda pid=pid: is_gone(pid), folder)


@pytest.mark.parametrize("apart", [False, True])
def test_what_a_killed_command_looked_at_is_killed_too(tmp_path: Path, apart: bool) -> None:
    write_study(tmp_path, sleep=600, apart=apart)
    code = "from sweep.cli.entry import main; main()"
    command = [sys.executable, "-c", code, "check", "mine.yaml"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        wait_for_file(tmp_path / "pids", tmp_path)
        process.kill()
    wait_until_gone(tmp_path)


def test_what_the_code_leaves_behind_ends_with_the_look_at_it(tmp_path: Path) -> None:
    write_study(tmp_path, sleep=0)
    done = sweep(tmp_path, "check", "mine.yaml")
    assert done.returncode == 0, done.stderr
    wait_until_gone(tmp_path)


def test_a_child_that_takes_too_long_is_killed_with_all_it_started(tmp_path: Path) -> None:
    write_study(tmp_path, sleep=600)
    recipe = f'{{"train": "{tmp_path}/mine.py:train"}}'
    with pytest.raises(subprocess.TimeoutExpired):
        run_child("sweep.worker.recipe_check", recipe, patience_s=PATIENCE_S / 6)
    wait_until_gone(tmp_path)
