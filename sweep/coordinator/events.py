"""Events: what a running sweep tells those who watch it. None of them can be answered."""

from dataclasses import dataclass

from sweep.fleet.slots import Slot
from sweep.records import Epoch, Study, Trial


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something that a person should read."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DataFetched:
    """So much of a file of the data set has been downloaded, before the study is led.

    `total_bytes` is None where nobody knows.
    """

    name: str
    done_bytes: int
    total_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyLed:
    """The study is stored and led; training begins. `trials` are those known so far."""

    study: Study
    slots: tuple[Slot, ...]
    trials: tuple[Trial, ...]
    trials_wanted: int | None
    elapsed_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialStarted:
    """An attempt of a trial has begun on a slot, at `first_epoch` (zero-based).

    A later attempt that begins at epoch 0 starts over: no state to go on from was saved.
    """

    slot: Slot
    trial: Trial
    first_epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochStored:
    """A running trial has finished an epoch."""

    slot: Slot
    epoch: Epoch


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialFinished:
    """A trial is complete, pruned or failed."""

    slot: Slot
    trial: Trial


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialInterrupted:
    """An attempt was cut short; its trial waits for another."""

    slot: Slot
    trial: Trial
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialChanged:
    """A trial was added or changed because somebody asked for it; `text` says how."""

    trial: Trial
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepEnded:
    """Nothing more will happen. `reason` is one line; `exit_code` is the command's."""

    reason: str
    exit_code: int


Event = (
    Notice
    | DataFetched
    | StudyLed
    | TrialStarted
    | EpochStored
    | TrialFinished
    | TrialInterrupted
    | TrialChanged
    | SweepEnded
)
