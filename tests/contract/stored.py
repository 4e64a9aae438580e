"""Made-up entries for a store: a study, its leaders, trials and epochs, with plain values."""

from datetime import UTC, datetime
from typing import Any

from sweep.records import Attempt, Checkpoint, Direction, Epoch, Holder, NewStudy
from sweep.store.entries import NewTrial, Place
from sweep.store.leadership import Leadership

NOON = datetime(2026, 12, 1, 12, 0, 0, 123456, tzinfo=UTC)
ALICE = Holder(host="alpha", pid=11, process_started_at_s=1000.25)
PLACE = Place(device="cpu", host="alpha", pid=4711, num_slots=2, log="runs/1/0/1.log")
BOB = Holder(host="beta", pid=22, process_started_at_s=2000.5)


def new_study(name: str = "lr_bs_opt", **changes: Any) -> NewStudy:
    values: dict[str, Any] = {
        "name": name,
        "spec": {"version": 1, "space": {"lr": {"low": 0.01}}},
        "spec_hash": "0" * 64,
        "metric": "test_accuracy",
        "direction": Direction.MAXIMIZE,
        "seed": 7,
        "versions": {"sweep": "0.1.0"},
        "git_commit": None,
    }
    return NewStudy(**{**values, **changes})


def add_trial(leadership: Leadership, number: int = 0, **changes: Any):
    values: dict[str, Any] = {"params": {"lr": 0.1}, "seed": number, "space_version": 1}
    return leadership.add_trial(NewTrial(number=number, **{**values, **changes}))


def start(leadership: Leadership, trial: int = 0) -> Attempt:
    return leadership.start_attempt(trial, PLACE)


def epoch(number: int = 0, *, trial: int = 0, attempt: int = 1, **changes: Any) -> Epoch:
    values: dict[str, Any] = {
        "metrics": {"test_accuracy": 0.5 + number / 100},
        "lr": 0.1,
        "epoch_s": 1.5,
        "images_per_s": 1234.5,
        "peak_memory_bytes": 3 * 2**30,
        "baseline_memory_bytes": 2**30,
        "micro_batch": 64,
        "num_sharing": 2,
        "checkpoint": Checkpoint(
            epoch=number, path=f"runs/1/{trial}/a{attempt}-e{number}.pt", sha256="ab" * 32
        ),
        "stored_at": NOON,
    }
    return Epoch(trial=trial, attempt=attempt, epoch=number, **{**values, **changes})
