"""Repairs: changes of what is stored that no life of a trial makes, each safe to repeat."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Connection, Update, update

from sweep.records import Attempt, Cause, TrialState
from sweep.store import schema

_AT_ONCE = 500
_NO_CHECKPOINT = {
    "checkpoint_epoch": None,
    "checkpoint_path": None,
    "checkpoint_sha256": None,
}


def forget_checkpoints(connection: Connection, study_id: int, paths: Collection[str]) -> None:
    """No row of the study names any of these files as a checkpoint; the epochs stay."""
    table = schema.epochs
    names = list(paths)
    for first in range(0, len(names), _AT_ONCE):
        named = table.c.checkpoint_path.in_(names[first : first + _AT_ONCE])
        is_it = (table.c.study_id == study_id, named)
        connection.execute(update(table).where(*is_it).values(**_NO_CHECKPOINT))


def forget_checkpoints_of(connection: Connection, study_id: int, trial: int) -> None:
    """No row of the trial names a checkpoint: its next attempt starts over."""
    table = schema.epochs
    is_it = (table.c.study_id == study_id, table.c.trial == trial)
    connection.execute(update(table).where(*is_it).values(**_NO_CHECKPOINT))


def set_value(connection: Connection, study_id: int, trial: int, value: float | None) -> None:
    """The trial has the value."""
    connection.execute(_trial(study_id, trial).values(value=value))


def set_failed(connection: Connection, study_id: int, trial: int, cause: Cause) -> None:
    """The trial has failed with the cause, and has no value."""
    values = {"state": TrialState.FAILED, "cause": cause, "value": None}
    connection.execute(_trial(study_id, trial).values(**values))


def end_attempt(
    connection: Connection,
    study_id: int,
    attempt: Attempt,
    *,
    state: TrialState,
    cause: Cause | None,
    ended_at: datetime,
) -> None:
    """The attempt has ended so. Of one that has ended nothing is changed."""
    table = schema.attempts
    is_it = (
        table.c.study_id == study_id,
        table.c.trial == attempt.trial,
        table.c.attempt == attempt.attempt,
        table.c.state == TrialState.RUNNING,
    )
    values = {"state": state, "cause": cause, "finished_at": ended_at}
    connection.execute(update(table).where(*is_it).values(**values))


def _trial(study_id: int, trial: int) -> Update:
    table = schema.trials
    return update(table).where(table.c.study_id == study_id, table.c.number == trial)
