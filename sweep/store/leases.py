"""Leases: who leads a study, until when by the database's clock, and with which token.

The token grows with each change of leadership and outlives a release, so that a leader of the
past can be told from the present one for ever.
"""

import math
import shlex

from sqlalchemy import Connection, Update, bindparam, or_, select, update

from sweep.errors import FencedError, LedByAnotherError
from sweep.records import Holder, Lease, Study
from sweep.store import reads, rows, schema
from sweep.store.schema import database_now_s


def take(
    connection: Connection,
    study: Study,
    holder: Holder,
    ttl_s: float,
    *,
    replaces: int | None,
    claim: str,
    flag: str = "",
) -> int:
    """The token of a leadership that now is the holder's, for `ttl_s` seconds.

    `claim` names the call: repeated after a lost answer, it takes the lease from itself.
    Raises LedByAnotherError while another lease holds, unless its token is `replaces`.
    """
    table = schema.leases
    rows.insert_new(connection, table, _unled(study))
    is_free = or_(
        table.c.is_released,
        table.c.expires_at_s <= database_now_s(),
        table.c.token == replaces,
        table.c.claim == claim,
    )
    statement = (
        _of(study.id)
        .where(is_free)
        .values(
            token=table.c.token + 1,
            host=holder.host,
            pid=holder.pid,
            process_started_at_s=holder.process_started_at_s,
            expires_at_s=database_now_s() + ttl_s,
            is_released=False,
            claim=claim,
        )
        .returning(table.c.token)
    )
    if (token := connection.scalar(statement)) is None:
        raise led_by_another(study, reads.leader(connection, study.id), flag)
    return int(token)


def renew(connection: Connection, study: Study, token: int, ttl_s: float) -> None:
    """The lease holds for another `ttl_s` seconds from now. Raises FencedError."""
    fence(connection, study, token)
    connection.execute(_of(study.id).values(expires_at_s=database_now_s() + ttl_s))


def release(connection: Connection, study: Study, token: int) -> None:
    """Nobody leads the study. Giving it back twice is no fault. Raises FencedError."""
    statement = _of(study.id).where(schema.leases.c.token == token).values(is_released=True)
    if connection.execute(statement).rowcount == 0:
        raise _fenced(connection, study)


def fence(connection: Connection, study: Study, token: int) -> None:
    """The token leads, and will until this transaction ends. Raises FencedError."""
    if connection.scalar(_IS_LEADING, {"of_study": study.id, "by_token": token}) is None:
        raise _fenced(connection, study)


_IS_LEADING = (
    select(schema.leases.c.token)
    .where(
        schema.leases.c.study_id == bindparam("of_study"),
        schema.leases.c.token == bindparam("by_token"),
        schema.leases.c.is_released.is_(False),
    )
    .with_for_update()
)
"""Made once, as every transaction asks it."""


def _of(study_id: int) -> Update:
    return update(schema.leases).where(schema.leases.c.study_id == study_id)


def _unled(study: Study) -> dict[str, object]:
    return {
        "study_id": study.id,
        "token": 0,
        "host": "",
        "pid": 0,
        "process_started_at_s": 0.0,
        "expires_at_s": 0.0,
        "is_released": True,
        "claim": "",
    }


def led_by_another(study: Study, lease: Lease | None, flag: str) -> LedByAnotherError:
    """The refusal that names the holder of a lease, and what to do; `flag` as `storage_flag`."""
    assert lease is not None, "a lease that is refused is held by somebody"
    holder = lease.holder
    wait_s = max(1, math.ceil(lease.expires_in_s))
    name = shlex.quote(study.name)
    return LedByAnotherError(
        f"study {study.name!r} is led by pid {holder.pid} on {holder.host}: look with "
        f"`sweep status --study {name}{flag}`, end it with `sweep stop --study {name}{flag}`, "
        f"or wait {wait_s} s for its lease to end if it is dead"
    )


def _fenced(connection: Connection, study: Study) -> FencedError:
    lease = reads.leader(connection, study.id)
    if lease is None:
        return FencedError(f"leadership of study {study.name!r} was given up; nothing was written")
    return FencedError(
        f"leadership of study {study.name!r} passed to pid {lease.holder.pid} on "
        f"{lease.holder.host}; nothing was written"
    )
