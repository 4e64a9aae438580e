"""The standing of a study before a run: what the store already says of it, without writing."""

import shlex
from dataclasses import dataclass

from sweep.coordinator.holder import is_known_dead
from sweep.errors import DeviceError, NotFoundError, UsageError
from sweep.fleet.slots import Slot
from sweep.records import Outline, TrialState
from sweep.spec.differences import Kind, differences
from sweep.spec.study import StudySpec
from sweep.store.leases import led_by_another
from sweep.store.store import open_store, validate_url
from sweep.store.url import locate, storage_flag


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What is stored of a study, if anything, and the spec to go on with."""

    outline: Outline | None

    def nothing_left(self, spec: StudySpec) -> str | None:
        """Why nothing is left to do, in words; None while there is something."""
        trials = () if self.outline is None else self.outline.trials
        finished = [trial for trial in trials if trial.state.is_finished]
        if spec.budget.trials is not None and len(finished) >= spec.budget.trials:
            return "all trials are finished"
        fitting = (each.params for each in finished if not any(spec.space.misfits(each.params)))
        tried = {spec.space.key(params) for params in fitting}
        is_exhausted = spec.space.num_points is not None and len(tried) >= spec.space.num_points
        has_waiting = len(finished) < len(trials)
        return "the space is exhausted" if is_exhausted and not has_waiting else None

    def cut_short(self, num_ghosts: int) -> str | None:
        """What a run that died has left, in one line; None when it left nothing."""
        trials = () if self.outline is None else self.outline.trials
        running = [f"{each.number}" for each in trials if each.state is TrialState.RUNNING]
        found = []
        if len(running) == 1:
            found.append(f"trial {running[0]} was running")
        if len(running) > 1:
            found.append(f"trials {', '.join(running)} were running")
        if num_ghosts:
            found.append(f"{num_ghosts} processes of a dead run were still there and are killed")
        return f"the last run was cut short: {'; '.join(found)}" if found else None

    def check_devices(self, slots: tuple[Slot, ...], *, allows_cpu: bool) -> None:
        """Raises DeviceError when a study that ran on GPUs would go on on the CPU unasked."""
        if allows_cpu or self.outline is None or any(slot.device.uuid for slot in slots):
            return
        if any(attempt.device != "cpu" for attempt in self.outline.attempts):
            raise DeviceError(
                f"study {self.outline.study.name} ran on GPUs and this machine shows none: "
                "make one visible (see nvidia-smi), or go on without with --cpu 2"
            )


def found_standing(url: str, spec: StudySpec) -> Standing:
    """What the store says of the study; nothing is written.

    Raises UsageError when the study file contradicts what is stored, LedByAnotherError when
    another living coordinator leads the study, and as `validate_url` does.
    """
    validate_url(url)
    try:
        store = open_store(url, create=False)
    except NotFoundError:
        return Standing(outline=None)
    with store:
        study = store.find_study(spec.study)
        if study is None:
            return Standing(outline=None)
        lease = store.leader(study.id)
        if lease is not None and lease.is_current and not is_known_dead(lease.holder):
            raise led_by_another(study, lease, storage_flag(locate(url)))
        _check_unchanged(StudySpec.from_json(study.spec), spec)
        return Standing(outline=store.outline(study.id))


def _check_unchanged(stored: StudySpec, spec: StudySpec) -> None:
    refused = [each for each in differences(stored, spec) if each.kind is Kind.REFUSED]
    if refused:
        changes = "; ".join(str(each) for each in refused)
        raise UsageError(
            f"study {spec.study} is stored with another file: {changes}; change it back, or start "
            f"a new study with --name {shlex.quote(f'{spec.study}_2')}"
        )
