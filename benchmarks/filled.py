"""Filled store: a made-up study of any size, as a run of the shipped search would leave it.

The rows are inserted in bulk, past the verbs of the store: 300,000 epochs one by one would take
the better part of an hour. What is inserted is what the verbs would have stored.
"""

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Table, insert

from sweep.records import (
    Attempt,
    Cause,
    Checkpoint,
    Epoch,
    NewStudy,
    Params,
    ParamValue,
    Snapshot,
    Trial,
    TrialState,
)
from sweep.space.distributions import Categorical, Constant, Distribution, Float
from sweep.spec.find import find_study_file
from sweep.spec.load import load_study_file
from sweep.spec.study import BudgetSpec, StudySpec
from sweep.store import rows, schema
from sweep.store.database import Database
from sweep.store.store import open_store
from sweep.store.url import locate
from sweep.tuner.samplers import trial_seed

STUDY = "lr_bs_opt"
START = datetime(2026, 12, 1, tzinfo=UTC)
EPOCH_S = 10.0
SLOTS = 8
ATTRS = {"tpe:made_up": 0}


def filled_spec(num_trials: int) -> StudySpec:
    """The shipped search with so many trials, none of them enqueued, and no other limit."""
    spec = load_study_file(find_study_file(STUDY, Path("/")))
    return replace(spec, enqueue=(), budget=BudgetSpec(trials=num_trials))


def fill(url: str, num_trials: int, num_epochs: int) -> Snapshot:
    """A study of finished trials is stored, each with so many epochs; as it was read back."""
    spec = filled_spec(num_trials)
    with open_store(url, create=True) as store:
        study = store.create_study(_new_study(spec))
        _insert(url, study.id, list(trials_of(spec, num_trials, num_epochs)), num_epochs)
        return store.snapshot(study.id)


def trials_of(spec: StudySpec, num_trials: int, num_epochs: int) -> Iterator[Trial]:
    """Finished trials: of twenty, twelve complete, seven pruned and one that diverged."""
    draw = random.Random(0)
    for number in range(num_trials):
        params = _point(spec, draw)
        start = START + timedelta(seconds=number // SLOTS * EPOCH_S * num_epochs)
        state = _state(number)
        yield Trial(
            number=number,
            state=state,
            params=params,
            seed=trial_seed(spec.search.seed, number),
            space_version=1,
            attempt=1,
            cause=Cause.DIVERGED if state is TrialState.FAILED else None,
            value=None if state is TrialState.FAILED else _accuracy(params, num_epochs - 1),
            created_at=start,
            started_at=start,
            finished_at=start + timedelta(seconds=EPOCH_S * num_epochs),
        )


def epochs_of(trial: Trial, num_epochs: int) -> Iterator[Epoch]:
    """The epochs of a trial, with the metrics and checkpoints of the built-in training."""
    assert trial.started_at is not None
    for epoch in range(num_epochs):
        accuracy = _accuracy(trial.params, epoch)
        path = f"/home/somebody/sweeps/runs/{STUDY}/{trial.number}/a1-e{epoch}.pt"
        yield Epoch(
            trial=trial.number,
            attempt=1,
            epoch=epoch,
            metrics={
                "train_loss": -math.log(accuracy),
                "train_accuracy": accuracy,
                "test_loss": -math.log(accuracy) + 0.01,
                "test_accuracy": accuracy,
            },
            lr=float(trial.params["lr"]),
            epoch_s=EPOCH_S,
            images_per_s=5000.0 + epoch,
            peak_memory_bytes=700_000_000 + epoch,
            checkpoint=Checkpoint(
                epoch=epoch, path=path, sha256=hashlib.sha256(path.encode()).hexdigest()
            ),
            stored_at=trial.started_at + timedelta(seconds=EPOCH_S * (epoch + 1)),
        )


def _new_study(spec: StudySpec) -> NewStudy:
    return NewStudy(
        name=spec.study,
        spec=spec.to_json(),
        spec_hash=spec.hash,
        metric=spec.objective.metric,
        direction=spec.objective.direction,
        seed=spec.search.seed,
        versions={"sweep": "made-up"},
        git_commit=None,
    )


def _insert(url: str, study_id: int, trials: list[Trial], num_epochs: int) -> None:
    database = Database(locate(url))
    try:
        _insert_into(database, schema.trials, [_trial_columns(study_id, each) for each in trials])
        attempts = [_attempt_columns(study_id, each) for each in trials]
        _insert_into(database, schema.attempts, attempts)
        for first in range(0, len(trials), 500):
            epochs = [
                {"study_id": study_id, **rows.epoch_columns(epoch)}
                for trial in trials[first : first + 500]
                for epoch in epochs_of(trial, num_epochs)
            ]
            _insert_into(database, schema.epochs, epochs)
    finally:
        database.close()


def _insert_into(database: Database, table: Table, values: list[dict[str, object]]) -> None:
    database.write(lambda connection: connection.execute(insert(table), values))


def _trial_columns(study_id: int, trial: Trial) -> dict[str, object]:
    return {
        "study_id": study_id,
        "number": trial.number,
        "state": trial.state,
        "params": rows.to_json(trial.params),
        "seed": trial.seed,
        "space_version": trial.space_version,
        "attempt": trial.attempt,
        "enqueued": trial.enqueued,
        "cause": trial.cause,
        "value": trial.value,
        "message": trial.message,
        "tuner_attrs": rows.to_json(trial.tuner_attrs),
        "created_at": trial.created_at,
        "started_at": trial.started_at,
        "finished_at": trial.finished_at,
    }


def attempt_of(trial: Trial) -> Attempt:
    """The one attempt of a made-up trial."""
    assert trial.started_at is not None
    return Attempt(
        trial=trial.number,
        attempt=1,
        state=trial.state,
        cause=trial.cause,
        device=f"GPU-00000000-0000-0000-0000-{trial.number % SLOTS:012}",
        host="box",
        pid=4711,
        num_slots=SLOTS,
        log=f"/home/somebody/sweeps/runs/{STUDY}/{trial.number}/a1.log",
        started_at=trial.started_at,
        finished_at=trial.finished_at,
    )


def _attempt_columns(study_id: int, trial: Trial) -> dict[str, object]:
    attempt = attempt_of(trial)
    fields = {name: getattr(attempt, name) for name in Attempt.__dataclass_fields__}
    return {"study_id": study_id, "claim": f"made-up-{trial.number}", **fields}


def _state(number: int) -> TrialState:
    if number % 20 == 19:
        return TrialState.FAILED
    return TrialState.PRUNED if number % 20 >= 12 else TrialState.COMPLETE


def _point(spec: StudySpec, draw: random.Random) -> Params:
    params: dict[str, ParamValue] = {}
    for param in spec.space.params:
        params[param.name] = _value(param.distribution(params), draw)
    return {name: params[name] for name in spec.space.names}


def _value(distribution: Distribution, draw: random.Random) -> ParamValue:
    match distribution:
        case Constant(value=value):
            return value
        case Categorical(choices=choices):
            return draw.choice(choices)
        case Float(low=low, high=high):
            return float(low * (high / low) ** draw.random())
    raise AssertionError(f"the shipped search has no {distribution}")


def _accuracy(params: Params, epoch: int) -> float:
    """A curve that rises to a height of its own: best at a middling rate and small batches."""
    off = abs(math.log10(float(params["lr"])) + 2) + int(params["batch_size"]) / 2048
    return (0.95 - 0.1 * off) * (1 - 0.8 * 0.8 ** (epoch + 1))
