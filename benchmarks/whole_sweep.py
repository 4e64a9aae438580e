"""Sweep: the whole quickstart as a user has it, from the command to its end, beside plain Optuna.

`sweep run --study quickstart` in an empty folder against the same 20 trials written with Optuna
(peers/plain_optuna.py), each in a process of its own that is started cold: imports count. The
machine's slots are what the study takes by default; a peer of one process may use all cores and
counts as that many slots. Also without pruning, which says what pruning saves and what it costs.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import optuna

from benchmarks.command import SWEEP, run_command
from benchmarks.measure import Measure, interleaved, measure_of
from benchmarks.options import Options
from benchmarks.result import Row, Table
from sweep.fleet.slots import default_cpu_count
from sweep.records import Snapshot, TrialState
from sweep.store.store import open_store

TRIALS, EPOCHS = 20, 6
QUICK_TRIALS, QUICK_EPOCHS = 2, 2
OURS, OURS_UNPRUNED = "sweep", "sweep, no pruning"
PEERS = {
    "optuna, no pruning": ("--pruner", "none"),
    "optuna": (),
    "optuna, a process a slot": ("--processes", str(default_cpu_count())),
}
"""What plain Optuna is told, by the contender's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """One search from start to end: wall clock, CPU time, epochs trained, best accuracy."""

    seconds: float
    cpu_s: float
    epochs: int
    best: float


def run(options: Options) -> Iterator[Table]:
    """What a search takes and reaches; then what pruning saved and what it cost."""
    found = interleaved(_contenders(options), options.num_seeds)
    num_slots = default_cpu_count()
    yield Table(
        title=f"sweep: the quickstart, {num_slots} slots, {options.num_seeds} seeds",
        rows=_rows(found, num_slots),
    )
    yield Table(title="sweep: what pruning saves", rows=[_pruning(found)])


def _contenders(options: Options) -> dict[str, Callable[[int], Search]]:
    size = (QUICK_TRIALS, QUICK_EPOCHS) if options.quick else (TRIALS, EPOCHS)
    unpruned = ("--set", "search.pruner={name: none}")
    return {
        OURS: partial(_sweep, *size, ()),
        OURS_UNPRUNED: partial(_sweep, *size, unpruned),
        **{name: partial(_optuna, *size, flags) for name, flags in PEERS.items()},
    }


def _rows(found: dict[str, list[Search]], num_slots: int) -> list[Row]:
    seconds = {name: _of(searches, "seconds") for name, searches in found.items()}
    best_peer = measure_of(map(min, zip(*(seconds[name].rounds for name in PEERS), strict=True)))
    return [
        {
            "search": name,
            "wall_s": seconds[name],
            "cpu_s": _of(searches, "cpu_s"),
            "epochs": _of(searches, "epochs"),
            "slot_s_per_epoch": measure_of(
                num_slots * search.seconds / search.epochs for search in searches
            ),
            "best_accuracy": _of(searches, "best"),
            "of_the_best_peer": seconds[name].over(best_peer),
        }
        for name, searches in found.items()
    ]


def _pruning(found: dict[str, list[Search]]) -> Row:
    pairs = list(zip(found[OURS], found[OURS_UNPRUNED], strict=True))
    lost = [whole.best - pruned.best for pruned, whole in pairs]
    return {
        "epochs_saved": measure_of(1 - pruned.epochs / whole.epochs for pruned, whole in pairs),
        "seconds_saved": measure_of(1 - pruned.seconds / whole.seconds for pruned, whole in pairs),
        "accuracy_lost": measure_of(lost),
        "mean_accuracy_lost": mean(lost),
    }


def _of(searches: Sequence[Search], name: str) -> Measure:
    return measure_of(float(getattr(search, name)) for search in searches)


def _sweep(trials: int, epochs: int, flags: Sequence[str], seed: int) -> Search:
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        command = [SWEEP, "run", "--study", "quickstart", "--seed", str(seed), *flags]
        if (trials, epochs) != (TRIALS, EPOCHS):
            command += ["--trials", str(trials), "--set", f"training.epochs={epochs}"]
        took = run_command(command, Path(folder))
        with open_store(f"sqlite:///{folder}/runs/sweep.db", create=False) as store:
            snapshot = store.snapshot(store.study("quickstart").id)
    return Search(
        seconds=took.seconds,
        cpu_s=took.cpu_s,
        epochs=len(snapshot.epochs),
        best=_best_complete(snapshot),
    )


def _best_complete(snapshot: Snapshot) -> float:
    complete = (trial for trial in snapshot.trials if trial.state is TrialState.COMPLETE)
    return max(trial.value or 0.0 for trial in complete)


def _optuna(trials: int, epochs: int, flags: Sequence[str], seed: int) -> Search:
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        url = f"sqlite:///{folder}/optuna.db"
        command = [sys.executable, "-m", "benchmarks.peers.plain_optuna", "digits", *flags]
        size = ["--trials", str(trials), "--epochs", str(epochs)]
        took = run_command([*command, "--storage", url, *size, "--seed", str(seed)], Path(folder))
        study = optuna.load_study(study_name="peer", storage=url)
    return Search(
        seconds=took.seconds,
        cpu_s=took.cpu_s,
        epochs=sum(len(trial.intermediate_values) for trial in study.trials),
        best=study.best_value,
    )
