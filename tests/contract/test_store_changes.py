"""A study's version: the same while nothing happens, another after each thing that is shown."""

import pytest

from sweep.errors import NotFoundError
from sweep.records import Cause, TrialState
from sweep.requests import RequestKind
from tests.contract.stored import add_trial, epoch, new_study, start


def test_a_version_stays_while_nothing_happens(store, study, leadership):
    add_trial(leadership)
    before = store.version(study.id)
    leadership.renew()
    other = store.create_study(new_study("another"))
    assert store.version(study.id) == before
    assert store.version(other.id) != before


def test_each_change_that_is_shown_makes_another_version(store, study, leadership):
    def exclude(excluded):
        kind = RequestKind.EXCLUDE if excluded else RequestKind.INCLUDE
        asked = store.add_request(study.id, kind, {"trial": 0})
        leadership.set_excluded(asked.id, 0, excluded=excluded)

    def finish():
        leadership.finish_trial(
            trial=0, attempt=2, state=TrialState.COMPLETE, value=0.5, cause=None, message=None
        )

    changes = [
        lambda: add_trial(leadership, 0),
        lambda: start(leadership),
        lambda: leadership.store_epoch(epoch(0)),
        lambda: leadership.store_epoch(epoch(1)),
        lambda: leadership.interrupt(trial=0, attempt=1, cause=Cause.LOST),
        lambda: start(leadership),
        lambda: leadership.store_epoch(epoch(1, attempt=2)),
        finish,
        lambda: exclude(True),
        lambda: exclude(False),
        lambda: add_trial(leadership, 1),
        lambda: leadership.set_spec({"version": 1}, "1" * 64, 1),
    ]
    seen = [store.version(study.id)]
    for change in changes:
        change()
        seen.append(store.version(study.id))
    again = seen.pop(10)  # set apart and taken back: as it was
    assert again == seen[8]
    assert len(set(seen)) == len(seen)


def test_a_study_that_is_gone_has_no_version(store):
    with pytest.raises(NotFoundError):
        store.version(77)


def test_the_epochs_of_some_trials_are_those_that_count(store, study, leadership):
    for number in range(3):
        add_trial(leadership, number)
        start(leadership, number)
        leadership.store_epoch(epoch(0, trial=number))
    leadership.interrupt(trial=2, attempt=1, cause=Cause.LOST)
    start(leadership, 2)
    leadership.store_epoch(epoch(0, trial=2, attempt=2))
    found = store.epochs_of(study.id, {2, 0, 99})
    assert [(each.trial, each.attempt) for each in found] == [(0, 1), (2, 2)]
    assert store.epochs_of(study.id, ()) == ()


def test_the_epochs_of_very_many_trials_come_in_order(store, study, leadership):
    add_trial(leadership, 7)
    start(leadership, 7)
    leadership.store_epoch(epoch(0, trial=7))
    assert [each.trial for each in store.epochs_of(study.id, range(2000))] == [7]
