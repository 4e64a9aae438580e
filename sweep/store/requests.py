"""Requests in the store: added by any command, carried out by the leader, each once.

What a request changes and that it is carried out are one transaction: a leader that dies in
between leaves it pending, and one that asks again for a lost answer finds it done.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, insert, update

from sweep.clock import utc_now
from sweep.errors import TransitionError
from sweep.records import Trial, TrialState
from sweep.requests import Request, RequestKind
from sweep.store import reads, repairs, rows, schema, trials
from sweep.store.entries import NewTrial


def add(
    connection: Connection, study_id: int, kind: RequestKind, arguments: Mapping[str, Any]
) -> Request:
    """The request waits for the study's leader."""
    reads.study_of(connection, study_id)
    table = schema.requests
    statement = (
        insert(table)
        .values(
            study_id=study_id,
            kind=kind,
            arguments=rows.to_json(arguments),
            created_at=utc_now(),
        )
        .returning(*table.c)
    )
    return rows.request_from(connection.execute(statement).one())


def finish(
    connection: Connection,
    study_id: int,
    request_id: int,
    *,
    trial: int | None = None,
    refusal: str | None = None,
) -> None:
    """The request is carried out, or refused. Twice is no fault.

    Raises TransitionError for one that the study does not have.
    """
    if _found(connection, study_id, request_id).finished_at is None:
        connection.execute(
            update(schema.requests)
            .where(schema.requests.c.id == request_id)
            .values(finished_at=utc_now(), trial=trial, refusal=rows.clean_text(refusal))
        )


def set_excluded(
    connection: Connection, study_id: int, request_id: int, trial: int, *, excluded: bool
) -> Trial:
    """The finished trial counts for nothing, or counts again.

    Raises TransitionError for one that is not finished, NotFoundError for none.
    """

    def change() -> Trial:
        states = [state for state in TrialState if state.is_finished]
        return _change(connection, study_id, trial, states, excluded=excluded)

    return _once(connection, study_id, request_id, change)


def retry(connection: Connection, study_id: int, request_id: int, trial: int) -> Trial:
    """The failed trial waits for another attempt, which starts over.

    Raises TransitionError for one that has not failed, NotFoundError for none.
    """

    def change() -> Trial:
        repairs.forget_checkpoints_of(connection, study_id, trial)
        return _change(
            connection,
            study_id,
            trial,
            [TrialState.FAILED],
            state=TrialState.WAITING,
            cause=None,
            message=None,
            finished_at=None,
            excluded=False,
        )

    return _once(connection, study_id, request_id, change)


def enqueue(connection: Connection, study_id: int, request_id: int, new: NewTrial) -> Trial:
    """A new trial waits. Raises TransitionError if its number is another one's."""
    return _once(connection, study_id, request_id, lambda: trials.add(connection, study_id, new))


def _change(
    connection: Connection, study_id: int, trial: int, states: list[TrialState], **values: Any
) -> Trial:
    table = schema.trials
    is_it = (table.c.study_id == study_id, table.c.number == trial)
    statement = update(table).where(*is_it, table.c.state.in_(states)).values(**values)
    is_changed = connection.execute(statement).rowcount > 0
    current = reads.trial(connection, study_id, trial)
    if not is_changed:
        raise TransitionError(f"trial {trial} is {current.state}; nothing was changed")
    return current


def _once(
    connection: Connection, study_id: int, request_id: int, change: Callable[[], Trial]
) -> Trial:
    request = _found(connection, study_id, request_id)
    if request.finished_at is not None:
        if request.trial is None:
            raise TransitionError(f"request {request_id} was refused: {request.refusal}")
        return reads.trial(connection, study_id, request.trial)
    trial = change()
    finish(connection, study_id, request_id, trial=trial.number)
    return trial


def _found(connection: Connection, study_id: int, request_id: int) -> Request:
    request = reads.request(connection, request_id)
    if request is None or request.study_id != study_id:
        raise TransitionError(f"the study has no request {request_id}")
    return request
