"""Overhead: how much of the slots' time is lost when a trial does nothing but sleep.

Trials of 1 s and of 10 s on 1 to 64 slots, all on this machine, beside plain Optuna with a process
for each slot on one SQLite file. From the start of the first trial to the end of the last one,
every slot could have slept; what it did not is lost: to workers that start later than the first,
to asking, storing and telling, and to slots that wait at the end. Then, by the size of a study,
how long asking, reporting and telling take (latency.py).
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import optuna

from benchmarks.command import run_command
from benchmarks.latency import latency_tables
from benchmarks.measure import interleaved, measure_of
from benchmarks.options import Options
from benchmarks.result import Row, Table
from benchmarks.scripted_run import what_happened

EPOCHS = 5
LENGTHS = {1.0: 20, 10.0: 5}
"""Trials on each slot, by the seconds of a trial."""
SLOTS = (1, 4, 16, 64)
MOST_PEERS = 16
"""A process of Optuna's for each of 64 slots would take minutes to start alone."""
QUICK_LENGTHS = {0.05: 2}
QUICK_SLOTS = (2,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """So many slots, and trials of so many seconds on each of them."""

    slots: int
    trial_s: float
    per_slot: int

    @property
    def trials(self) -> int:
        return self.slots * self.per_slot


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """Shares of the slots' time (0..1): lost in all, and lost while a trial ran."""

    in_all: float
    in_trials: float


def run(options: Options) -> Iterator[Table]:
    """Slot time lost, then the latencies."""
    lengths = QUICK_LENGTHS if options.quick else LENGTHS
    slots = QUICK_SLOTS if options.quick else SLOTS
    for trial_s, per_slot in lengths.items():
        cases = [Case(slots=each, trial_s=trial_s, per_slot=per_slot) for each in slots]
        rows = [row for case in cases for row in _rows(case, options)]
        yield Table(title=f"overhead: slot time lost, trials of {trial_s:g} s", rows=rows)
    yield from latency_tables(options)


def _rows(case: Case, options: Options) -> list[Row]:
    contenders: dict[str, Callable[[int], Lost]] = {"sweep": partial(_sweep, case)}
    if case.slots <= MOST_PEERS:
        contenders["optuna, a process a slot"] = partial(_optuna, case)
    return [
        {
            "slots": case.slots,
            "trials": case.trials,
            "by": name,
            "lost_percent": measure_of(100 * each.in_all for each in lost),
            "lost_in_trials_percent": measure_of(100 * each.in_trials for each in lost),
        }
        for name, lost in interleaved(contenders, options.num_rounds).items()
    ]


def _sweep(case: Case, number: int) -> Lost:
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        sizes = [str(case.slots), str(case.trials), str(EPOCHS), str(case.trial_s / EPOCHS)]
        command = [sys.executable, "-m", "benchmarks.scripted_run", folder, *sizes]
        run_command(command, Path(folder))
        attempts = what_happened(Path(folder)).attempts
    return _lost(case, [(each.started_at, each.finished_at) for each in attempts])


def _optuna(case: Case, number: int) -> Lost:
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        url = f"sqlite:///{folder}/optuna.db"
        command = [sys.executable, "-m", "benchmarks.peers.plain_optuna", "sleeping"]
        sizes = {
            "--storage": url,
            "--trials": case.trials,
            "--processes": case.slots,
            "--pruner": "none",
            "--epochs": EPOCHS,
            "--epoch-s": case.trial_s / EPOCHS,
        }
        flags = [str(word) for pair in sizes.items() for word in pair]
        run_command([*command, *flags], Path(folder))
        trials = optuna.load_study(study_name="peer", storage=url).trials
    return _lost(case, [(each.datetime_start, each.datetime_complete) for each in trials])


def _lost(case: Case, spans: list[tuple[datetime | None, datetime | None]]) -> Lost:
    whole = [(start, end) for start, end in spans if start is not None and end is not None]
    window = max(end for _, end in whole) - min(start for start, _ in whole)
    slept_s = case.trial_s * len(whole)
    busy_s = sum((end - start for start, end in whole), timedelta()).total_seconds()
    slot_s = case.slots * window.total_seconds()
    return Lost(in_all=1 - slept_s / slot_s, in_trials=(busy_s - slept_s) / slot_s)
