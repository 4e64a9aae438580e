"""Epochs: what is stored of them, and which row counts where attempts overlap."""

import math
from dataclasses import replace
from datetime import UTC, timedelta, timezone

import pytest

from sweep.records import Cause, TrialState
from sweep.views.summary import outline_of
from tests.contract.stored import ALICE, NOON, add_trial, epoch, new_study, start


@pytest.fixture
def running(leadership):
    add_trial(leadership)
    start(leadership)
    return leadership


def restart(leadership, attempt):
    leadership.interrupt(trial=0, attempt=attempt, cause=Cause.LOST)
    start(leadership)


def test_an_epoch_comes_back_as_it_was_stored(store, study, running):
    full = epoch(metrics={"z": 0.1 + 0.2, "a": -1e-300, "größe %": 3.0})
    bare = epoch(
        1,
        lr=None,
        images_per_s=None,
        peak_memory_bytes=None,
        baseline_memory_bytes=None,
        micro_batch=None,
        num_sharing=None,
        checkpoint=None,
    )
    running.store_epoch(full)
    running.store_epoch(bare)
    assert store.epochs(study.id) == (full, bare)
    assert list(store.epochs(study.id)[0].metrics) == ["z", "a", "größe %"]


def test_measurements_are_a_snapshot_without_the_checkpoints(store, study, running):
    running.store_epoch(epoch())
    whole = store.snapshot(study.id)
    assert whole.epochs[0].checkpoint is not None
    bare = tuple(replace(each, checkpoint=None) for each in whole.epochs)
    assert store.measurements(study.id) == replace(whole, epochs=bare)


def test_a_moment_of_another_time_zone_comes_back_in_utc(store, study, running):
    tokyo = timezone(timedelta(hours=9))
    running.store_epoch(epoch(stored_at=NOON.astimezone(tokyo)))
    (stored,) = store.epochs(study.id)
    assert (stored.stored_at, stored.stored_at.tzinfo) == (NOON, UTC)


def test_a_number_that_is_not_finite_comes_back_as_none(store, study, running):
    running.store_epoch(epoch(metrics={"a": math.nan, "b": math.inf, "c": None}, lr=math.nan))
    (stored,) = store.epochs(study.id)
    assert stored.metrics == {"a": None, "b": None, "c": None}
    assert stored.lr is None


def test_the_same_epoch_twice_is_stored_once_as_it_was_first(store, study, running):
    running.store_epoch(epoch(metrics={"test_accuracy": 0.1}))
    running.store_epoch(epoch(metrics={"test_accuracy": 0.9}))
    assert [row.metrics for row in store.epochs(study.id)] == [{"test_accuracy": 0.1}]


def test_epochs_are_sorted_by_trial_and_epoch(store, study, leadership):
    for number in (1, 0):
        add_trial(leadership, number)
        start(leadership, number)
        for index in (10, 9, 0):
            leadership.store_epoch(epoch(index, trial=number))
    found = [(row.trial, row.epoch) for row in store.epochs(study.id)]
    assert found == [(0, 0), (0, 9), (0, 10), (1, 0), (1, 9), (1, 10)]


def test_the_row_of_the_latest_attempt_that_reached_an_epoch_counts(store, study, running):
    for index in range(4):
        running.store_epoch(epoch(index, attempt=1))
    restart(running, 1)
    for index in (2, 3):
        running.store_epoch(epoch(index, attempt=2))
    restart(running, 2)
    for index in (0, 1, 2):
        running.store_epoch(epoch(index, attempt=3))
    found = [(row.epoch, row.attempt) for row in store.epochs(study.id)]
    assert found == [(0, 3), (1, 3), (2, 3), (3, 2)]
    assert store.snapshot(study.id).epochs == store.epochs(study.id)


def test_a_later_attempt_in_another_study_hides_no_row(store, study, running):
    running.store_epoch(epoch(0))
    other = store.create_study(new_study("other"))
    with store.lead(other.id, ALICE, 60) as leadership:
        add_trial(leadership)
        start(leadership)
        restart(leadership, 1)
        leadership.store_epoch(epoch(0, attempt=2))
    assert store.epochs(study.id) == (epoch(0),)
    assert store.epochs(other.id) == (epoch(0, attempt=2),)


def test_attempts_are_sorted_by_trial_and_attempt(store, study, running):
    add_trial(running, 1)
    start(running, 1)
    restart(running, 1)
    found = [(attempt.trial, attempt.attempt) for attempt in store.attempts(study.id)]
    assert found == [(0, 1), (0, 2), (1, 1)]


@pytest.fixture
def varied(store, study, leadership):
    """Four trials: complete after an attempt that was cut short, pruned, running, waiting."""
    for number in range(4):
        add_trial(leadership, number)
        start(leadership, number)
    for index in range(3):
        leadership.store_epoch(epoch(index))
    restart(leadership, 1)
    leadership.store_epoch(epoch(2, attempt=2, metrics={"test_accuracy": 0.9}))
    leadership.finish_trial(trial=0, attempt=2, state=TrialState.COMPLETE, value=0.9)
    leadership.store_epoch(epoch(0, trial=1, metrics={"test_accuracy": None, "loss": 2.0}))
    leadership.finish_trial(trial=1, attempt=1, state=TrialState.PRUNED)
    leadership.store_epoch(epoch(0, trial=2))
    leadership.store_epoch(epoch(0, trial=3))
    leadership.interrupt(trial=3, attempt=1, cause=Cause.LOST)
    return store


def test_an_outline_has_the_epochs_of_open_trials_and_counts_those_of_all(varied, study):
    outline, snapshot = varied.outline(study.id), varied.snapshot(study.id)
    assert outline.study == snapshot.study
    assert outline.trials == snapshot.trials
    assert outline.attempts == snapshot.attempts
    assert outline.epochs == (epoch(0, trial=2), epoch(0, trial=3))
    assert outline.num_epochs == {0: 3, 1: 1, 2: 1, 3: 1}
    assert outline == outline_of(snapshot)


def test_the_values_of_a_metric_are_those_of_the_effective_rows(varied, study):
    assert varied.values(study.id, "test_accuracy") == {
        0: {0: 0.5, 1: 0.51, 2: 0.9},
        2: {0: 0.5},
        3: {0: 0.5},
    }
    assert varied.values(study.id, "loss") == {1: {0: 2.0}}
    assert varied.values(study.id, "no such metric") == {}


def test_the_outline_of_a_study_hides_nothing_of_another(varied, study):
    other = varied.create_study(new_study("other"))
    with varied.lead(other.id, ALICE, 60) as leadership:
        add_trial(leadership)
        start(leadership)
        leadership.store_epoch(epoch(7))
    assert varied.outline(other.id).epochs == (epoch(7),)
    assert varied.outline(other.id).num_epochs == {0: 1}
    assert varied.values(other.id, "test_accuracy") == {0: {7: 0.5 + 7 / 100}}
    assert varied.outline(study.id).num_epochs == {0: 3, 1: 1, 2: 1, 3: 1}
