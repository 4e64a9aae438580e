"""Cleaning: the checkpoints of finished trials that nothing needs, found and removed."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sweep.coordinator.checkpoints import best_complete, kept, remove_file, strays
from sweep.coordinator.folders import StudyFolder
from sweep.coordinator.inspection import trial_folders
from sweep.coordinator.taking import take_lead
from sweep.records import Checkpoint, Epoch, Study, Trial, TrialState
from sweep.spec.study import StudySpec
from sweep.store import upkeep
from sweep.store.store import Store

_LEASE_S = 600.0


class Left(StrEnum):
    """Which checkpoints of finished trials stay.

    last: of each complete trial that of its last epoch, by which it was judged. best: the best
    trial's alone. none: none of them.
    """

    LAST = "last"
    BEST = "best"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Waste:
    """The files that go, how large they are together, and the checkpoints to be named no more."""

    files: tuple[Path, ...]
    num_bytes: int
    named: tuple[str, ...]


def waste_of(store: Store, study: Study, folder: StudyFolder, left: Left) -> Waste:
    """What a cleaning would remove now; nothing is changed."""
    snapshot = store.snapshot(study.id)
    spec = StudySpec.from_json(snapshot.study.spec)
    best = best_complete(snapshot.trials, study.direction)
    folders = trial_folders(folder, snapshot)
    files: list[Path] = []
    named: list[str] = []
    by_trial: defaultdict[int, list[Epoch]] = defaultdict(list)
    for epoch in snapshot.epochs:
        by_trial[epoch.trial].append(epoch)
    for trial in snapshot.trials:
        epochs = by_trial[trial.number]
        wanted = _wanted(spec, trial, epochs, left, is_best=trial == best)
        for place in sorted(folders[trial.number]):
            files += strays(place, wanted)
        if trial.state.is_finished:
            named += _unwanted(_named(epochs), wanted)
    num_bytes = sum(path.stat().st_size for path in files)
    return Waste(files=tuple(files), num_bytes=num_bytes, named=tuple(named))


def clean(store: Store, study: Study, folder: StudyFolder, left: Left) -> Waste:
    """What was removed. Raises LedByAnotherError, and removes nothing, while the study is led."""
    with take_lead(store, study, _LEASE_S) as leadership:
        waste = waste_of(store, study, folder, left)
        upkeep.forget_checkpoints(leadership, waste.named)
        for path in waste.files:
            remove_file(path)
    return waste


def _wanted(
    spec: StudySpec, trial: Trial, epochs: list[Epoch], left: Left, *, is_best: bool
) -> list[Checkpoint]:
    """The checkpoints of a trial that stay; of one that is not finished all that it needs."""
    if not trial.state.is_finished:
        return kept(spec, trial.state, epochs)
    if trial.state is not TrialState.COMPLETE or left is Left.NONE:
        return []
    return _named(epochs)[-1:] if left is Left.LAST or is_best else []


def _named(epochs: Iterable[Epoch]) -> list[Checkpoint]:
    """The checkpoints that the store names, that of the last epoch last."""
    in_order = sorted(epochs, key=lambda each: (each.attempt, each.epoch))
    return [each.checkpoint for each in in_order if each.checkpoint is not None]


def _unwanted(named: Iterable[Checkpoint], wanted: Iterable[Checkpoint]) -> list[str]:
    kept_paths = {each.path for each in wanted}
    return [each.path for each in named if each.path not in kept_paths]
