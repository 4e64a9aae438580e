"""Checkpoints that nothing needs: removed by hand, by the quota, and by later attempts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sweep.coordinator.cleaning import Left, clean, waste_of
from sweep.coordinator.consistency import check_consistency
from sweep.coordinator.events import EpochStored, Notice
from sweep.coordinator.folders import StudyFolder, study_folder
from sweep.coordinator.inspection import inspect
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.errors import LedByAnotherError
from sweep.space.distributions import Categorical
from sweep.spec.study import CheckpointsSpec, SearchSpec
from sweep.store.store import Store, open_store
from tests.contract.stored import BOB
from tests.scripted import acts, run_to_end, run_until, scripted_plan, scripted_spec, space_of

GRID = SearchSpec(sampler="grid")
QUALITIES = space_of(quality=Categorical(choices=(0.5, 0.9, 0.7)))


def plan_in(tmp_path: Path, url: str, **changes: object) -> Plan:
    spec = replace(scripted_spec(QUALITIES, epochs=4, search=GRID), **changes)
    return replace(scripted_plan(tmp_path, spec), url=url)


@pytest.fixture
def plan(tmp_path: Path, store_url: str) -> Plan:
    """Three complete trials, the second the best, all checkpoints kept."""
    made = plan_in(tmp_path, store_url, checkpoints=CheckpointsSpec(keep="all"))
    run_to_end(made)
    return made


@pytest.fixture
def opened(plan: Plan) -> Iterator[Store]:
    with open_store(plan.url, create=False) as store:
        yield store


def folder_of(plan: Plan) -> StudyFolder:
    return study_folder(plan.run_folder, "scripted", plan.url)


def files(plan: Plan) -> list[tuple[int, str]]:
    found = folder_of(plan).path.glob("trials/*/*.pt")
    return sorted((int(path.parent.name), path.name) for path in found)


@pytest.mark.parametrize(
    ("left", "remaining"),
    [
        (Left.LAST, [(0, "a1-e3.pt"), (1, "a1-e3.pt"), (2, "a1-e3.pt")]),
        (Left.BEST, [(1, "a1-e3.pt")]),
        (Left.NONE, []),
    ],
)
def test_what_is_wanted_stays_and_the_study_is_in_order(plan, opened, left, remaining):
    study = opened.study("scripted")
    before = files(plan)
    waste = waste_of(opened, study, folder_of(plan), left)
    assert files(plan) == before, "looking removes nothing"
    assert clean(opened, study, folder_of(plan), left) == waste
    assert files(plan) == remaining
    assert len(waste.files) == len(before) - len(remaining)
    assert waste.num_bytes == len(waste.files), "each of the acted checkpoints is of one byte"
    named = [row.checkpoint.path for row in opened.epochs(1) if row.checkpoint is not None]
    assert sorted(named) == [str(folder_of(plan).trial(trial) / name) for trial, name in remaining]
    assert waste_of(opened, study, folder_of(plan), left).files == ()


def test_an_excluded_trial_is_not_the_best_one(plan, opened):
    from sweep.requests import RequestKind

    request = opened.add_request(1, RequestKind.EXCLUDE, {"trial": 1})
    with opened.lead(1, BOB, 60) as leadership:
        leadership.set_excluded(request.id, 1, excluded=True)
    clean(opened, opened.study("scripted"), folder_of(plan), Left.BEST)
    assert files(plan) == [(2, "a1-e3.pt")]


def test_a_trial_that_waits_keeps_what_it_goes_on_from(tmp_path, store_url):
    plan = plan_in(tmp_path, store_url)
    run_until(plan, EpochStored, 7)
    with open_store(plan.url, create=False) as store:
        clean(store, store.study("scripted"), folder_of(plan), Left.NONE)
    assert files(plan) == [(1, "a1-e1.pt"), (1, "a1-e2.pt")]
    run_to_end(plan)
    with open_store(plan.url, create=False) as store:
        starts = [row.epoch for row in store.all_epochs(1) if row.attempt == 2]
        study = store.study("scripted")
        assert check_consistency(inspect(store, study, folder_of(plan), is_led=False)) == []
    assert min(starts) > 0


def test_a_led_study_is_not_cleaned(plan, opened):
    before = files(plan)
    with opened.lead(1, BOB, 60), pytest.raises(LedByAnotherError):
        clean(opened, opened.study("scripted"), folder_of(plan), Left.NONE)
    assert files(plan) == before


def test_above_the_quota_the_oldest_go_but_not_the_best(tmp_path, store_url):
    plan = plan_in(tmp_path, store_url, checkpoints=CheckpointsSpec(keep="last", max_disk_bytes=3))
    run_to_end(plan)
    assert files(plan) == [(1, "a1-e3.pt"), (2, "a1-e3.pt")]
    with open_store(plan.url, create=False) as store:
        study = store.study("scripted")
        assert check_consistency(inspect(store, study, folder_of(plan), is_led=False)) == []


def test_what_is_needed_stays_above_the_quota_and_that_is_said_once(tmp_path, store_url):
    plan = plan_in(tmp_path, store_url, checkpoints=CheckpointsSpec(keep="last", max_disk_bytes=1))
    told = [event.text for event in run_study(plan) if isinstance(event, Notice)]
    (text,) = [text for text in told if "checkpoints.max_disk" in text]
    assert re.fullmatch(
        r"the checkpoints that are needed take \d+ bytes, more than checkpoints.max_disk allows "
        r"\(1 byte\)",
        text,
    )
    assert files(plan) == [(1, "a1-e3.pt"), (2, "a1-e3.pt")]


def test_what_an_attempt_left_that_was_cut_short_is_removed(tmp_path, store_url):
    plan = replace(
        scripted_plan(tmp_path, scripted_spec(acts("die once"), epochs=4)), url=store_url
    )
    folder = folder_of(plan).trial(0)
    folder.mkdir(parents=True)
    (folder / "a1-e2.pt").write_bytes(b"saved, and never reported")
    (folder / "a1-e3.pt.77.partial").write_bytes(b"cut short")
    run_to_end(plan)
    assert files(plan) == [(0, "a2-e3.pt")]
    assert sorted(path.name for path in folder.iterdir()) == [
        "a2-e3.pt",
        "attempt-1.log",
        "attempt-2.log",
    ]
