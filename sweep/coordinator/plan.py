"""The plan of a run: which study, on which slots, stored where."""

from dataclasses import dataclass
from pathlib import Path

from sweep.fleet.devices import Device
from sweep.fleet.process import WORKER
from sweep.fleet.slots import Slot
from sweep.spec.study import StudySpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What one run of a study is to do.

    `extra_trials` asks for that many finished trials more than there are. `grace_s` is how long a
    stopped trial may take to its next epoch. `allows_cpu` lets a study that ran on GPUs go on
    without one; `shares_busy` lets it take a GPU that somebody else uses. `is_for_group`: what is
    written is for the user's group too. `worker` is the command that starts a worker. `idle`
    devices were chosen too, but are too few for another slot.
    """

    spec: StudySpec
    url: str
    run_folder: Path
    slots: tuple[Slot, ...]
    grace_s: float = 30.0
    extra_trials: int | None = None
    allows_cpu: bool = True
    shares_busy: bool = False
    is_for_group: bool = False
    git_commit: str | None = None
    idle: tuple[Device, ...] = ()
    worker: tuple[str, ...] = WORKER
