"""Which checkpoints are kept, which a trial goes on from, and which files go."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sweep.coordinator.checkpoints import (
    KeptCheckpoints,
    best_complete,
    kept,
    resumable,
    strays,
)
from sweep.records import Checkpoint, Direction, Epoch, TrialState
from sweep.spec.study import CheckpointsSpec, Keep, StudySpec
from tests.contract.stored import epoch
from tests.scripted import scripted_spec
from tests.snapshots import make_trial
from tests.study_texts import GOOD, load_text, problems_of


def saved(folder: Path, number: int, attempt: int = 1, value: float = 0.5) -> Epoch:
    """An epoch whose checkpoint lies in the folder."""
    path = folder / f"a{attempt}-e{number}.pt"
    path.write_bytes(b"x")
    return epoch(
        number,
        attempt=attempt,
        metrics={"test_accuracy": value},
        checkpoint=Checkpoint(epoch=number, path=str(path), sha256="ab" * 32),
    )


def keeper(folder: Path, keep: Keep, epochs: Sequence[Epoch] = ()) -> KeptCheckpoints:
    return KeptCheckpoints(keep, "test_accuracy", Direction.MAXIMIZE, epochs, folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


VALUES = (0.5, 0.9, 0.6, 0.7, 0.8)
RUNNING = {
    "best_and_last": ["a1-e1.pt", "a1-e3.pt", "a1-e4.pt"],
    "last": ["a1-e3.pt", "a1-e4.pt"],
    "all": [f"a1-e{number}.pt" for number in range(5)],
}
COMPLETE = {
    "best_and_last": ["a1-e1.pt", "a1-e4.pt"],
    "last": ["a1-e4.pt"],
    "all": [f"a1-e{number}.pt" for number in range(5)],
}


@pytest.mark.parametrize("keep", RUNNING)
def test_of_a_running_trial_the_last_two_are_kept_and_of_a_complete_one_the_last(tmp_path, keep):
    keeping = keeper(tmp_path, keep)
    for number, value in enumerate(VALUES):
        keeping.add(saved(tmp_path, number, value=value))
    assert names(tmp_path) == RUNNING[keep]
    keeping.finish(is_complete=True)
    assert names(tmp_path) == COMPLETE[keep]


@pytest.mark.parametrize(("keep", "left"), [("best_and_last", 0), ("last", 0), ("all", 2)])
def test_of_a_trial_that_did_not_complete_nothing_is_kept(tmp_path, keep, left):
    keeping = keeper(tmp_path, keep)
    for number in range(2):
        keeping.add(saved(tmp_path, number))
    keeping.finish(is_complete=False)
    assert len(names(tmp_path)) == left


def test_what_a_later_attempt_has_reached_too_is_superseded(tmp_path):
    first = [saved(tmp_path, number) for number in range(4)]
    keeping = keeper(tmp_path, "all", first)
    keeping.add(saved(tmp_path, 2, attempt=2))
    assert names(tmp_path) == ["a1-e0.pt", "a1-e1.pt", "a2-e2.pt"]


def test_files_of_an_attempt_that_was_cut_short_go_when_the_next_begins(tmp_path):
    known = saved(tmp_path, 0)
    for name in ("a1-e1.pt", "a1-e2.pt.12.partial", "attempt-1.log", "notes.pt"):
        (tmp_path / name).write_bytes(b"")
    keeper(tmp_path, "last", [known]).begin()
    assert names(tmp_path) == ["a1-e0.pt", "attempt-1.log", "notes.pt"]


def test_a_trial_goes_on_from_the_newest_of_its_latest_attempt(tmp_path):
    epochs = [saved(tmp_path, number) for number in range(4)]
    assert [each.epoch for each in resumable(epochs)] == [3, 2]
    over = [saved(tmp_path, 0, attempt=2), *epochs[1:]]
    assert Path(resumable(over)[0].path).name == "a2-e0.pt"
    assert resumable([]) == []


def test_what_should_be_there_is_what_was_kept(tmp_path):
    epochs = [saved(tmp_path, number, value=value) for number, value in enumerate(VALUES)]
    for keep in RUNNING:
        spec = scripted_spec()
        object.__setattr__(spec, "checkpoints", CheckpointsSpec(keep=keep))
        for state, expected in (
            (TrialState.WAITING, RUNNING),
            (TrialState.RUNNING, RUNNING),
            (TrialState.COMPLETE, COMPLETE),
        ):
            found = [Path(each.path).name for each in kept(spec, state, epochs)]
            assert found == expected[keep]


def test_files_are_told_apart_by_their_names_as_a_folder_may_move(tmp_path):
    saved(tmp_path, 0)
    moved = Checkpoint(epoch=0, path="/elsewhere/a1-e0.pt", sha256="")
    assert strays(tmp_path, [moved]) == []
    assert [path.name for path in strays(tmp_path, [])] == ["a1-e0.pt"]
    assert strays(tmp_path / "nix", []) == []


def test_the_best_trial_is_complete_and_not_excluded():
    values = {0: 0.5, 1: 0.9, 2: 0.9, 3: 0.7}
    trials = [
        make_trial(number, {}, TrialState.COMPLETE, value=value)
        for number, value in values.items()
    ]
    trials.append(make_trial(4, {}, TrialState.PRUNED, value=1.0))
    trials.append(make_trial(5, {}, TrialState.COMPLETE, value=1.0, excluded=True))
    assert best_complete(trials, Direction.MAXIMIZE) == trials[1]
    assert best_complete(trials, Direction.MINIMIZE) == trials[0]
    assert best_complete([], Direction.MAXIMIZE) is None


def test_the_room_for_checkpoints_is_read_as_any_size(tmp_path):
    spec = load_text(tmp_path, GOOD + "checkpoints: {max_disk: 1.5TiB}\n")
    assert spec.checkpoints.max_disk_bytes == 3 * 2**39
    assert load_text(tmp_path, GOOD).checkpoints.max_disk_bytes is None
    assert problems_of(tmp_path, GOOD + "checkpoints: {max_disk: 20}\n") == [
        "11: checkpoints.max_disk is 20; it takes a size with a unit, such as 512MiB or 2GiB: "
        "add the unit"
    ]


def test_an_older_study_without_the_key_has_no_limit():
    document = scripted_spec().to_json()
    del document["checkpoints"]["max_disk_bytes"]
    assert StudySpec.from_json(document).checkpoints == CheckpointsSpec()
