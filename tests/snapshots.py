"""Made-up snapshots: records built by hand, for tests of what reads a study."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sweep.records import (
    Attempt,
    Cause,
    Direction,
    Epoch,
    Params,
    Snapshot,
    Study,
    Trial,
    TrialState,
)
from sweep.space.distributions import Categorical
from sweep.space.space import Alternative, Param, Space
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.spec.study import BudgetSpec, Objective, StudySpec

START = datetime(2026, 12, 1, 7, 0, tzinfo=UTC)
EPOCH_S = 10.0
MIB = 2**20


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def make_spec(
    params: Mapping[str, Sequence[Any]],
    *,
    name: str = "made_up",
    metric: str = "test_accuracy",
    direction: Direction = Direction.MAXIMIZE,
    budget: BudgetSpec | None = None,
    training: Mapping[str, Any] | None = None,
    description: str = "",
) -> StudySpec:
    """A spec whose space has the given choices for each param, in their order."""
    space = Space(
        params=tuple(
            Param(
                name=key,
                alternatives=(
                    Alternative(distribution=Categorical(choices=tuple(dict.fromkeys(choices)))),
                ),
            )
            for key, choices in params.items()
        )
    )
    return StudySpec(
        study=name,
        description=description,
        recipe=RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=16)),
        objective=Objective(metric=metric, direction=direction),
        space=space,
        training={"epochs": 3} if training is None else training,
        budget=budget or BudgetSpec(),
    )


def make_study(spec: StudySpec) -> Study:
    return Study(
        id=1,
        name=spec.study,
        spec=spec.to_json(),
        spec_hash=spec.hash,
        metric=spec.objective.metric,
        direction=spec.objective.direction,
        seed=0,
        versions={"sweep": "0.1.0", "torch": "2.14.0", "optuna": "5.0.0", "python": "3.11.2"},
        git_commit="0123456789abcdef0123456789abcdef01234567",
        space_version=1,
        created_at=START,
    )


def make_trial(number: int, params: Params, state: TrialState, **fields: Any) -> Trial:
    begins = START + seconds(100 * number)
    defaults: dict[str, Any] = {
        "seed": 1000 + number,
        "space_version": 1,
        "attempt": 0 if state is TrialState.WAITING else 1,
        "created_at": begins,
        "started_at": None if state is TrialState.WAITING else begins,
        "finished_at": begins + seconds(30) if state.is_finished else None,
        "cause": Cause.EXCEPTION if state is TrialState.FAILED else None,
    }
    return Trial(number=number, params=params, state=state, **(defaults | fields))


def make_attempt(trial: Trial, attempt: int = 1, **fields: Any) -> Attempt:
    defaults: dict[str, Any] = {
        "state": trial.state,
        "cause": trial.cause,
        "device": "cpu:0",
        "host": "box",
        "pid": 4711,
        "num_slots": 2,
        "log": f"logs/{trial.number}-{attempt}.log",
        "started_at": trial.started_at or START,
        "finished_at": trial.finished_at,
    }
    return Attempt(trial=trial.number, attempt=attempt, **(defaults | fields))


def make_epochs(
    trial: int,
    accuracies: Iterable[float | None],
    *,
    attempt: int = 1,
    first: int = 0,
    metric: str = "test_accuracy",
    epoch_s: float = EPOCH_S,
    images_per_s: float | None = 500.0,
    peak_memory_bytes: int | None = 100 * MIB,
    baseline_memory_bytes: int | None = None,
    micro_batch: int | None = None,
    num_sharing: int | None = None,
) -> list[Epoch]:
    """One epoch for each accuracy; None stands for an epoch that was not finite."""
    return [
        Epoch(
            trial=trial,
            attempt=attempt,
            epoch=first + index,
            metrics={"train_loss": None if value is None else 1 - value / 2, metric: value},
            lr=0.1,
            epoch_s=epoch_s,
            images_per_s=images_per_s,
            peak_memory_bytes=peak_memory_bytes,
            baseline_memory_bytes=baseline_memory_bytes,
            micro_batch=micro_batch,
            num_sharing=num_sharing,
            stored_at=START + seconds(100 * trial + epoch_s * (index + 1)),
        )
        for index, value in enumerate(accuracies)
    ]


class SnapshotBuilder:
    """Collects trials, each with one attempt and its epochs, into a snapshot."""

    def __init__(self, spec: StudySpec) -> None:
        self._spec = spec
        self._trials: list[Trial] = []
        self._attempts: list[Attempt] = []
        self._epochs: list[Epoch] = []

    def add(
        self,
        state: TrialState,
        accuracies: Iterable[float | None] = (),
        epochs: Mapping[str, Any] | None = None,
        attempt: Mapping[str, Any] | None = None,
        trial: Mapping[str, Any] | None = None,
        **params: Any,
    ) -> "SnapshotBuilder":
        """Adds the next trial; its value is its last finite accuracy."""
        number = len(self._trials)
        rows = make_epochs(
            number, accuracies, metric=self._spec.objective.metric, **(epochs or {})
        )
        has_value = state in (TrialState.COMPLETE, TrialState.PRUNED)
        value = self._last_value(rows) if has_value else None
        made = make_trial(number, params, state, **({"value": value} | dict(trial or {})))
        self._trials.append(made)
        self._epochs += rows
        if state is not TrialState.WAITING:
            self._attempts.append(make_attempt(made, **(attempt or {})))
        return self

    def complete(self, *accuracies: float, **more: Any) -> "SnapshotBuilder":
        return self.add(TrialState.COMPLETE, accuracies, **more)

    def pruned(self, *accuracies: float | None, **more: Any) -> "SnapshotBuilder":
        return self.add(TrialState.PRUNED, accuracies, **more)

    def failed(self, *accuracies: float | None, **more: Any) -> "SnapshotBuilder":
        return self.add(TrialState.FAILED, accuracies, **more)

    def running(self, *accuracies: float | None, **more: Any) -> "SnapshotBuilder":
        return self.add(TrialState.RUNNING, accuracies, **more)

    def waiting(self, **more: Any) -> "SnapshotBuilder":
        return self.add(TrialState.WAITING, **more)

    def build(self) -> Snapshot:
        return Snapshot(
            study=make_study(self._spec),
            trials=tuple(self._trials),
            attempts=tuple(self._attempts),
            epochs=tuple(self._epochs),
        )

    def _last_value(self, rows: Sequence[Epoch]) -> float | None:
        values = [row.metrics[self._spec.objective.metric] for row in rows]
        return next((v for v in reversed(values) if v is not None and math.isfinite(v)), None)


def with_attempts(snapshot: Snapshot, *attempts: Attempt) -> Snapshot:
    """The snapshot with these attempts instead of its own."""
    return replace(snapshot, attempts=attempts)


def lr_batch_study() -> Snapshot:
    """Six trials of three batch sizes and two learning rates, one pruned and one failed."""
    spec = make_spec(
        {"optimizer": ["sgd", "adam"], "batch_size": [32, 64, 128], "lr": [0.1, 0.01]},
        name="lr_bs",
        budget=BudgetSpec(trials=6, price_per_gpu_hour=3.6),
    )
    builder = SnapshotBuilder(spec)
    builder.complete(0.5, 0.7, 0.9, optimizer="sgd", batch_size=128, lr=0.1)
    builder.complete(0.5, 0.95, 0.92, optimizer="adam", batch_size=32, lr=0.01)
    builder.pruned(0.2, 0.99, optimizer="sgd", batch_size=64, lr=0.01)
    diverged = {"cause": Cause.DIVERGED, "message": "the loss was not finite in epoch 2"}
    builder.failed(0.1, None, optimizer="adam", batch_size=64, lr=0.1, trial=diverged)
    builder.complete(0.4, 0.6, 0.8, optimizer="sgd", batch_size=32, lr=0.1)
    builder.complete(0.5, 0.8, 0.92, optimizer="sgd", batch_size=64, lr=0.1)
    return builder.build()
