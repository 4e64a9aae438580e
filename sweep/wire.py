"""The messages between coordinator and worker: one JSON object a line, checked on arrival.

Down: `Assignment`, `Decision`, `Shutdown`. Up: `Fetching`, `Ready`, `EpochReport`,
`Finished`, `Failed`.
JSON has no NaN: a number that is not finite travels as null, with `finite: false` beside it.
"""

import json
import signal
from dataclasses import asdict, field
from enum import StrEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from sweep.errors import WireError
from sweep.records import Cause, Checkpoint, ParamValue

MAX_LINE_BYTES = 4 * 1024 * 1024

DUMP_SIGNAL = signal.SIGUSR1
"""Asks a worker to print where each of its threads is; it comes beside the pipes, which a worker
that hangs does not read."""

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)


class Action(StrEnum):
    """What a worker is to do after an epoch."""

    CONTINUE = "continue"
    STOP = "stop"


class OnOom(StrEnum):
    """What becomes of a trial when memory runs out: put through in more parts, or given up."""

    ACCUMULATE = "accumulate"
    PRUNE = "prune"
    FAIL = "fail"


class Refusal(StrEnum):
    """Why a worker cannot work at all: decides the exit code of the command."""

    USAGE = "usage"
    DEVICE = "device"
    DATA = "data"
    DISK = "disk"
    FULL_DISK = "full_disk"


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Assignment:
    """One attempt of one trial, with all that the worker needs to know of it.

    `params` is flat: the study's training values overlaid with the searched ones. `resume` lists
    the checkpoints to go on from, the newest first; an unreadable one is passed over.

    `on_oom` is None for a training function of the user's own, of whose batches nothing is known.
    `too_large`: so many images at once did not fit on a device like this one, so no more are
    started with. `other_devices` share the trial with the worker's own: each is what
    CUDA_VISIBLE_DEVICES is to be there, and empty for the CPU.
    """

    type: Literal["assignment"] = "assignment"
    trial: int
    attempt: int
    seed: int
    params: dict[str, ParamValue | list[int] | None]
    metric: str
    folder: str
    log: str
    keeps_checkpoints: bool = True
    checkpoint_every: int = 1
    resume: list[Checkpoint] = field(default_factory=list)
    on_oom: OnOom | None = None
    too_large: int | None = None
    other_devices: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Decision:
    """The answer to one epoch's report."""

    type: Literal["decision"] = "decision"
    trial: int
    attempt: int
    epoch: int
    action: Action


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Shutdown:
    """No more work: end at once, cleanly."""

    type: Literal["shutdown"] = "shutdown"


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Fetching:
    """The worker downloads a file of its data set; `total_bytes` is None where nobody knows."""

    type: Literal["fetching"] = "fetching"
    name: str
    done_bytes: int
    total_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Ready:
    """The worker has loaded its training function and its device answers."""

    type: Literal["ready"] = "ready"
    pid: int
    device_name: str
    versions: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class EpochReport:
    """One finished epoch, its checkpoint already on disk.

    `finite` is false when any metric was not a finite number; such a metric is None.
    `micro_batch` is how many images went through at once; `too_large` the smallest number that
    did not fit in this attempt; `baseline_memory_bytes` what was in use before it.
    """

    type: Literal["epoch_report"] = "epoch_report"
    trial: int
    attempt: int
    epoch: int
    metrics: dict[str, float | None]
    finite: bool
    lr: float | None
    epoch_s: float
    images_per_s: float | None
    peak_memory_bytes: int | None
    checkpoint: Checkpoint | None
    baseline_memory_bytes: int | None = None
    micro_batch: int | None = None
    too_large: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Finished:
    """The attempt ended by itself (`stopped` false) or because it was told to stop."""

    type: Literal["finished"] = "finished"
    trial: int
    attempt: int
    stopped: bool


@dataclass(frozen=True, kw_only=True, slots=True, config=_STRICT)
class Failed:
    """The attempt raised, or the worker cannot work at all (`trial` None, `refusal` set).

    `is_broken_contract`: the train function yields nothing, or what is no metrics, or never the
    objective's metric; every trial of the study would fail like this one. `is_device_fault`: the
    device broke down under it. `too_large` as in an
    EpochReport.
    """

    type: Literal["failed"] = "failed"
    trial: int | None
    attempt: int | None
    message: str
    traceback: str
    cause: Cause = Cause.EXCEPTION
    refusal: Refusal | None = None
    is_broken_contract: bool = False
    is_device_fault: bool = False
    too_large: int | None = None


Down: TypeAlias = Assignment | Decision | Shutdown
Up: TypeAlias = Fetching | Ready | EpochReport | Finished | Failed
Message: TypeAlias = Down | Up

_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def encode(message: Message) -> bytes:
    """The message as one line of UTF-8 JSON with a newline at its end.

    Raises ValueError for a number that is not finite: the sender replaces it by None first.
    """
    text = json.dumps(asdict(message), allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def decode(line: bytes) -> Message:
    """The message that a line holds. Raises WireError for anything else."""
    if len(line) > MAX_LINE_BYTES:
        raise WireError(f"a message of {len(line)} bytes; at most {MAX_LINE_BYTES} are taken")
    try:
        return _ADAPTER.validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise WireError(f"a malformed message: {place}: {first['msg']}") from error
