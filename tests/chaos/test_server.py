"""A PostgreSQL that is stopped without notice in the middle of a run, and comes back."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from sweep.records import TrialState
from sweep.store.store import open_store
from tests.chaos.server import postgresql

_PATIENCE_S = 60.0


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _num_epochs(url: str) -> int:
    with open_store(url, create=True) as store:
        study = store.find_study("scripted")
        return 0 if study is None else len(store.snapshot(study.id).epochs)


def test_a_server_that_restarts_costs_no_epoch_and_no_worker(tmp_path: Path) -> None:
    with postgresql() as server:
        command = [sys.executable, "-m", "tests.chaos.coordinator", server.url, str(tmp_path)]
        run = subprocess.Popen([*command, "6", "2", "0.3"], stderr=subprocess.DEVNULL)
        try:
            _wait_until(lambda: _num_epochs(server.url) >= 3)
            before = {child.pid for child in psutil.Process(run.pid).children()}
            server.restart()
            num_epochs, back_at = _num_epochs(server.url), time.monotonic()
            _wait_until(lambda: _num_epochs(server.url) > num_epochs)
            assert time.monotonic() - back_at < 15.0
            assert {child.pid for child in psutil.Process(run.pid).children()} == before
            assert run.wait(_PATIENCE_S) == 0
        finally:
            run.kill()
            run.wait()
        with open_store(server.url, create=False) as store:
            snapshot = store.snapshot(store.study("scripted").id)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 6
    assert [trial.attempt for trial in snapshot.trials] == [1] * 6
    assert len(snapshot.epochs) == 30
