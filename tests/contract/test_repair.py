"""A stored study that was tampered with is found out, and repaired as far as it can be."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.events import EpochStored
from sweep.coordinator.findings import Fault, Finding
from sweep.coordinator.folders import study_folder
from sweep.coordinator.inspection import inspect
from sweep.coordinator.plan import Plan
from sweep.coordinator.projecting import differences, unproject
from sweep.coordinator.repair import repair
from sweep.errors import LedByAnotherError
from sweep.records import Cause, TrialState
from sweep.store.database import Database
from sweep.store.store import Store, open_store
from sweep.store.url import locate
from tests.contract.stored import BOB, add_trial
from tests.optuna_view import optuna_trials
from tests.scripted import acts, run_to_end, run_until, scripted_plan, scripted_spec


@pytest.fixture
def plan(tmp_path: Path, store_url: str) -> Plan:
    """A study of a complete, a failed and a diverged trial, run to its end."""
    spec = scripted_spec(acts("fine", "die", "nan"))
    made = replace(scripted_plan(tmp_path, spec), url=store_url)
    run_to_end(made)
    return made


@pytest.fixture
def opened(plan: Plan) -> Iterator[Store]:
    with open_store(plan.url, create=False) as store:
        yield store


def change(plan: Plan, statement: str) -> None:
    database = Database(locate(plan.url))
    with database.engine.begin() as connection:
        assert connection.execute(text(statement)).rowcount > 0
    database.close()


def found(store: Store, plan: Plan) -> list[Finding]:
    study = store.study("scripted")
    folder = study_folder(plan.run_folder, "scripted", plan.url)
    return check_consistency(inspect(store, study, folder, is_led=False))


def repaired(store: Store, plan: Plan) -> tuple[list[Fault], list[Fault]]:
    folder = study_folder(plan.run_folder, "scripted", plan.url)
    was, left = repair(store, store.study("scripted"), folder)
    return [each.fault for each in was], [each.fault for each in left]


def test_a_study_that_ran_to_its_end_is_in_order(plan, opened):
    assert found(opened, plan) == []
    assert repaired(opened, plan) == ([], [])


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE sweep_trials SET value = NULL WHERE number = 0", Fault.NO_VALUE),
        ("UPDATE sweep_trials SET value = 0.5 WHERE number = 0", Fault.WRONG_VALUE),
        ("UPDATE sweep_trials SET cause = NULL WHERE number = 1", Fault.NO_CAUSE),
        (
            "UPDATE sweep_attempts SET state = 'running', finished_at = NULL "
            "WHERE trial = 1 AND attempt = 1",
            Fault.OPEN_ATTEMPT,
        ),
    ],
    ids=lambda value: str(value)[-30:],
)
def test_what_still_can_be_known_is_repaired(plan, opened, statement, fault):
    before = opened.snapshot(1)
    change(plan, statement)
    was, left = repaired(opened, plan)
    assert fault in was
    assert left == []
    after = opened.snapshot(1)
    assert after.trials == before.trials
    assert [(each.state, each.cause) for each in after.attempts] == [
        (before_.state, before_.cause if fault is not Fault.OPEN_ATTEMPT else each.cause)
        for before_, each in zip(before.attempts, after.attempts, strict=True)
    ]


def test_what_was_never_measured_is_not_made_up(plan, opened):
    change(plan, "DELETE FROM sweep_epochs WHERE trial = 0 AND epoch = 1")
    was, left = repaired(opened, plan)
    assert Fault.GAP in was
    assert left == [Fault.GAP]


def test_trials_of_a_dead_leader_wait_again(tmp_path, store_url):
    spec = scripted_spec(trials=2)
    plan = replace(scripted_plan(tmp_path, spec), url=store_url)
    run_until(plan, EpochStored, 2)
    change(plan, "UPDATE sweep_trials SET state = 'running'")
    change(plan, "UPDATE sweep_attempts SET state = 'running', finished_at = NULL")
    with open_store(plan.url, create=False) as store:
        was, left = repaired(store, plan)
        assert Fault.UNLED in was
        assert left == []
        (trial,) = store.trials(1)
        (attempt,) = store.attempts(1)
    assert trial.state is TrialState.WAITING
    assert (attempt.state, attempt.cause) == (TrialState.FAILED, Cause.CANCELLED)


def test_checkpoints_that_are_gone_or_changed_are_named_no_more(plan, opened):
    folder = study_folder(plan.run_folder, "scripted", plan.url).trial(0)
    first, *_ = sorted(folder.glob("*.pt"))
    first.write_bytes(b"changed")
    assert [each.fault for each in found(opened, plan)] == [Fault.CHANGED_CHECKPOINT]
    assert repaired(opened, plan) == ([Fault.CHANGED_CHECKPOINT], [])
    assert not first.exists()
    assert [row.checkpoint for row in opened.epochs(1) if row.trial == 0][-1] is None


def test_files_that_nothing_names_are_removed_and_links_are_not_followed(plan, opened, tmp_path):
    folder = study_folder(plan.run_folder, "scripted", plan.url).trial(1)
    stray = folder / "a9-e0.pt"
    stray.write_bytes(b"")
    outside = tmp_path / "outside.pt"
    outside.write_bytes(b"mine")
    (folder / "a8-e0.pt").symlink_to(outside)
    assert repaired(opened, plan) == ([Fault.STRAY_FILE], [])
    assert not stray.exists()
    assert outside.read_bytes() == b"mine"


def test_optunas_tables_that_tell_otherwise_are_made_anew(plan, opened):
    change(plan, "UPDATE trial_values SET value = 0.123")
    assert [str(each) for each in found(opened, plan)] == [
        "trial 0: has another value in Optuna's tables"
    ]
    assert repaired(opened, plan) == ([Fault.PROJECTION], [])
    first, *_ = optuna_trials(opened.connection_string, "scripted")
    assert first.value == opened.trials(1)[0].value


def test_a_study_that_is_led_is_not_repaired(plan, opened):
    change(plan, "UPDATE sweep_trials SET value = 0.5 WHERE number = 0")
    with opened.lead(1, BOB, 60), pytest.raises(LedByAnotherError):
        repaired(opened, plan)
    assert opened.trials(1)[0].value == 0.5


def test_looking_and_deleting_make_no_tables_of_optunas(store, study, leadership):
    trial = add_trial(leadership)
    assert differences(store, study, (trial,)) == [(0, "is not in Optuna's tables")]
    unproject(store, study)
    assert not store.has_table("trials")
