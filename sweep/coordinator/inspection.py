"""Inspection: the facts of a stored study gathered for the consistency check, from store and disk.

Nothing is written.
"""

from collections import defaultdict
from hashlib import file_digest
from pathlib import Path

from sweep.coordinator.checkpoints import kept, strays
from sweep.coordinator.findings import Facts
from sweep.coordinator.folders import StudyFolder, is_owned
from sweep.coordinator.places import is_shared
from sweep.coordinator.projecting import differences
from sweep.records import Checkpoint, Epoch, Snapshot, Study
from sweep.spec.study import StudySpec
from sweep.store.store import Store

Checkpoints = dict[int, tuple[Checkpoint, ...]]


def inspect(store: Store, study: Study, folder: StudyFolder, *, is_led: bool) -> Facts:
    """All that the check needs to know. Of a led study what is in motion is left out."""
    snapshot = store.snapshot(study.id)
    spec = StudySpec.from_json(snapshot.study.spec)
    if is_led:
        return Facts(spec=spec, snapshot=snapshot, epochs=snapshot.epochs, is_led=True)
    expected = expected_checkpoints(spec, snapshot)
    return Facts(
        spec=spec,
        snapshot=snapshot,
        epochs=store.all_epochs(study.id),
        is_led=False,
        hashes=_hashes(expected),
        strays=_strays(folder, snapshot, expected),
        projection=tuple(differences(store, study, snapshot.trials)),
        expected=expected,
    )


def expected_checkpoints(spec: StudySpec, snapshot: Snapshot) -> Checkpoints:
    """The checkpoints that each trial should have on disk; trials without any are not in it."""
    epochs: defaultdict[int, list[Epoch]] = defaultdict(list)
    for epoch in snapshot.epochs:
        epochs[epoch.trial].append(epoch)
    wanted = {
        trial.number: tuple(kept(spec, trial.state, epochs[trial.number]))
        for trial in snapshot.trials
    }
    return {number: checkpoints for number, checkpoints in wanted.items() if checkpoints}


def trial_folders(folder: StudyFolder, snapshot: Snapshot) -> dict[int, set[Path]]:
    """Where each trial's files lie: in the study's folder, and where the store says they do,
    unless another database has a part in that, as that of a copy.
    """
    folders = {trial.number: {folder.trial(trial.number)} for trial in snapshot.trials}
    for epoch in snapshot.epochs:
        if epoch.checkpoint is not None:
            folders[epoch.trial].add(Path(epoch.checkpoint.path).parent)
    return {
        number: {place for place in places if _is_ours_alone(place.parents[1], folder.database)}
        for number, places in folders.items()
    }


def _is_ours_alone(place: Path, database: str) -> bool:
    return is_owned(place, database) and not is_shared(place)


def _hashes(expected: Checkpoints) -> dict[str, str]:
    paths = (each.path for checkpoints in expected.values() for each in checkpoints)
    found = ((path, _hash(Path(path))) for path in paths)
    return {path: digest for path, digest in found if digest is not None}


def _hash(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _strays(
    folder: StudyFolder, snapshot: Snapshot, expected: Checkpoints
) -> dict[int, tuple[str, ...]]:
    found = {
        number: tuple(
            str(path)
            for place in sorted(places)
            for path in strays(place, expected.get(number, ()))
        )
        for number, places in trial_folders(folder, snapshot).items()
    }
    return {number: paths for number, paths in found.items() if paths}
