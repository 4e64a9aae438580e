"""Rows: how a record becomes the columns of a table, and the columns a record again."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table
from sqlalchemy.dialects import postgresql, sqlite

from sweep.records import (
    Attempt,
    Cause,
    Checkpoint,
    Direction,
    Epoch,
    Holder,
    Lease,
    Study,
    Trial,
    TrialState,
)
from sweep.requests import Request, RequestKind


def to_json(values: Mapping[str, Any]) -> str:
    """The mapping as ASCII JSON in its own key order; floats as their shortest round trip.

    Raises ValueError for a number that is not finite.
    """
    return json.dumps(values, allow_nan=False, separators=(",", ":"))


def finite(number: float | None) -> float | None:
    """The number, or None where it is not finite: databases differ in what they make of NaN."""
    return number if number is not None and math.isfinite(number) else None


def clean_text(text: str | None) -> str | None:
    """The text without what PostgreSQL cannot hold: NUL and lone surrogates."""
    if text is None:
        return None
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Whether the row was new; one with the same key is left as it is."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(**values).on_conflict_do_nothing()
    # The key that comes back tells; the count of rows is unknown where a key is made up.
    return connection.execute(statement.returning(*table.primary_key)).first() is not None


def study_from(row: Row[Any]) -> Study:
    return Study(
        id=row.id,
        name=row.name,
        spec=json.loads(row.spec),
        spec_hash=row.spec_hash,
        space_version=row.space_version,
        metric=row.metric,
        direction=Direction(row.direction),
        seed=row.seed,
        versions=json.loads(row.versions),
        git_commit=row.git_commit,
        created_at=row.created_at,
    )


def trial_from(row: Row[Any]) -> Trial:
    return Trial(
        number=row.number,
        state=TrialState(row.state),
        params=json.loads(row.params),
        seed=row.seed,
        space_version=row.space_version,
        attempt=row.attempt,
        enqueued=row.enqueued,
        cause=_cause(row.cause),
        value=row.value,
        message=row.message,
        tuner_attrs=json.loads(row.tuner_attrs),
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        excluded=row.excluded,
    )


def attempt_from(row: Row[Any]) -> Attempt:
    return Attempt(
        trial=row.trial,
        attempt=row.attempt,
        state=TrialState(row.state),
        cause=_cause(row.cause),
        device=row.device,
        host=row.host,
        pid=row.pid,
        num_slots=row.num_slots,
        log=row.log,
        started_at=row.started_at,
        finished_at=row.finished_at,
        message=row.message,
        # of attempts that an earlier release has stored nothing is known; they had one
        num_devices=1.0 if row.num_devices is None else row.num_devices,
    )


MEASURED_COLUMNS = (
    "trial",
    "attempt",
    "epoch",
    "metrics",
    "lr",
    "epoch_s",
    "images_per_s",
    "peak_memory_bytes",
    "baseline_memory_bytes",
    "micro_batch",
    "num_sharing",
    "stored_at",
)
EPOCH_COLUMNS = (*MEASURED_COLUMNS, "checkpoint_epoch", "checkpoint_path", "checkpoint_sha256")
_METRICS = MEASURED_COLUMNS.index("metrics")


def epochs_from(found: Sequence[Sequence[Any]]) -> Iterator[Epoch]:
    """The epochs of rows of `EPOCH_COLUMNS`, or of `MEASURED_COLUMNS`: then without checkpoints.

    By position, as there are 300,000 of them.
    """
    decoded = json_of_all([row[_METRICS] for row in found])
    for row, metrics in zip(found, decoded, strict=True):
        trial, attempt, epoch, _, lr, epoch_s, images_per_s, peak, *rest = row
        base, micro, sharing, stored, *saved = rest
        yield Epoch(
            trial=trial,
            attempt=attempt,
            epoch=epoch,
            metrics=metrics,
            lr=lr,
            epoch_s=epoch_s,
            images_per_s=images_per_s,
            peak_memory_bytes=peak,
            baseline_memory_bytes=base,
            micro_batch=micro,
            num_sharing=sharing,
            checkpoint=_checkpoint(*saved) if saved else None,
            stored_at=stored,
        )


def _checkpoint(epoch: int | None, path: str | None, sha256: str | None) -> Checkpoint | None:
    if epoch is None or path is None or sha256 is None:
        return None
    return Checkpoint(epoch=epoch, path=path, sha256=sha256)


def json_of_all(texts: Sequence[str]) -> list[Any]:
    """The values of JSON texts, read as one: twice as fast, and equal keys are one object."""
    values: list[Any] = json.loads(f"[{','.join(texts)}]")
    return values


def lease_from(row: Row[Any]) -> Lease:
    """The lease; the row also holds `now_s`, the database's time at the reading."""
    holder = Holder(host=row.host, pid=row.pid, process_started_at_s=row.process_started_at_s)
    return Lease(
        study_id=row.study_id,
        token=row.token,
        holder=holder,
        is_current=row.expires_at_s > row.now_s,
        expires_in_s=row.expires_at_s - row.now_s,
    )


def request_from(row: Row[Any]) -> Request:
    return Request(
        id=row.id,
        study_id=row.study_id,
        kind=RequestKind(row.kind),
        arguments=json.loads(row.arguments),
        created_at=row.created_at,
        finished_at=row.finished_at,
        trial=row.trial,
        refusal=row.refusal,
    )


def epoch_columns(epoch: Epoch) -> dict[str, Any]:
    """What is stored of an epoch, less its study."""
    checkpoint = epoch.checkpoint
    return {
        "trial": epoch.trial,
        "attempt": epoch.attempt,
        "epoch": epoch.epoch,
        "metrics": to_json({name: finite(number) for name, number in epoch.metrics.items()}),
        "lr": finite(epoch.lr),
        "epoch_s": epoch.epoch_s,
        "images_per_s": finite(epoch.images_per_s),
        "peak_memory_bytes": epoch.peak_memory_bytes,
        "checkpoint_epoch": checkpoint and checkpoint.epoch,
        "checkpoint_path": checkpoint and checkpoint.path,
        "checkpoint_sha256": checkpoint and checkpoint.sha256,
        "stored_at": epoch.stored_at,
        "baseline_memory_bytes": epoch.baseline_memory_bytes,
        "micro_batch": epoch.micro_batch,
        "num_sharing": epoch.num_sharing,
    }


def _cause(text: str | None) -> Cause | None:
    return None if text is None else Cause(text)
