"""Questions: one select each, answered with sorted records."""

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Select, func, select

from sweep.errors import NotFoundError
from sweep.records import (
    Attempt,
    Epoch,
    Lease,
    Outline,
    Snapshot,
    Study,
    Trial,
    TrialState,
)
from sweep.requests import Request
from sweep.space.names import near
from sweep.store import rows, schema
from sweep.store.schema import database_now_s

_AT_ONCE = 10_000
"""Rows that are taken from a large answer at a time."""


def studies(connection: Connection) -> list[Study]:
    """Every study, in the order in which they were created."""
    question = select(schema.studies).order_by(schema.studies.c.id)
    return list(map(rows.study_from, connection.execute(question)))


def find_study(connection: Connection, name: str) -> Study | None:
    question = select(schema.studies).where(schema.studies.c.name == name)
    row = connection.execute(question).one_or_none()
    return None if row is None else rows.study_from(row)


def study(connection: Connection, name: str) -> Study:
    """The study of that name. Raises NotFoundError, naming those that are nearly called so."""
    answer = find_study(connection, name)
    if answer is None:
        names = connection.scalars(select(schema.studies.c.name)).all()
        raise NotFoundError(f"no study {name!r}; {_hint(name, names)}")
    return answer


def study_of(connection: Connection, study_id: int) -> Study:
    """The study of that id. Raises NotFoundError."""
    question = select(schema.studies).where(schema.studies.c.id == study_id)
    row = connection.execute(question).one_or_none()
    if row is None:
        raise NotFoundError(f"no study with id {study_id}; it may have been deleted")
    return rows.study_from(row)


def specs(connection: Connection, study_id: int) -> Mapping[int, Mapping[str, Any]]:
    """The spec of each space version, from the first on."""
    spaces = schema.spaces
    question = (
        select(spaces.c.version, spaces.c.spec)
        .where(spaces.c.study_id == study_id)
        .order_by(spaces.c.version)
    )
    return {version: json.loads(spec) for version, spec in connection.execute(question)}


def trials(connection: Connection, study_id: int) -> tuple[Trial, ...]:
    table = schema.trials
    question = select(table).where(table.c.study_id == study_id).order_by(table.c.number)
    return tuple(map(rows.trial_from, connection.execute(question)))


def trial(connection: Connection, study_id: int, number: int) -> Trial:
    """One trial. Raises NotFoundError."""
    table = schema.trials
    question = select(table).where(table.c.study_id == study_id, table.c.number == number)
    row = connection.execute(question).one_or_none()
    if row is None:
        raise NotFoundError(f"no trial {number} in the study")
    return rows.trial_from(row)


def attempts(connection: Connection, study_id: int) -> tuple[Attempt, ...]:
    table = schema.attempts
    question = (
        select(table).where(table.c.study_id == study_id).order_by(table.c.trial, table.c.attempt)
    )
    return tuple(map(rows.attempt_from, connection.execute(question)))


def effective_epochs(study_id: int, names: Sequence[str] = rows.EPOCH_COLUMNS) -> Select[Any]:
    """For each trial and epoch the row of the latest attempt that reached it.

    Asking for the absence of a later one walks the key once; a window function over the same
    rows took three times as long on SQLite.
    """
    table, later = schema.epochs, schema.epochs.alias("later")
    has_later = (
        select(later.c.attempt)
        .where(
            later.c.study_id == table.c.study_id,
            later.c.trial == table.c.trial,
            later.c.epoch == table.c.epoch,
            later.c.attempt > table.c.attempt,
        )
        .exists()
    )
    columns = [table.c[name] for name in names]
    question = select(*columns).where(table.c.study_id == study_id, ~has_later)
    return question.order_by(table.c.trial, table.c.epoch)


def epochs(connection: Connection, study_id: int) -> tuple[Epoch, ...]:
    return _epochs(connection, effective_epochs(study_id))


def epochs_of_some(
    connection: Connection, study_id: int, trials: Sequence[int]
) -> tuple[Epoch, ...]:
    """The effective rows of a few trials."""
    question = effective_epochs(study_id).where(schema.epochs.c.trial.in_(trials))
    return _epochs(connection, question)


def all_epochs(connection: Connection, study_id: int) -> tuple[Epoch, ...]:
    """Every row, by trial, epoch and attempt."""
    table = schema.epochs
    question = select(*(table.c[name] for name in rows.EPOCH_COLUMNS))
    order = (table.c.trial, table.c.epoch, table.c.attempt)
    return _epochs(connection, question.where(table.c.study_id == study_id).order_by(*order))


def values(connection: Connection, study_id: int, metric: str) -> dict[int, dict[int, float]]:
    """A metric by trial and epoch, from the effective rows in which it is a finite number."""
    found: dict[int, dict[int, float]] = {}
    question = effective_epochs(study_id, ("trial", "epoch", "metrics"))
    with _collection_paused():
        for part in connection.execute(question).partitions(_AT_ONCE):
            metrics = rows.json_of_all([text for _, _, text in part])
            for (trial, epoch, _), measured in zip(part, metrics, strict=True):
                value = measured.get(metric)
                if value is not None:
                    found.setdefault(trial, {})[epoch] = value
    return found


def snapshot(
    connection: Connection, study_id: int, names: Sequence[str] = rows.EPOCH_COLUMNS
) -> Snapshot:
    """All of a study, from the one moment that the connection's transaction sees."""
    return Snapshot(
        study=study_of(connection, study_id),
        trials=trials(connection, study_id),
        attempts=attempts(connection, study_id),
        epochs=_epochs(connection, effective_epochs(study_id, names)),
    )


def measurements(connection: Connection, study_id: int) -> Snapshot:
    """A snapshot whose epochs do not say where they were saved."""
    return snapshot(connection, study_id, rows.MEASURED_COLUMNS)


def outline(connection: Connection, study_id: int) -> Outline:
    """A study without the epochs of what is finished, from the connection's one moment."""
    return Outline(
        study=study_of(connection, study_id),
        trials=trials(connection, study_id),
        attempts=attempts(connection, study_id),
        epochs=_epochs(connection, _of_open_trials(study_id)),
        num_epochs=_num_epochs(connection, study_id),
    )


def _epochs(connection: Connection, question: Select[Any]) -> tuple[Epoch, ...]:
    with _collection_paused():
        parts = connection.execute(question).partitions(_AT_ONCE)
        return tuple(epoch for part in parts for epoch in rows.epochs_from(part))


def _of_open_trials(study_id: int) -> Select[Any]:
    trials = schema.trials
    is_open = (
        trials.c.study_id == study_id,
        trials.c.state.in_([state for state in TrialState if not state.is_finished]),
    )
    numbers = select(trials.c.number).where(*is_open)
    return effective_epochs(study_id).where(schema.epochs.c.trial.in_(numbers))


def _num_epochs(connection: Connection, study_id: int) -> dict[int, int]:
    table = schema.epochs
    question = (
        select(table.c.trial, func.count(table.c.epoch.distinct()).label("num_epochs"))
        .where(table.c.study_id == study_id)
        .group_by(table.c.trial)
    )
    return {row.trial: row.num_epochs for row in connection.execute(question)}


def leader(connection: Connection, study_id: int) -> Lease | None:
    """The lease that was not given back, also when its time is over; else None."""
    table = schema.leases
    question = select(table, database_now_s().label("now_s")).where(
        table.c.study_id == study_id, table.c.is_released.is_(False)
    )
    row = connection.execute(question).one_or_none()
    return None if row is None else rows.lease_from(row)


def pending_requests(connection: Connection, study_id: int) -> list[Request]:
    """What has been asked and not carried out yet, the oldest first."""
    table = schema.requests
    question = (
        select(table)
        .where(table.c.study_id == study_id, table.c.finished_at.is_(None))
        .order_by(table.c.id)
    )
    return list(map(rows.request_from, connection.execute(question)))


def request(connection: Connection, request_id: int) -> Request | None:
    question = select(schema.requests).where(schema.requests.c.id == request_id)
    row = connection.execute(question).one_or_none()
    return None if row is None else rows.request_from(row)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Inside, nothing is searched for cycles: over 300,000 new records that is 1 s of 3."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _hint(name: str, names: Iterable[str]) -> str:
    if meant := near(name, names):
        return f"did you mean {' or '.join(map(repr, meant))}?"
    return "`sweep studies list` shows those there are"
