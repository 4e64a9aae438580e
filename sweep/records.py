"""Words and values shared by every layer: states, causes, and the frozen rows of the store.

A trial's life; each arrow is one verb of the store, guarded by the state it starts from:

    add_trial --> waiting --start_attempt--> running --finish_trial--> complete | pruned | failed
                     ^                          |                         |
                     |-------- interrupt -------'                         |
                     `------------------------- retry --------------------' failed only

An attempt is one try of a trial on one slot. It starts running and ends in the state that it gave
its trial; an attempt that was cut short ends failed, with its cause, and its trial waits again.
The attempt's number is a fencing token: what any attempt but the current one says is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

ParamValue: TypeAlias = bool | int | float | str
Params: TypeAlias = Mapping[str, ParamValue]
Metrics: TypeAlias = Mapping[str, float | None]
"""Named numbers of one epoch; None stands for a number that was not finite."""


class TrialState(StrEnum):
    """The five states of a trial; nothing else."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"

    @property
    def is_finished(self) -> bool:
        return self in (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAILED)


class Cause(StrEnum):
    """Why a trial or an attempt failed."""

    EXCEPTION = "exception"
    LOST = "lost"
    HUNG = "hung"
    DIVERGED = "diverged"
    OUT_OF_MEMORY = "out_of_memory"
    CANCELLED = "cancelled"


class Direction(StrEnum):
    """Which way the objective is better."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"

    def is_better(self, value: float, than: float) -> bool:
        return value > than if self is Direction.MAXIMIZE else value < than


@dataclass(frozen=True, kw_only=True, slots=True)
class NewStudy:
    """What is stored of a study when it is created.

    `spec` is the checked study file as plain JSON values. `versions` names what it was created
    with (sweep, torch, optuna, python). `git_commit` is that of the study file's folder, or None.
    """

    name: str
    spec: Mapping[str, Any]
    spec_hash: str
    metric: str
    direction: Direction
    seed: int
    versions: Mapping[str, str]
    git_commit: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Study(NewStudy):
    """A stored study. `space_version` counts from 1 and grows when the space is changed."""

    id: int
    space_version: int
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One set of params and what became of it.

    `value` is the objective at the last epoch, for complete and pruned trials only. `attempt` is
    the number of the latest attempt, counting from 1; 0 before the first. `tuner_attrs` is what
    the sampler or pruner keeps with the trial. `message` explains a failure in one line. One that
    is `excluded` stays visible, but counts in no comparison and teaches the sampler nothing.
    """

    number: int
    state: TrialState
    params: Params
    seed: int
    space_version: int
    attempt: int = 0
    enqueued: bool = False
    cause: Cause | None = None
    value: float | None = None
    message: str | None = None
    tuner_attrs: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    excluded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One try of a trial on one slot. `num_slots` is how many of its size its run had room for.

    `num_devices` is how many devices it had: 2, or 0.25 where four trials shared one.
    """

    trial: int
    attempt: int
    state: TrialState
    cause: Cause | None = None
    device: str
    host: str
    pid: int | None
    num_slots: int
    log: str | None
    started_at: datetime
    finished_at: datetime | None = None
    message: str | None = None
    num_devices: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Where the state to resume from lies, and the SHA-256 of its bytes in hex."""

    epoch: int
    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Epoch:
    """What one attempt measured in one epoch (zero-based).

    `epoch_s` is training, recalibration and evaluation; `images_per_s` is of training only.
    `baseline_memory_bytes` was in use before the attempt; `micro_batch` images went through at
    once. `num_sharing` trials, itself included, ran on its device at a time during the epoch.
    """

    trial: int
    attempt: int
    epoch: int
    metrics: Metrics
    lr: float | None = None
    epoch_s: float
    images_per_s: float | None = None
    peak_memory_bytes: int | None = None
    baseline_memory_bytes: int | None = None
    micro_batch: int | None = None
    num_sharing: int | None = None
    checkpoint: Checkpoint | None = None
    stored_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryKey:
    """What takes memory in one way: a recipe, a precision and an optimizer on a kind of device.

    `memory_bytes` is what one slot may use of it; 0 where that is unknown.
    """

    device_name: str
    memory_bytes: int
    recipe_hash: str
    precision: str
    optimizer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Holder:
    """Who leads a study: a process, named so that a reused pid is not taken for it.

    `process_started_at_s` is when the process began, in seconds since its host started.
    """

    host: str
    pid: int
    process_started_at_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """The leadership of a study: its holder, its fencing token, and whether it still holds."""

    study_id: int
    token: int
    holder: Holder
    is_current: bool
    expires_in_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """All that is known of one study at one moment.

    `trials` are sorted by number, `attempts` by (trial, attempt), and `epochs` hold the effective
    rows sorted by (trial, epoch): for each epoch that of the latest attempt that reached it.
    """

    study: Study
    trials: tuple[Trial, ...]
    attempts: tuple[Attempt, ...]
    epochs: tuple[Epoch, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """A study at one moment without the epochs of what is finished: of a large study, little.

    As a snapshot, but `epochs` holds those of waiting and running trials only. `num_epochs` is
    how many effective rows each trial has, finished or not; a trial without any is not in it.
    """

    study: Study
    trials: tuple[Trial, ...]
    attempts: tuple[Attempt, ...]
    epochs: tuple[Epoch, ...]
    num_epochs: Mapping[int, int]
