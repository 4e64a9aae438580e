"""Havoc: a study whose coordinator, workers and database are killed and frozen at random moments.

A kill counts as landed when it hit a process while a trial was running. What was finished before a
kill is compared with what is stored at the end.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.folders import study_folder
from sweep.coordinator.inspection import inspect
from sweep.errors import SweepError
from sweep.records import Snapshot, Trial, TrialState
from sweep.store.store import open_store
from tests.chaos.coordinator import EPOCHS

_PATIENCE_S = 90.0
_GONE_S = 10.0
_CLOSE_S = 30.0


@dataclass(kw_only=True)
class Toll:
    """What was done to a study, and what it lost."""

    trials: int = 0
    kills: int = 0
    landed: int = 0
    lost: int = 0
    doubled: int = 0
    holes: int = 0
    leftovers: int = 0
    findings: list[str] = field(default_factory=list)
    recoveries_s: list[float] = field(default_factory=list)

    @property
    def slowest_s(self) -> float:
        """The longest time from a kill to the next sign of training."""
        return max(self.recoveries_s, default=0.0)

    def __str__(self) -> str:
        return (
            f"{self.trials} trials, {self.kills} kills ({self.landed} of them inside a trial): "
            f"{self.lost} lost, {self.doubled} doubled, {self.holes} holes, "
            f"{self.leftovers} processes left, recovered in {self.slowest_s:.1f} s at most; "
            f"the doctor finds {'; '.join(self.findings) or 'nothing'}"
        )

    @property
    def is_clean(self) -> bool:
        """Whether nothing was lost, doubled or left behind, and the study is in order."""
        counts = (self.lost, self.doubled, self.holes, self.leftovers)
        return counts == (0, 0, 0, 0) and not self.findings


class Havoc:
    """One study under fire. `restart_server` stops a database server at once and starts it."""

    def __init__(
        self,
        *,
        url: str,
        folder: Path,
        trials: int,
        slots: int,
        seed: int,
        epoch_s: float = 0.2,
        restart_server: Callable[[], None] | None = None,
    ) -> None:
        self._url = url
        self._folder = folder
        self._arguments = [url, str(folder), str(trials), str(slots), str(epoch_s)]
        self._random = random.Random(seed)
        self._process: subprocess.Popen[bytes] | None = None
        self._finished: dict[int, Trial] = {}
        self._restart_server = restart_server
        self.toll = Toll(trials=trials)

    def run(self, kills: int) -> Toll:
        """So many kills, then peace until the study is done; the toll."""
        try:
            self._start()
            while self.toll.kills < kills and not self._is_done():
                time.sleep(self._random.uniform(0.2, 1.2))
                self._strike()
            self._finish()
        finally:
            self._end()
        self._count(self._snapshot())
        return self.toll

    def _strike(self) -> None:
        self._keep_running()
        before = self._snapshot()
        self._remember(before)
        is_inside = any(trial.state is TrialState.RUNNING for trial in before.trials)
        struck_at = time.monotonic()
        choices = [self._kill_worker, self._kill_coordinator, self._freeze_worker]
        choices += [self._freeze_coordinator]
        if self._restart_server is not None:
            choices += [self._restart_server]
        self._random.choice(choices)()
        self.toll.kills += 1
        self.toll.landed += is_inside
        self._await_training(before, struck_at)

    def _kill_worker(self) -> None:
        if workers := self._started():
            _signal(self._random.choice(workers).pid, signal.SIGKILL)

    def _kill_coordinator(self) -> None:
        assert self._process is not None
        started = self._started(recursive=True)
        self._process.kill()
        self._process.wait()
        _, alive = psutil.wait_procs(started, timeout=_GONE_S)
        self.toll.leftovers += len(alive)
        self._start()

    def _freeze_worker(self) -> None:
        if workers := self._started():
            self._freeze(self._random.choice(workers).pid)

    def _freeze_coordinator(self) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._freeze(self._process.pid)

    def _freeze(self, pid: int) -> None:
        _signal(pid, signal.SIGSTOP)
        time.sleep(self._random.uniform(0.2, 1.5))
        _signal(pid, signal.SIGCONT)

    def _await_training(self, before: Snapshot, struck_at: float) -> None:
        """Wait for the next epoch after a kill, or the end of the study."""
        known = len(before.epochs), len(before.attempts)
        while not self._is_done():
            self._keep_running()
            now = self._snapshot()
            if (len(now.epochs), len(now.attempts)) != known:
                self.toll.recoveries_s.append(time.monotonic() - struck_at)
                return
            if time.monotonic() - struck_at > _PATIENCE_S:
                raise AssertionError(f"no training for {_PATIENCE_S} s; see {self._story}")
            time.sleep(0.1)

    def _finish(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S + 2.0 * self.toll.trials
        while not self._is_done():
            self._keep_running()
            if time.monotonic() > deadline:
                raise AssertionError(f"the study is not done in time; see {self._story}")
            time.sleep(0.2)

    def _start(self) -> None:
        with self._story.open("ab") as story:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.coordinator", *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=story,
                stderr=story,
                start_new_session=True,
            )

    def _keep_running(self) -> None:
        """A coordinator that gave up, as without its database it may, is started again."""
        assert self._process is not None
        if self._process.poll() is not None and not self._is_done():
            self._start()

    def _end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSE_S)
            self._process.kill()
            self._process.wait()

    def _started(self, *, recursive: bool = False) -> list[psutil.Process]:
        """What the coordinator has started: nothing where it has just ended by itself."""
        assert self._process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=recursive)
        return []

    def _is_done(self) -> bool:
        trials = self._snapshot().trials
        return sum(trial.state.is_finished for trial in trials) >= self.toll.trials

    def _snapshot(self) -> Snapshot:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            try:
                with open_store(self._url, create=False) as store:
                    return store.snapshot(store.study("scripted").id)
            except SweepError:  # not there yet, or just being restarted
                if time.monotonic() > deadline:
                    raise
                self._restart_if_dead()
                time.sleep(0.1)

    def _restart_if_dead(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            self._start()

    @property
    def _story(self) -> Path:
        return self._folder / "story.txt"

    def _remember(self, snapshot: Snapshot) -> None:
        finished = {each.number: each for each in snapshot.trials if each.state.is_finished}
        self.toll.lost += sum(finished.get(n) != trial for n, trial in self._finished.items())
        self._finished = finished

    def _count(self, end: Snapshot) -> None:
        self._remember(end)
        self.toll.doubled += _num_doubled(end)
        self.toll.holes += _num_holes(end, self.toll.trials)
        folder = study_folder(self._folder / "runs", "scripted", self._url)
        with open_store(self._url, create=False) as store:
            facts = inspect(store, end.study, folder, is_led=False)
        self.toll.findings += [
            f"{each.trial}: {each.message}" for each in check_consistency(facts)
        ]


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _num_doubled(end: Snapshot) -> int:
    """Epochs and attempts that count twice: two attempts of a trial that ran at the same time."""
    keys = [(each.trial, each.epoch) for each in end.epochs]
    overlaps = 0
    for first, second in zip(end.attempts, end.attempts[1:], strict=False):
        is_same = first.trial == second.trial
        overlaps += is_same and (first.finished_at or second.started_at) > second.started_at
    return len(keys) - len(set(keys)) + overlaps


def _num_holes(end: Snapshot, trials: int) -> int:
    """Trials and epochs that are missing, and values that are not those of an unbroken run."""
    epochs: Mapping[int, list[float | None]] = {
        trial.number: [
            each.metrics["test_accuracy"] for each in end.epochs if each.trial == trial.number
        ]
        for trial in end.trials
    }
    missing = sum(trial.number != index for index, trial in enumerate(end.trials))
    missing += abs(trials - len(end.trials))
    return missing + sum(not _is_whole(trial, epochs[trial.number]) for trial in end.trials)


def _is_whole(trial: Trial, values: list[float | None]) -> bool:
    quality = trial.params["quality"]
    assert isinstance(quality, float)
    expected = [quality * (1 - 0.5 ** (epoch + 1)) for epoch in range(EPOCHS)]
    return trial.state is TrialState.COMPLETE and values == expected
