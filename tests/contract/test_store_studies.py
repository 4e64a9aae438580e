"""Studies, their specs and the requests to their leaders, on every kind of database."""

import os
import subprocess
import sys
from datetime import UTC, timedelta

import pytest

from sweep.clock import utc_now
from sweep.errors import NotFoundError, StaleAttemptError, TransitionError
from sweep.records import TrialState
from sweep.requests import RequestKind
from sweep.store.store import open_store
from tests.contract.stored import ALICE, add_trial, epoch, new_study, start

ODD_NAMES = ["größe 学习率", 'it\'s "quoted"', "100% of {x}", "a;drop table sweep_studies", "a\nb"]


def test_a_study_comes_back_as_it_was_stored(store):
    new = new_study(spec={"b": 1, "a": [1.0, None, "é"]}, git_commit="abc123", versions={"z": "1"})
    study = store.create_study(new)
    assert (study.id, study.space_version) == (1, 1)
    assert all(getattr(study, name) == getattr(new, name) for name in type(new).__slots__)
    assert list(study.spec) == ["b", "a"]
    assert store.study(new.name) == study == store.find_study(new.name)


def test_creating_a_study_again_gives_the_stored_one(store):
    study = store.create_study(new_study(seed=1))
    assert store.create_study(new_study(seed=2)) == study
    assert store.studies() == [study]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_study_may_have_any_name(store, name):
    study = store.create_study(new_study(name))
    assert store.study(name) == study


def test_studies_are_listed_in_the_order_of_their_creation(store):
    for name in ("b", "c", "a"):
        store.create_study(new_study(name))
    assert [study.name for study in store.studies()] == ["b", "c", "a"]


def test_an_unknown_study_is_named_with_those_nearly_called_so(store):
    store.create_study(new_study("lr_bs_opt"))
    with pytest.raises(NotFoundError, match=r"no study 'LR_BS_OP'; did you mean 'lr_bs_opt'\?"):
        store.study("LR_BS_OP")
    with pytest.raises(NotFoundError, match="sweep studies list"):
        store.study("zzz")
    assert store.find_study("zzz") is None
    with pytest.raises(NotFoundError, match="no study with id 99"):
        store.snapshot(99)
    with pytest.raises(NotFoundError, match="no study with id 99"):
        store.add_request(99, RequestKind.DRAIN)


def test_times_are_aware_and_in_utc(store):
    created_at = store.create_study(new_study()).created_at
    assert created_at.tzinfo is UTC
    assert abs(created_at - utc_now()) < timedelta(minutes=1)


def test_times_are_the_same_in_every_time_zone(store, store_url, study, leadership):
    add_trial(leadership)
    start(leadership)
    leadership.store_epoch(epoch())
    code = (
        "import sys; from sweep.store.store import open_store\n"
        "with open_store(sys.argv[1], create=False) as store: print(repr(store.snapshot(1)))"
    )
    for zone in ("Asia/Tokyo", "America/New_York"):
        read = subprocess.run(
            [sys.executable, "-c", code, store_url],
            env={**os.environ, "TZ": zone, "PGTZ": zone},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert read.stdout.strip() == repr(store.snapshot(study.id))


def test_a_changed_space_is_a_new_version_beside_the_old_one(store, study, leadership):
    changed = leadership.set_spec({"space": "wider"}, "f" * 64, 2)
    assert (changed.spec, changed.spec_hash, changed.space_version) == (
        {"space": "wider"},
        "f" * 64,
        2,
    )
    assert store.study(study.name) == changed == leadership.study
    assert store.specs(study.id) == {1: study.spec, 2: {"space": "wider"}}


def test_a_harmless_change_keeps_the_space_version(store, study, leadership):
    for _ in range(2):
        changed = leadership.set_spec({"budget": 40}, "e" * 64, 1)
        assert (changed.spec, changed.space_version) == ({"budget": 40}, 1)
    assert store.specs(study.id) == {1: {"budget": 40}}


@pytest.mark.parametrize("version", [0, 3])
def test_a_space_version_follows_the_last_one(store, study, leadership, version):
    with pytest.raises(TransitionError, match="cannot follow version 1"):
        leadership.set_spec({}, "", version)
    assert store.study(study.name) == study


def test_requests_wait_for_the_leader_the_oldest_first(store, study, leadership):
    drain = store.add_request(study.id, RequestKind.DRAIN)
    kill = store.add_request(study.id, RequestKind.KILL, {"reason": "ñ"})
    assert store.pending_requests(study.id) == [drain, kill]
    assert kill.arguments == {"reason": "ñ"}
    for _ in range(2):
        leadership.finish_request(drain.id)
        assert store.pending_requests(study.id) == [kill]


def test_a_leader_finishes_the_requests_of_its_own_study_only(store, study, leadership):
    other = store.create_study(new_study("other"))
    request = store.add_request(other.id, RequestKind.DRAIN)
    with pytest.raises(TransitionError, match=f"no request {request.id}"):
        leadership.finish_request(request.id)
    assert store.pending_requests(other.id) == [request]


def test_two_studies_do_not_mix(store, study, leadership):
    other = store.create_study(new_study("other"))
    with store.lead(other.id, ALICE, 60) as other_leadership:
        for led, accuracy in ((leadership, 0.1), (other_leadership, 0.2)):
            add_trial(led, params={"accuracy": accuracy})
            start(led)
            led.store_epoch(epoch(metrics={"test_accuracy": accuracy}))
        other_leadership.set_tuner_attrs(0, {"rung": 1})
        for asked, accuracy in ((study, 0.1), (other, 0.2)):
            snapshot = store.snapshot(asked.id)
            assert snapshot.study.name == asked.name
            assert [trial.params for trial in snapshot.trials] == [{"accuracy": accuracy}]
            assert [row.metrics for row in snapshot.epochs] == [{"test_accuracy": accuracy}]
            assert len(snapshot.attempts) == 1
        leadership.finish_trial(trial=0, attempt=1, state=TrialState.PRUNED)
        with pytest.raises(StaleAttemptError):
            leadership.store_epoch(epoch(1))
        other_leadership.store_epoch(epoch(1))
    assert store.trials(study.id)[0].tuner_attrs == {}


def test_what_is_stored_is_there_after_closing(store_url):
    with open_store(store_url, create=True) as store:
        study = store.create_study(new_study())
    with open_store(store_url, create=False) as store:
        assert store.studies() == [study]
