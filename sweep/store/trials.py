"""A trial's life: each change is guarded by the state that it starts from.

Each may be repeated after its answer was lost: a change that is found carried out is answered
as if it had just been made. A change that fits neither way is an error.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Update, bindparam, func, insert, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite

from sweep.clock import utc_now
from sweep.errors import StaleAttemptError, TransitionError
from sweep.records import Attempt, Cause, Epoch, Trial, TrialState
from sweep.store import reads, rows, schema
from sweep.store.entries import Ending, NewTrial, Place


def add(connection: Connection, study_id: int, new: NewTrial) -> Trial:
    """The trial is there, waiting. Raises TransitionError if its number is another one's."""
    values = {
        "study_id": study_id,
        "number": new.number,
        "state": TrialState.WAITING,
        "params": rows.to_json(new.params),
        "seed": new.seed,
        "space_version": new.space_version,
        "attempt": 0,
        "enqueued": new.enqueued,
        "tuner_attrs": rows.to_json(new.tuner_attrs),
        "created_at": utc_now(),
    }
    rows.insert_new(connection, schema.trials, values)
    trial = reads.trial(connection, study_id, new.number)
    if rows.to_json(trial.params) != values["params"] or trial.seed != new.seed:
        raise TransitionError(f"trial {new.number} has other params; a number is given once")
    return trial


def start_attempt(
    connection: Connection, study_id: int, trial: int, place: Place, *, claim: str
) -> Attempt:
    """The trial runs, in a new attempt; `claim` names the call, so that it counts once.

    Raises TransitionError unless the trial waits.
    """
    if not _has_claimed(connection, study_id, trial, claim):
        now = utc_now()
        values = {
            "study_id": study_id,
            "trial": trial,
            "attempt": _next_attempt(connection, study_id, trial, now),
            "state": TrialState.RUNNING,
            "started_at": now,
            "claim": claim,
        }
        connection.execute(insert(schema.attempts).values(**values, **asdict(place)))
    return _latest_attempt(connection, study_id, trial)


def begin(
    connection: Connection, study_id: int, new: NewTrial, place: Place, *, claim: str
) -> tuple[Trial, Attempt]:
    """The trial is there, and runs. Raises TransitionError as `add` and `start_attempt` do."""
    add(connection, study_id, new)
    attempt = start_attempt(connection, study_id, new.number, place, claim=claim)
    return reads.trial(connection, study_id, new.number), attempt


def store_epoch(connection: Connection, study_id: int, epoch: Epoch) -> None:
    """The epoch is stored; one that was stored before stays as it was.

    Raises StaleAttemptError unless its attempt is the current one of a running trial.
    """
    columns = {"study_id": study_id, **rows.epoch_columns(epoch)}
    values = {f"new_{name}": value for name, value in columns.items()}
    statement = _insert_of_an_epoch(connection.dialect.name)
    if connection.execute(statement, values).first() is None:
        current = reads.trial(connection, study_id, epoch.trial)
        if (current.state, current.attempt) != (TrialState.RUNNING, epoch.attempt):
            raise _stale(current, epoch.attempt)


def set_tuner_attrs(
    connection: Connection, study_id: int, trial: int, attrs: Mapping[str, Any]
) -> None:
    """What the tuner keeps with the trial is exactly `attrs`. Raises NotFoundError."""
    statement = _trial(study_id, trial).values(tuner_attrs=rows.to_json(attrs))
    if connection.execute(statement).rowcount == 0:
        reads.trial(connection, study_id, trial)


def finish(
    connection: Connection, study_id: int, trial: int, attempt: int, ending: Ending
) -> Trial:
    """The trial and its attempt have ended.

    Raises StaleAttemptError unless the attempt is the current one of a running trial.
    """
    end = {
        "state": ending.state,
        "cause": ending.cause,
        "message": rows.clean_text(ending.message),
        "finished_at": ending.ended_at or utc_now(),
    }
    kept = ending.tuner_attrs
    attrs = {} if kept is None else {"tuner_attrs": rows.to_json(kept)}
    statement = _running(study_id, trial, attempt).values(**end, **attrs, value=ending.value)
    if connection.execute(statement).rowcount == 0:
        current = reads.trial(connection, study_id, trial)
        found = (current.attempt, current.state, current.cause, current.value)
        if found != (attempt, ending.state, ending.cause, ending.value):
            raise _stale(current, attempt)
        return current
    connection.execute(_attempt(study_id, trial, attempt).values(**end))
    return reads.trial(connection, study_id, trial)


def interrupt(
    connection: Connection,
    study_id: int,
    trial: int,
    attempt: int,
    *,
    cause: Cause,
    message: str | None,
    ended_at: datetime | None,
) -> Trial:
    """The attempt has failed, and its trial waits for another.

    Raises StaleAttemptError unless the attempt is the current one of a running trial.
    """
    statement = _running(study_id, trial, attempt).values(state=TrialState.WAITING)
    if connection.execute(statement).rowcount == 0:
        current = reads.trial(connection, study_id, trial)
        if (current.attempt, current.state) != (attempt, TrialState.WAITING):
            raise _stale(current, attempt)
        return current
    end = {
        "state": TrialState.FAILED,
        "cause": cause,
        "message": rows.clean_text(message),
        "finished_at": ended_at or utc_now(),
    }
    connection.execute(_attempt(study_id, trial, attempt).values(**end))
    return reads.trial(connection, study_id, trial)


@cache
def _insert_of_an_epoch(dialect_name: str) -> Any:
    """The statement, made once: making it took half of the time of storing an epoch."""
    table, trials = schema.epochs, schema.trials
    new = {column.name: bindparam(f"new_{column.name}", type_=column.type) for column in table.c}
    guarded = select(*new.values()).where(
        trials.c.study_id == new["study_id"],
        trials.c.number == new["trial"],
        trials.c.state == TrialState.RUNNING,
        trials.c.attempt == new["attempt"],
    )
    dialect = sqlite if dialect_name == "sqlite" else postgresql
    statement = dialect.insert(table).from_select(list(new), guarded).on_conflict_do_nothing()
    return statement.returning(table.c.epoch)


def _trial(study_id: int, trial: int) -> Update:
    table = schema.trials
    return update(table).where(table.c.study_id == study_id, table.c.number == trial)


def _running(study_id: int, trial: int, attempt: int) -> Update:
    table = schema.trials
    return _trial(study_id, trial).where(
        table.c.state == TrialState.RUNNING, table.c.attempt == attempt
    )


def _attempt(study_id: int, trial: int, attempt: int) -> Update:
    table = schema.attempts
    return update(table).where(
        table.c.study_id == study_id, table.c.trial == trial, table.c.attempt == attempt
    )


def _next_attempt(connection: Connection, study_id: int, trial: int, now: datetime) -> int:
    """The number of the attempt that a waiting trial has now begun to run in."""
    table = schema.trials
    statement = (
        _trial(study_id, trial)
        .where(table.c.state == TrialState.WAITING)
        .values(
            state=TrialState.RUNNING,
            attempt=table.c.attempt + 1,
            started_at=func.coalesce(table.c.started_at, literal(now, table.c.started_at.type)),
        )
        .returning(table.c.attempt)
    )
    attempt = connection.scalar(statement)
    if attempt is None:
        state = reads.trial(connection, study_id, trial).state
        raise TransitionError(f"trial {trial} is {state}; an attempt starts from waiting")
    return int(attempt)


def _has_claimed(connection: Connection, study_id: int, trial: int, claim: str) -> bool:
    table = schema.attempts
    question = select(table.c.attempt).where(
        table.c.study_id == study_id, table.c.trial == trial, table.c.claim == claim
    )
    return connection.scalar(question) is not None


def _latest_attempt(connection: Connection, study_id: int, trial: int) -> Attempt:
    table = schema.attempts
    question = (
        select(table)
        .where(table.c.study_id == study_id, table.c.trial == trial)
        .order_by(table.c.attempt.desc())
        .limit(1)
    )
    return rows.attempt_from(connection.execute(question).one())


def _stale(current: Trial, attempt: int) -> StaleAttemptError:
    return StaleAttemptError(
        f"attempt {attempt} of trial {current.number} is refused: the trial is {current.state} "
        f"and its current attempt is {current.attempt}"
    )
