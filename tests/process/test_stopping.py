"""Stopping and dying, with the installed command: nothing is lost and nothing is left behind."""

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.process.commands import (
    family,
    interrupt,
    is_gone,
    psutil_process,
    sweep,
    sweep_run,
    wait_for_file,
    wait_for_line,
    wait_until,
    workers,
)

TRAIN = """\
import os, subprocess, sys, time
from pathlib import Path

def train(params, device, state=None):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    done = 0 if state is None else state["done"]
    for epoch in range(done, params["epochs"]):
        time.sleep(params["pause"])
        yield {"test_accuracy": params["quality"] * (epoch + 1)}, {"done": epoch + 1}
    child.kill()
    child.wait()
"""
STUDY = """\
train: ./mine.py:train
objective: {metric: test_accuracy, direction: maximize}
space: {quality: {type: float, low: 0.1, high: 1.0}}
training: {epochs: 4, pause: 0.3}
search: {sampler: random}
budget: {trials: 3}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study whose every trial starts a child of its own."""
    (tmp_path / "mine.py").write_text(TRAIN)
    (tmp_path / "mine.yaml").write_text(STUDY)
    return tmp_path


RUN = ("--study", "mine.yaml", "--cpu", "2")


def _rows(folder: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "runs" / "sweep.db") as connection:
        rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def _wait_for_epochs(folder: Path, count: int) -> None:
    database = folder / "runs" / "sweep.db"
    wait_for_file(database, folder)
    wait_until("the tables", lambda: _has_tables(folder), folder)
    wait_until(
        f"{count} epochs",
        lambda: _rows(folder, "SELECT count(*) FROM sweep_epochs")[0][0] >= count,
        folder,
    )


def _has_tables(folder: Path) -> bool:
    return bool(_rows(folder, "SELECT 1 FROM sqlite_master WHERE name = 'sweep_epochs'"))


def _assert_all_done(folder: Path) -> None:
    assert _rows(folder, "SELECT state FROM sweep_trials") == [("complete",)] * 3
    epochs = _rows(
        folder,
        "SELECT trial, epoch, count(*) FROM sweep_epochs GROUP BY trial, epoch ORDER BY 1, 2",
    )
    assert epochs == [(trial, epoch, 1) for trial in range(3) for epoch in range(4)]


def test_a_killed_coordinator_leaves_nothing_behind_and_the_same_command_goes_on(
    folder: Path,
) -> None:
    with sweep_run(folder, *RUN) as process:
        _wait_for_epochs(folder, 3)
        left = [each.pid for each in family(process.pid)]
        assert len(left) >= 4, "two workers and a child of each"
        process.kill()
        process.wait()
        wait_until("every process to end", lambda: all(map(is_gone, left)), folder)
    with sweep_run(folder, *RUN) as process:
        assert process.wait(60) == 0
    _assert_all_done(folder)
    interrupted = "SELECT DISTINCT cause FROM sweep_attempts WHERE state = 'failed'"
    assert _rows(folder, interrupted) == [("cancelled",)]


def test_a_killed_worker_is_replaced_and_its_trial_loses_at_most_an_epoch(folder: Path) -> None:
    with sweep_run(folder, *RUN) as process:
        _wait_for_epochs(folder, 2)
        victim = workers(process.pid)[0]
        children = [each.pid for each in victim.children()]
        victim.kill()
        assert process.wait(60) == 0
        wait_until("the victim's child to end", lambda: all(map(is_gone, children)), folder)
    _assert_all_done(folder)
    lost = "SELECT message FROM sweep_attempts WHERE cause = 'lost'"
    assert _rows(folder, lost) == [("the worker was killed by signal 9 (SIGKILL)",)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_signal_lets_each_trial_reach_its_next_epoch(
    folder: Path, number: signal.Signals, code: int
) -> None:
    with sweep_run(folder, *RUN) as process:
        _wait_for_epochs(folder, 2)
        left = [each.pid for each in family(process.pid)]
        os.kill(process.pid, number)
        assert process.wait(60) == code
        wait_until("every process to end", lambda: all(map(is_gone, left)), folder)
    states = {state for (state,) in _rows(folder, "SELECT state FROM sweep_trials")}
    assert "running" not in states
    assert "waiting" in states
    with sweep_run(folder, *RUN) as process:
        assert process.wait(60) == 0
    _assert_all_done(folder)


def test_a_second_ctrl_c_ends_a_trial_that_takes_too_long(folder: Path) -> None:
    with sweep_run(folder, *RUN, "--set", "training.pause=600") as process:
        wait_for_line("trial 0 starts", folder)
        left = [each.pid for each in family(process.pid)]
        interrupt(process)
        wait_for_line("SIGINT", folder)
        interrupt(process)
        assert process.wait(10) == 130
        wait_until("every process to end", lambda: all(map(is_gone, left)), folder)
    assert {state for (state,) in _rows(folder, "SELECT state FROM sweep_trials")} == {"waiting"}


def test_a_trial_that_misses_its_grace_is_ended(folder: Path) -> None:
    with sweep_run(folder, *RUN, "--set", "training.pause=600", "--grace", "1s") as process:
        wait_for_line("trial 0 starts", folder)
        interrupt(process)
        assert process.wait(20) == 130


def test_sweep_stop_ends_a_run_from_another_shell(folder: Path) -> None:
    with sweep_run(folder, *RUN) as process:
        _wait_for_epochs(folder, 1)
        stop = sweep(folder, "stop", "--study", "mine")
        assert stop.returncode == 0, stop.stderr
        assert process.wait(30) == 0
    assert "running" not in {s for (s,) in _rows(folder, "SELECT state FROM sweep_trials")}


def test_sweep_stop_now_does_not_wait_for_an_epoch(folder: Path) -> None:
    with sweep_run(folder, *RUN, "--set", "training.pause=600") as process:
        wait_for_line("trial 0 starts", folder)
        stop = sweep(folder, "stop", "--study", "mine", "--now")
        assert stop.returncode == 0, stop.stderr
        assert process.wait(10) == 0


def test_a_second_run_of_a_led_study_is_refused_with_exit_5(folder: Path) -> None:
    with sweep_run(folder, *RUN) as process:
        _wait_for_epochs(folder, 1)
        second = sweep(folder, "run", *RUN)
        assert second.returncode == 5
        assert f"led by pid {process.pid} on " in second.stderr
        assert len(second.stderr.strip().splitlines()) == 1


def test_an_ignored_hangup_stays_ignored(folder: Path) -> None:
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with sweep_run(folder, *RUN) as process:
            _wait_for_epochs(folder, 1)
            os.kill(process.pid, signal.SIGHUP)
            assert process.wait(60) == 0
    finally:
        signal.signal(signal.SIGHUP, previous)
    _assert_all_done(folder)


def test_a_detached_run_outlives_its_shell_and_is_stopped_by_name(folder: Path) -> None:
    done = sweep(folder, "run", "--study", "mine.yaml", "--cpu", "1", "--detach")
    assert done.returncode == 0, done.stderr
    first, _, *commands = done.stdout.splitlines()
    pid = int(first.partition(" as pid ")[2].partition(";")[0])
    assert first.endswith(str(folder / "runs" / "mine" / "run.log"))
    assert [line.partition("sweep ")[2] for line in commands] == [
        "status --study mine --watch",
        "logs --study mine --trial 0 -f",
        "stop --study mine",
    ]
    try:
        assert os.getsid(pid) == pid
        os.kill(pid, signal.SIGHUP)
        _wait_for_epochs(folder, 2)
        assert sweep(folder, *commands[2].partition("sweep ")[2].split()).returncode == 0
        wait_until("the end", lambda: is_gone(pid), folder)
    finally:
        process = psutil_process(pid)
        if process is not None:
            process.kill()
    assert "stopped by `sweep stop`" in (folder / "runs" / "mine" / "run.log").read_text()


def test_a_detached_run_that_cannot_begin_says_why(folder: Path) -> None:
    (folder / "mine.py").write_text("import nothing_of_that_name\n")
    done = sweep(folder, "run", "--study", "mine.yaml", "--cpu", "1", "--detach")
    assert done.returncode == 2
    assert "nothing_of_that_name" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "runs" / "sweep.db").exists()
