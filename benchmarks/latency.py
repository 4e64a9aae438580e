"""Latency: how long the coordinator takes to ask, report and tell, by the size of a study.

On a study of so many finished trials, filled in bulk, new trials are led through their lives by
the ledger, as the coordinator's loop does, with the projection beside it. An ask is the sampler's
draw and the new trial in the store; a report is an epoch in the store and the pruner's verdict; a
tell is the end in the store and the tuner. The tuner's own share is measured apart. The lag of
the projection is the time until Optuna's tables show the end of a trial.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import sqlalchemy

from benchmarks.filled import STUDY, fill, filled_spec
from benchmarks.filled_optuna import fill_optuna
from benchmarks.measure import quantile
from benchmarks.options import Options
from benchmarks.postgresql import postgresql
from benchmarks.result import Row, Table
from sweep import clock
from sweep.coordinator.leading import lead
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.plan import Plan
from sweep.coordinator.signals import Signals
from sweep.fleet.slots import cpu_slots
from sweep.records import Epoch, Trial, TrialState
from sweep.spec.study import StudySpec
from sweep.store.entries import Place
from sweep.store.store import open_store
from sweep.tuner.tuner import Tuner

SIZES = (100, 1_000, 10_000)
EPOCHS = 30
NEW_TRIALS, NEW_EPOCHS = 100, 10
QUICK_SIZES, QUICK_NEW = (20,), 2
LAG_WITHIN_S = 300.0

Times: TypeAlias = dict[str, list[float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopwatch:
    """Seconds of what was done, by its name."""

    times: Times = field(default_factory=dict)

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.times.setdefault(name, []).append(time.perf_counter() - started)


def latency_tables(options: Options) -> Iterator[Table]:
    """The tuner alone, then the coordinator on SQLite and on PostgreSQL."""
    sizes = QUICK_SIZES if options.quick else SIZES
    new_trials = QUICK_NEW if options.quick else NEW_TRIALS
    rows: dict[str, list[Row]] = {"tuner alone": [], "SQLite": [], "PostgreSQL": []}
    for size in sizes:
        with TemporaryDirectory(prefix="sweep-bench-") as folder:
            url = f"sqlite:///{folder}/sweep.db"
            times = _tuner_times(url, size, new_trials)
            rows["tuner alone"] += _rows(size, times)
            rows["SQLite"] += _rows(size, _ledger_times(url, size, new_trials, Path(folder)))
    with postgresql() as databases, TemporaryDirectory(prefix="sweep-bench-") as folder:
        for size in sizes:
            url = next(databases)
            fill_both(url, size)
            rows["PostgreSQL"] += _rows(size, _ledger_times(url, size, new_trials, Path(folder)))
    for where, found in rows.items():
        yield Table(title=f"overhead: latency, {where}", rows=found)


def fill_both(url: str, size: int) -> None:
    """A study of `size` finished trials is stored, and its projection."""
    fill_optuna(url, fill(url, size, EPOCHS))


def _rows(size: int, times: Times) -> list[Row]:
    return [
        {
            "trials": size,
            "of": name,
            "samples": len(seconds),
            "median_ms": 1000 * quantile(seconds, 0.5),
            "p99_ms": 1000 * quantile(seconds, 0.99),
            "most_ms": 1000 * max(seconds),
        }
        for name, seconds in times.items()
    ]


def _tuner_times(url: str, size: int, new_trials: int) -> Times:
    """The store is filled here, and used by who comes next."""
    fill_both(url, size)
    spec = filled_spec(size + new_trials)
    with open_store(url, create=False) as store:
        study_id = store.study(STUDY).id
        trials, values = store.trials(study_id), store.values(study_id, spec.objective.metric)
    tuner = Tuner(space=spec.space, search=spec.search, direction=spec.objective.direction)
    watch = Stopwatch()
    with watch.on("restore"):
        tuner.restore(trials, values)
    for number in range(size, size + new_trials):
        began = time.perf_counter()
        with watch.on("ask"):
            tuner.ask(number)
            tuner.attrs(number)
        asked_s = time.perf_counter() - began
        for epoch in range(NEW_EPOCHS):
            with watch.on("report"):
                tuner.report(number, epoch, _value(number, epoch))
                tuner.should_prune(number)
                tuner.attrs(number)
        began = time.perf_counter()
        with watch.on("tell"):
            tuner.tell(number, TrialState.COMPLETE, None, _value(number, NEW_EPOCHS - 1))
        told_s = time.perf_counter() - began
        watch.times.setdefault("ask and tell", []).append(asked_s + told_s)
    return watch.times


def _ledger_times(url: str, size: int, new_trials: int, folder: Path) -> Times:
    watch = Stopwatch()
    spec = filled_spec(size + new_trials)
    plan = Plan(spec=spec, url=url, run_folder=folder / "runs", slots=cpu_slots(1))
    engine = sqlalchemy.create_engine(_driver_url(url))
    with lead(plan, Signals(), {}) as led:
        _wait_for_projection(engine, None)
        for _ in range(new_trials):
            trial = _live(led.ledger, spec, watch)
            with watch.on("projection lag"):
                _wait_for_projection(engine, trial.number)
    engine.dispose()
    asked, told = watch.times["ask"], watch.times["tell"]
    watch.times["ask and tell"] = [sum(pair) for pair in zip(asked, told, strict=True)]
    return watch.times


def _live(ledger: Ledger, spec: StudySpec, watch: Stopwatch) -> Trial:
    """One trial from ask to tell."""
    with watch.on("ask"):
        asked = ledger.ask()
    assert asked is not None
    with watch.on("start"):
        place = Place(device="cpu", host="here", pid=1, num_slots=1, log="log")
        trial = ledger.start(asked, place)
    for number in range(NEW_EPOCHS):
        epoch = _epoch(trial, number, spec.objective.metric)
        with watch.on("report"):
            ledger.store_epoch(epoch)
            ledger.judge(epoch)
    with watch.on("tell"):
        return ledger.finish(trial, TrialState.COMPLETE)


def _epoch(trial: Trial, number: int, metric: str) -> Epoch:
    return Epoch(
        trial=trial.number,
        attempt=trial.attempt,
        epoch=number,
        metrics={metric: _value(trial.number, number), "train_loss": 0.5},
        lr=0.1,
        epoch_s=1.0,
        images_per_s=1000.0,
        peak_memory_bytes=1,
        checkpoint=None,
        stored_at=clock.utc_now(),
    )


def _value(number: int, epoch: int) -> float:
    return (0.5 + 0.4 * (number * 37 % 100) / 100) * (1 - 0.8 ** (epoch + 1))


def _wait_for_projection(engine: sqlalchemy.Engine, number: int | None) -> None:
    """Optuna's tables show the trial's end; for None, as many ended trials as there are."""
    question = "SELECT COUNT(*) FROM trials WHERE state IN ('COMPLETE', 'PRUNED', 'FAIL')"
    if number is not None:
        question += f" AND number = {number}"
    else:
        question = f"SELECT ({question}) >= (SELECT COUNT(*) FROM sweep_trials)"
    deadline = time.monotonic() + LAG_WITHIN_S
    while time.monotonic() < deadline:
        with engine.connect() as connection:
            if connection.scalar(sqlalchemy.text(question)):
                return
        time.sleep(0.001)
    raise AssertionError(f"Optuna's tables lag by more than {LAG_WITHIN_S:g} s")


def _driver_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://")
