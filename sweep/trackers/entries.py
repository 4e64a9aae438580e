"""Entry: what a tracker is told of a trial: that it began, an epoch, and how it ended."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias

from sweep.records import Epoch, Params, Snapshot, Trial


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A trial begins, or goes on, at `first_epoch` (zero-based)."""

    trial: int
    params: Params
    first_epoch: int
    at_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """The finite metrics of one epoch (zero-based). `at_s` is in seconds since 1970, UTC."""

    trial: int
    epoch: int
    metrics: dict[str, float]
    at_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A trial has ended in a state; `value` is its objective, where it has one."""

    trial: int
    params: Params
    state: str
    value: float | None
    at_s: float


Entry: TypeAlias = Begun | Measured | Ended
_KINDS = {kind.__name__: kind for kind in (Begun, Measured, Ended)}


class Tracker(Protocol):
    """One place for logs, with a run for each trial."""

    def put(self, entry: Entry) -> None:
        """The entry is written. Entries of a trial come in their order."""
        ...

    def close(self) -> None:
        """Everything is written, and nothing is held any more."""
        ...


def begun(trial: Trial, first_epoch: int) -> Begun:
    """The entry of a trial that begins or goes on."""
    at = trial.started_at or trial.created_at
    return Begun(
        trial=trial.number, params=dict(trial.params), first_epoch=first_epoch, at_s=at.timestamp()
    )


def measured(epoch: Epoch) -> Measured:
    """The entry of an epoch: its metrics, and what it took."""
    taken = {
        "lr": epoch.lr,
        "epoch_s": epoch.epoch_s,
        "images_per_s": epoch.images_per_s,
        "peak_memory_bytes": epoch.peak_memory_bytes,
    }
    finite = {
        name: float(value)
        for name, value in (taken | dict(epoch.metrics)).items()
        if value is not None and math.isfinite(value)
    }
    return Measured(
        trial=epoch.trial, epoch=epoch.epoch, metrics=finite, at_s=epoch.stored_at.timestamp()
    )


def ended(trial: Trial) -> Ended:
    """The entry of a finished trial."""
    at = trial.finished_at or trial.created_at
    return Ended(
        trial=trial.number,
        params=dict(trial.params),
        state=trial.state.value,
        value=trial.value,
        at_s=at.timestamp(),
    )


def entries_of(snapshot: Snapshot) -> Iterator[Entry]:
    """All of a stored study, trial by trial; of a trial that has not begun, nothing."""
    epochs: dict[int, list[Epoch]] = {}
    for epoch in snapshot.epochs:
        epochs.setdefault(epoch.trial, []).append(epoch)
    for trial in snapshot.trials:
        if trial.started_at is None:
            continue
        yield begun(trial, 0)
        yield from map(measured, epochs.get(trial.number, ()))
        if trial.state.is_finished:
            yield ended(trial)


def to_line(entry: Entry) -> str:
    """The entry as one line of JSON."""
    return json.dumps({"kind": type(entry).__name__, **asdict(entry)}) + "\n"


def from_line(line: str) -> Entry:
    """The entry that `to_line` wrote."""
    fields: dict[str, Any] = json.loads(line)
    return _KINDS[fields.pop("kind")](**fields)
