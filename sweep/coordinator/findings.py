"""Findings: what a consistency check may find in a stored study, and what each means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sweep.records import Checkpoint, Epoch, Snapshot
from sweep.spec.study import StudySpec


class Fault(StrEnum):
    """What is wrong."""

    HOLE = "hole"
    NO_VALUE = "no_value"
    NO_CAUSE = "no_cause"
    WRONG_VALUE = "wrong_value"
    UNLED = "unled"
    OPEN_ATTEMPT = "open_attempt"
    ATTEMPTS = "attempts"
    BEYOND = "beyond"
    GAP = "gap"
    TWICE = "twice"
    NO_CHECKPOINT = "no_checkpoint"
    CHANGED_CHECKPOINT = "changed_checkpoint"
    STRAY_FILE = "stray_file"
    PROJECTION = "projection"

    @property
    def is_repairable(self) -> bool:
        """Whether `--fix` can set it right; what was never measured it cannot make up."""
        lost = (Fault.HOLE, Fault.ATTEMPTS, Fault.BEYOND, Fault.GAP, Fault.TWICE)
        return self not in lost


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong, in one line; `trial` is None where it is of the study."""

    fault: Fault
    trial: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.trial is None else f"trial {self.trial}: {self.message}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is stored of a study, and what lies on disk of it.

    `epochs` has every row, superseded ones too. `hashes` is the SHA-256 in hex of each checkpoint
    that should be there, by its path; one that is not there is not in it. `strays` are the paths
    of checkpoints that nothing names, by trial. `projection` is what Optuna's tables tell
    otherwise, by trial. Of a led study the open trials, the disk and Optuna's tables are in
    motion: nothing is said of them.
    """

    spec: StudySpec
    snapshot: Snapshot
    epochs: tuple[Epoch, ...]
    is_led: bool
    hashes: Mapping[str, str] = field(default_factory=dict)
    strays: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    projection: tuple[tuple[int, str], ...] = ()
    expected: Mapping[int, tuple[Checkpoint, ...]] = field(default_factory=dict)
