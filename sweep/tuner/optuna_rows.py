"""Optuna's rows: how a projected trial lies in the tables of Optuna's database, many at a time.

Optuna's own storage writes trial by trial and value by value, a transaction each: 10,000 trials
of 30 epochs would take a quarter of an hour, these rows take seconds. The tables are Optuna's.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from optuna.distributions import distribution_to_json

# Loads SQLAlchemy's ORM, which Optuna would otherwise load in the writing thread: half imported,
# it breaks the queries of every other thread.
from optuna.storages._rdb import models
from optuna.trial import FrozenTrial

Rows: TypeAlias = list[dict[str, Any]]

TRIALS: Any = models.TrialModel.__table__
PARAMS: Any = models.TrialParamModel.__table__
VALUES: Any = models.TrialValueModel.__table__
EPOCHS: Any = models.TrialIntermediateValueModel.__table__
USER_ATTRS: Any = models.TrialUserAttributeModel.__table__


def trial_row(study_id: int, number: int, trial: FrozenTrial) -> dict[str, Any]:
    """The row that a trial is added with; its id is the database's to give."""
    return {
        "number": number,
        "study_id": study_id,
        "state": trial.state,
        "datetime_start": naive_utc(trial.datetime_start),
        "datetime_complete": naive_utc(trial.datetime_complete),
    }


def rows_of(trials: Iterable[tuple[int, FrozenTrial]]) -> Iterator[tuple[Any, Rows]]:
    """What lies in the other tables for trials with their ids: each table with its rows."""
    trials = list(trials)
    yield PARAMS, [row for key, trial in trials for row in _param_rows(key, trial)]
    yield USER_ATTRS, [row for key, trial in trials for row in attr_rows(key, trial.user_attrs)]
    yield VALUES, [row for key, trial in trials for row in value_rows(key, trial.value)]
    yield (
        EPOCHS,
        [row for key, trial in trials for row in epoch_rows(key, trial.intermediate_values)],
    )


def attr_rows(key: int, attrs: Mapping[str, Any]) -> Rows:
    """A trial's user attributes."""
    return [
        {"trial_id": key, "key": name, "value_json": json.dumps(value)}
        for name, value in attrs.items()
    ]


def value_rows(key: int, value: float | None) -> Rows:
    """A trial's value: one row, or none without a value."""
    if value is None:
        return []
    stored, kind = models.TrialValueModel.value_to_stored_repr(value)
    return [{"trial_id": key, "objective": 0, "value": stored, "value_type": kind}]


def epoch_rows(key: int, values: Mapping[int, float]) -> Rows:
    """The objective by epoch."""
    stored = models.TrialIntermediateValueModel.intermediate_value_to_stored_repr
    return [
        {
            "trial_id": key,
            "step": epoch,
            "intermediate_value": stored(value)[0],
            "intermediate_value_type": stored(value)[1],
        }
        for epoch, value in values.items()
    ]


def inner_params(trial: FrozenTrial) -> dict[str, float]:
    """The params as the database holds them: numbers, a choice by its place."""
    return {
        name: trial.distributions[name].to_internal_repr(value)
        for name, value in trial.params.items()
    }


def naive_utc(moment: datetime | None) -> datetime | None:
    """A moment as Optuna's tables hold it."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _param_rows(key: int, trial: FrozenTrial) -> Iterator[dict[str, Any]]:
    for name, number in inner_params(trial).items():
        yield {
            "trial_id": key,
            "param_name": name,
            "param_value": number,
            "distribution_json": distribution_to_json(trial.distributions[name]),
        }
