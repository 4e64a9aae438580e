"""The consistency check finds what cannot be true, says so in a line, and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.findings import Facts, Fault
from sweep.records import Cause, Checkpoint, Snapshot, TrialState
from sweep.spec.study import StudySpec
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_attempt, make_spec

SPEC = make_spec({"lr": [0.1, 0.2, 0.3]})
CHECKPOINT = Checkpoint(epoch=2, path="/runs/a1-e2.pt", sha256="ab" * 32)


def facts_of(snapshot: Snapshot, **changes: Any) -> Facts:
    spec = StudySpec.from_json(snapshot.study.spec)
    given = {"spec": spec, "snapshot": snapshot, "epochs": snapshot.epochs, "is_led": False}
    return Facts(**(given | changes))


def found_in(snapshot: Snapshot, **changes: Any) -> list[tuple[Fault, str]]:
    return [(each.fault, str(each)) for each in check_consistency(facts_of(snapshot, **changes))]


def with_trial(snapshot: Snapshot, number: int, **changes: Any) -> Snapshot:
    trials = list(snapshot.trials)
    trials[number] = replace(trials[number], **changes)
    return replace(snapshot, trials=tuple(trials))


def three_epochs() -> Snapshot:
    return SnapshotBuilder(SPEC).complete(0.1, 0.2, 0.3, lr=0.1).build()


def test_a_study_in_order_has_no_findings():
    assert found_in(lr_batch_study()) == []
    assert found_in(SnapshotBuilder(SPEC).waiting(lr=0.1).build()) == []
    assert found_in(SnapshotBuilder(SPEC).build()) == []


def test_a_hole_in_the_numbers_is_found():
    snapshot = lr_batch_study()
    gone = tuple(trial for trial in snapshot.trials if trial.number not in (1, 3))
    left = replace(
        snapshot,
        trials=gone,
        attempts=tuple(each for each in snapshot.attempts if each.trial not in (1, 3)),
        epochs=tuple(each for each in snapshot.epochs if each.trial not in (1, 3)),
    )
    assert found_in(left) == [(Fault.HOLE, "no trial has the number 1, 3")]


@pytest.mark.parametrize(
    ("number", "changes", "fault", "message"),
    [
        (0, {"value": None}, Fault.NO_VALUE, "trial 0: is complete without a value"),
        (3, {"cause": None}, Fault.NO_CAUSE, "trial 3: has failed without a cause"),
        (
            0,
            {"value": 0.7},
            Fault.WRONG_VALUE,
            "trial 0: has the value 0.7, and 0.9 at its last epoch",
        ),
        (3, {"value": 0.1}, Fault.WRONG_VALUE, "trial 3: is failed, and has the value 0.1"),
        (
            0,
            {"attempt": 2},
            Fault.ATTEMPTS,
            "trial 0: is at attempt 2, and those stored are 1",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_trial_that_cannot_be_is_found(number, changes, fault, message):
    assert found_in(with_trial(lr_batch_study(), number, **changes)) == [(fault, message)]


def test_a_running_trial_is_in_order_only_while_somebody_leads():
    snapshot = SnapshotBuilder(SPEC).running(0.1, lr=0.1).build()
    assert found_in(snapshot, is_led=True) == []
    message = "trial 0: is running, and nobody leads the study"
    assert found_in(snapshot) == [(Fault.UNLED, message)]


def test_an_attempt_that_was_left_open_is_found():
    snapshot = SnapshotBuilder(SPEC).complete(0.1, 0.2, 0.3, lr=0.1).build()
    trial = replace(snapshot.trials[0], attempt=2)
    left_open = make_attempt(trial, 1, state=TrialState.RUNNING, finished_at=None)
    attempts = (left_open, make_attempt(trial, 2))
    found = found_in(replace(snapshot, trials=(trial,), attempts=attempts))
    message = "trial 0: its attempt 1 is open, and the trial complete"
    assert found == [(Fault.OPEN_ATTEMPT, message)]


def test_epochs_beyond_the_plan_gaps_and_doubles_are_found():
    snapshot = three_epochs()
    first, second, third = snapshot.epochs
    moved = replace(third, epoch=3)
    beyond = replace(snapshot, epochs=(first, second, moved))
    assert found_in(beyond) == [
        (Fault.BEYOND, "trial 0: has an epoch 3, and 3 are planned, from 0"),
        (Fault.GAP, "trial 0: lacks epoch 2, and has epoch 3"),
    ]
    doubled = replace(snapshot, epochs=(first, second, third, replace(third, attempt=0)))
    assert found_in(doubled) == [(Fault.TWICE, "trial 0: its epoch 2 counts 2 times")]


def test_a_checkpoint_must_be_there_with_its_bytes():
    expected = {0: (CHECKPOINT,)}
    assert found_in(three_epochs(), expected=expected, hashes={CHECKPOINT.path: "ab" * 32}) == []
    assert found_in(three_epochs(), expected=expected) == [
        (Fault.NO_CHECKPOINT, "trial 0: its checkpoint is not there: /runs/a1-e2.pt")
    ]
    assert found_in(three_epochs(), expected=expected, hashes={CHECKPOINT.path: "cd"}) == [
        (
            Fault.CHANGED_CHECKPOINT,
            "trial 0: its checkpoint has another SHA-256 than stored: /runs/a1-e2.pt",
        )
    ]


def test_what_lies_about_and_what_optuna_tells_otherwise_is_found():
    found = found_in(
        three_epochs(),
        strays={0: ("/runs/a1-e0.pt",)},
        projection=((0, "has another value in Optuna's tables"),),
    )
    assert found == [
        (Fault.STRAY_FILE, "trial 0: a checkpoint that nothing needs: /runs/a1-e0.pt"),
        (Fault.PROJECTION, "trial 0: has another value in Optuna's tables"),
    ]


def test_a_diverged_trial_with_epochs_and_no_value_is_in_order():
    builder = SnapshotBuilder(SPEC).failed(0.1, None, lr=0.1, trial={"cause": Cause.DIVERGED})
    assert found_in(builder.build()) == []
