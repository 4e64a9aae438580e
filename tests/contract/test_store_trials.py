"""A trial's life: every verb, its guard, and what it leaves, on every kind of database."""

import math
from dataclasses import replace

import pytest

from sweep.errors import NotFoundError, StaleAttemptError, TransitionError
from sweep.records import Cause, TrialState
from sweep.store.entries import NewTrial
from tests.contract.stored import PLACE, add_trial, epoch, start

PARAMS = {
    "lr": 0.1 + 0.2,
    "batch_size": 128,
    "momentum": 1.0,
    "nesterov": True,
    "optimizer": "adam",
    "tiny": 5e-324,
    "text": "128",
    'größe "学"%': -0.0,
    "zero": 0,
    "no": False,
}


def types_of(params):
    return [(name, type(value), repr(value)) for name, value in params.items()]


def test_a_new_trial_waits_with_its_params_exactly_as_given(store, study, leadership):
    trial = add_trial(leadership, params=PARAMS, seed=2**63 - 1, enqueued=True)
    assert trial.state is TrialState.WAITING
    assert (trial.number, trial.attempt, trial.seed, trial.enqueued) == (0, 0, 2**63 - 1, True)
    assert types_of(trial.params) == types_of(PARAMS)
    assert (trial.started_at, trial.finished_at, trial.value, trial.cause) == (None,) * 4
    assert store.trials(study.id) == (trial,)


def test_trials_are_sorted_by_number(store, study, leadership):
    for number in (10, 2, 0):
        add_trial(leadership, number)
    assert [trial.number for trial in store.trials(study.id)] == [0, 2, 10]


def test_adding_the_same_trial_again_changes_nothing(store, study, leadership):
    assert add_trial(leadership) == add_trial(leadership)
    assert len(store.trials(study.id)) == 1


@pytest.mark.parametrize("change", [{"params": {"lr": 1}}, {"seed": 5}])
def test_a_number_is_given_to_one_trial_only(store, study, leadership, change):
    trial = add_trial(leadership, params={"lr": 1.0})
    with pytest.raises(TransitionError, match="trial 0 has other params"):
        add_trial(leadership, **{"params": {"lr": 1.0}, **change})
    assert store.trials(study.id) == (trial,)


def test_a_waiting_trial_starts_to_run_in_its_first_attempt(store, study, leadership):
    add_trial(leadership)
    attempt = start(leadership)
    (trial,) = store.trials(study.id)
    assert (trial.state, trial.attempt) == (TrialState.RUNNING, 1)
    assert trial.started_at == attempt.started_at
    assert (attempt.trial, attempt.attempt, attempt.state) == (0, 1, TrialState.RUNNING)
    assert (attempt.device, attempt.host, attempt.pid) == ("cpu", "alpha", 4711)
    assert (attempt.num_slots, attempt.log, attempt.finished_at) == (2, "runs/1/0/1.log", None)
    assert store.attempts(study.id) == (attempt,)


def test_a_new_trial_may_begin_at_once(store, study, leadership):
    new = NewTrial(number=3, params={"lr": 0.1}, seed=5, space_version=1)
    trial, attempt = leadership.begin_trial(new, PLACE)
    assert (trial.state, trial.attempt, trial.params) == (TrialState.RUNNING, 1, {"lr": 0.1})
    assert store.snapshot(study.id).trials == (trial,)
    assert store.snapshot(study.id).attempts == (attempt,)
    assert trial.started_at == attempt.started_at
    with pytest.raises(TransitionError, match="trial 3 is running"):
        leadership.begin_trial(new, PLACE)
    with pytest.raises(TransitionError, match="other params"):
        leadership.begin_trial(replace(new, params={"lr": 0.2}), PLACE)


def test_a_running_trial_starts_no_second_attempt(store, study, leadership):
    add_trial(leadership)
    start(leadership)
    with pytest.raises(
        TransitionError, match="trial 0 is running; an attempt starts from waiting"
    ):
        start(leadership)
    assert len(store.attempts(study.id)) == 1


def test_a_trial_that_does_not_exist_cannot_be_changed(store, study, leadership):
    with pytest.raises(NotFoundError, match="no trial 5"):
        start(leadership, 5)
    with pytest.raises(NotFoundError, match="no trial 5"):
        leadership.store_epoch(epoch(trial=5))
    with pytest.raises(NotFoundError, match="no trial 5"):
        leadership.set_tuner_attrs(5, {})
    with pytest.raises(NotFoundError, match="no trial 5"):
        leadership.interrupt(trial=5, attempt=1, cause=Cause.LOST)
    assert store.attempts(study.id) == store.trials(study.id) == ()


ENDINGS = [
    {"state": TrialState.COMPLETE, "value": 0.1 + 0.2},
    {"state": TrialState.PRUNED, "value": 0.25},
    {"state": TrialState.PRUNED},
    {"state": TrialState.FAILED, "cause": Cause.EXCEPTION, "message": "ValueError: 100% é"},
    {"state": TrialState.FAILED, "cause": Cause.OUT_OF_MEMORY},
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_finished_trial_and_its_attempt_end_alike(store, study, leadership, ending):
    add_trial(leadership)
    start(leadership)
    trial = leadership.finish_trial(trial=0, attempt=1, **ending)
    (attempt,) = store.attempts(study.id)
    assert (trial.state, trial.value) == (ending["state"], ending.get("value"))
    for ended in (trial, attempt):
        assert ended.state is ending["state"]
        assert (ended.cause, ended.message) == (ending.get("cause"), ending.get("message"))
    assert trial.finished_at == attempt.finished_at
    assert store.trials(study.id) == (trial,)


@pytest.mark.parametrize("ending", ENDINGS)
def test_finishing_again_in_the_same_way_changes_nothing(store, study, leadership, ending):
    add_trial(leadership)
    start(leadership)
    trial = leadership.finish_trial(trial=0, attempt=1, **ending)
    before = store.snapshot(study.id)
    assert leadership.finish_trial(trial=0, attempt=1, **ending) == trial
    assert store.snapshot(study.id) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_finished_trial_is_changed_no_more(store, study, leadership, ending):
    add_trial(leadership)
    start(leadership)
    leadership.finish_trial(trial=0, attempt=1, **ending)
    before = store.snapshot(study.id)
    with pytest.raises(StaleAttemptError, match="attempt 1 of trial 0 is refused"):
        leadership.finish_trial(trial=0, attempt=1, state=TrialState.COMPLETE, value=0.9)
    with pytest.raises(StaleAttemptError):
        leadership.interrupt(trial=0, attempt=1, cause=Cause.LOST)
    with pytest.raises(StaleAttemptError):
        leadership.store_epoch(epoch(1))
    with pytest.raises(TransitionError):
        start(leadership)
    assert store.snapshot(study.id) == before


def test_an_interrupted_trial_waits_and_its_attempt_has_failed(store, study, leadership):
    add_trial(leadership)
    started = start(leadership)
    trial = leadership.interrupt(trial=0, attempt=1, cause=Cause.LOST, message="signal 9")
    assert (trial.state, trial.attempt, trial.cause) == (TrialState.WAITING, 1, None)
    (attempt,) = store.attempts(study.id)
    assert (attempt.state, attempt.cause) == (TrialState.FAILED, Cause.LOST)
    assert (attempt.message, attempt.finished_at is None) == ("signal 9", False)
    assert leadership.interrupt(trial=0, attempt=1, cause=Cause.LOST) == trial
    second = start(leadership)
    assert second.attempt == 2
    assert store.trials(study.id)[0].started_at == started.started_at


def test_what_a_stale_attempt_says_is_refused(store, study, leadership):
    add_trial(leadership)
    start(leadership)
    leadership.interrupt(trial=0, attempt=1, cause=Cause.HUNG)
    start(leadership)
    before = store.snapshot(study.id)
    expected = "attempt 1 of trial 0 is refused: the trial is running and its current attempt is 2"
    with pytest.raises(StaleAttemptError, match=expected):
        leadership.store_epoch(epoch(attempt=1))
    with pytest.raises(StaleAttemptError, match=expected):
        leadership.finish_trial(trial=0, attempt=1, state=TrialState.COMPLETE, value=0.9)
    with pytest.raises(StaleAttemptError, match=expected):
        leadership.interrupt(trial=0, attempt=1, cause=Cause.LOST)
    assert store.snapshot(study.id) == before


def test_an_attempt_that_has_not_begun_is_refused(store, study, leadership):
    add_trial(leadership)
    start(leadership)
    with pytest.raises(StaleAttemptError):
        leadership.store_epoch(epoch(attempt=2))
    assert store.epochs(study.id) == ()


def test_what_the_tuner_keeps_is_replaced_as_a_whole(store, study, leadership):
    add_trial(leadership, tuner_attrs={"a": 1})
    leadership.set_tuner_attrs(0, {"completed_rung_0": 0.5, "list": [1, 2.0, None]})
    (trial,) = store.trials(study.id)
    assert trial.tuner_attrs == {"completed_rung_0": 0.5, "list": [1, 2.0, None]}


def test_a_message_of_any_bytes_is_stored(store, study, leadership):
    add_trial(leadership)
    start(leadership)
    message = "bad \x00 byte \udcff 学"
    trial = leadership.finish_trial(
        trial=0, attempt=1, state=TrialState.FAILED, cause=Cause.EXCEPTION, message=message
    )
    assert trial.message == "bad \ufffd byte ? 学"


@pytest.mark.parametrize(
    "ending",
    [
        {"state": TrialState.RUNNING},
        {"state": TrialState.COMPLETE},
        {"state": TrialState.COMPLETE, "value": math.inf},
        {"state": TrialState.COMPLETE, "value": 0.5, "cause": Cause.LOST},
        {"state": TrialState.FAILED},
        {"state": TrialState.FAILED, "cause": Cause.LOST, "value": 0.5},
    ],
)
def test_an_ending_that_makes_no_sense_is_our_own_bug(store, study, leadership, ending):
    add_trial(leadership)
    start(leadership)
    with pytest.raises(AssertionError):
        leadership.finish_trial(trial=0, attempt=1, **ending)
    assert store.trials(study.id)[0].state is TrialState.RUNNING
