"""A busy slot: the trial that runs there, what its worker is told of it, and what was decided."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sweep import clock
from sweep.coordinator.checkpoints import KeptCheckpoints, resumable
from sweep.coordinator.folders import StudyFolder, refuse_links
from sweep.coordinator.ledger import Ledger
from sweep.fleet.slots import Slot, num_cores
from sweep.records import Epoch, Trial
from sweep.spec.study import StudySpec
from sweep.spec.training import settle_precision
from sweep.wire import Assignment, EpochReport, Failed, Finished, OnOom


class Verdict(StrEnum):
    """Why a worker was told to stop."""

    PRUNED = "pruned"
    DIVERGED = "diverged"
    DRAINED = "drained"


@dataclass(kw_only=True, slots=True)
class Busy:
    """A slot at work: its trial as it runs, and what was decided of it.

    `num_sharing` is how many trials, itself included, have run on its device at a time since its
    last epoch.
    """

    slot: Slot
    trial: Trial
    kept: KeptCheckpoints
    verdict: Verdict | None = None
    num_sharing: int = 1


def begun(spec: StudySpec, slot: Slot, trial: Trial, ledger: Ledger, folder: StudyFolder) -> Busy:
    """The slot at work on a trial that has just begun, rid of what an attempt before it left."""
    kept = kept_for(spec, trial, ledger, folder)
    kept.begin()
    return Busy(slot=slot, trial=trial, kept=kept)


def kept_for(
    spec: StudySpec, trial: Trial, ledger: Ledger, folder: StudyFolder
) -> KeptCheckpoints:
    """The checkpoints that a trial has on disk."""
    return KeptCheckpoints(
        spec.checkpoints.keep,
        spec.objective.metric,
        spec.objective.direction,
        ledger.epochs_of(trial.number),
        folder.trial(trial.number),
    )


def assignment_for(
    spec: StudySpec, slot: Slot, trial: Trial, ledger: Ledger, folder: StudyFolder
) -> Assignment:
    """What a worker is told of the current attempt of a trial.

    Raises UnusableError where a link would lead its files out of the study's folder.
    """
    refuse_links(folder, trial.number)
    params = spec.flat_params(trial.params)
    if spec.recipe.train is None:
        params = settle_precision(params, ledger.versions, slot.device.label)
    return Assignment(
        trial=trial.number,
        attempt=trial.attempt,
        seed=trial.seed,
        params=params,
        metric=spec.objective.metric,
        folder=str(folder.trial(trial.number)),
        log=str(folder.log(trial.number, trial.attempt)),
        keeps_checkpoints=spec.checkpoints.keep != "none",
        checkpoint_every=spec.checkpoints.every_epochs,
        resume=resumable(ledger.epochs_of(trial.number)),
        on_oom=None if spec.recipe.train is not None else OnOom(params["on_oom"]),
        too_large=ledger.limits.too_large(slot, trial),
        other_devices=[device.uuid or "" for device in slot.others],
    )


def is_current(message: EpochReport | Finished | Failed, trial: Trial) -> bool:
    """Whether a message is of the attempt that runs; what any other says is refused."""
    return (message.trial, message.attempt) == (trial.number, trial.attempt)


def note_sharing(at_work: Iterable[Busy]) -> None:
    """Every busy slot knows of how many there are on its device now, if it knew of fewer."""
    all_busy = list(at_work)
    for busy in all_busy:
        busy.num_sharing = max(busy.num_sharing, num_sharing_now(busy.slot, all_busy))


def num_sharing_now(slot: Slot, at_work: Iterable[Busy]) -> int:
    """How many trials run on the slot's device now.

    On the CPU every slot has cores of its own, so that nothing is shared until there are more
    threads at work than cores: then so many trials as share a core.
    """
    here = [busy.slot for busy in at_work if busy.slot.device == slot.device]
    if slot.device.uuid is not None:
        return max(1, len(here))
    num_threads = sum(each.num_threads * len(each.devices) for each in here)
    return max(1, -(-num_threads // num_cores()))


def epoch_from(report: EpochReport, num_sharing: int) -> Epoch:
    """The record of a reported epoch."""
    return Epoch(
        trial=report.trial,
        attempt=report.attempt,
        epoch=report.epoch,
        metrics=report.metrics,
        lr=report.lr,
        epoch_s=report.epoch_s,
        images_per_s=report.images_per_s,
        peak_memory_bytes=report.peak_memory_bytes,
        baseline_memory_bytes=report.baseline_memory_bytes,
        micro_batch=report.micro_batch,
        num_sharing=num_sharing,
        checkpoint=report.checkpoint,
        stored_at=clock.utc_now(),
    )
