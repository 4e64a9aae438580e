"""Requests to a leader: what they change, once, and only while it leads."""

import pytest

from sweep.errors import NotFoundError, TransitionError
from sweep.records import Cause, TrialState
from sweep.requests import RequestKind
from sweep.store import upkeep
from sweep.store.entries import NewTrial
from tests.contract.stored import add_trial, epoch, start


def asked(store, study, kind=RequestKind.EXCLUDE, **arguments):
    return store.add_request(study.id, kind, arguments)


def failed(leadership, number=0):
    add_trial(leadership, number)
    start(leadership, number)
    leadership.store_epoch(epoch(0, trial=number))
    return leadership.finish_trial(
        trial=number, attempt=1, state=TrialState.FAILED, cause=Cause.LOST, message="gone"
    )


def new_trial(number):
    return NewTrial(
        number=number, params={"lr": 0.5}, seed=3, space_version=1, enqueued=True, tuner_attrs={}
    )


def test_an_excluded_trial_stays_and_is_taken_back(store, study, leadership):
    before = failed(leadership)
    request = asked(store, study, trial=0)
    for _ in range(2):  # the second call is that of a leader whose answer was lost
        assert leadership.set_excluded(request.id, 0, excluded=True).excluded
    assert store.pending_requests(study.id) == []
    assert store.request(request.id).trial == 0
    again = asked(store, study, RequestKind.INCLUDE, trial=0)
    assert leadership.set_excluded(again.id, 0, excluded=False) == before


def test_a_trial_that_is_not_finished_cannot_be_excluded(store, study, leadership):
    add_trial(leadership)
    request = asked(store, study, trial=0)
    with pytest.raises(TransitionError, match="trial 0 is waiting; nothing was changed"):
        leadership.set_excluded(request.id, 0, excluded=True)
    assert store.pending_requests(study.id) == [request]


def test_a_retried_trial_waits_as_a_new_one_and_names_no_checkpoint(store, study, leadership):
    failed(leadership)
    leadership.set_excluded(asked(store, study, trial=0).id, 0, excluded=True)
    request = asked(store, study, RequestKind.RETRY, trial=0)
    for _ in range(2):
        trial = leadership.retry(request.id, 0)
    assert (trial.state, trial.cause, trial.message) == (TrialState.WAITING, None, None)
    assert (trial.finished_at, trial.excluded, trial.attempt) == (None, False, 1)
    assert [row.checkpoint for row in store.epochs(study.id)] == [None]
    assert start(leadership).attempt == 2


@pytest.mark.parametrize("state", [TrialState.COMPLETE, TrialState.PRUNED])
def test_only_a_failed_trial_is_tried_again(store, study, leadership, state):
    add_trial(leadership)
    start(leadership)
    leadership.finish_trial(trial=0, attempt=1, state=state, value=0.5)
    request = asked(store, study, RequestKind.RETRY, trial=0)
    with pytest.raises(TransitionError, match=f"trial 0 is {state}"):
        leadership.retry(request.id, 0)
    assert store.trials(study.id)[0].state is state


def test_an_enqueued_trial_is_added_once_however_often_its_answer_is_lost(
    store, study, leadership
):
    request = asked(store, study, RequestKind.ENQUEUE, params={"lr": 0.5})
    first = leadership.enqueue(request.id, new_trial(0))
    assert leadership.enqueue(request.id, new_trial(1)) == first
    assert [trial.number for trial in store.trials(study.id)] == [0]


def test_a_refused_request_keeps_its_reason_and_changes_nothing(store, study, leadership):
    failed(leadership)
    request = asked(store, study, trial=0)
    leadership.finish_request(request.id, refusal="not today\x00")
    found = store.request(request.id)
    assert (found.refusal, found.trial) == ("not today\ufffd", None)
    with pytest.raises(TransitionError, match="was refused"):
        leadership.set_excluded(request.id, 0, excluded=True)
    assert not store.trials(study.id)[0].excluded


def test_a_request_for_no_trial_changes_nothing(store, study, leadership):
    request = asked(store, study, trial=5)
    with pytest.raises(NotFoundError, match="no trial 5"):
        leadership.set_excluded(request.id, 5, excluded=True)
    assert store.pending_requests(study.id) == [request]


def test_forgotten_checkpoints_are_named_by_no_row_and_others_stay(store, study, leadership):
    add_trial(leadership)
    start(leadership)
    rows = [epoch(number) for number in range(3)]
    for row in rows:
        leadership.store_epoch(row)
    for _ in range(2):
        upkeep.forget_checkpoints(leadership, [row.checkpoint.path for row in rows[:2]])
    found = store.epochs(study.id)
    assert [row.checkpoint for row in found] == [None, None, rows[2].checkpoint]
    assert [row.metrics for row in found] == [row.metrics for row in rows]


def test_a_removed_study_leaves_nothing_and_its_number_is_not_given_out_again(store, study):
    from tests.contract.stored import ALICE, new_study

    with store.lead(study.id, ALICE, 60) as leadership:
        failed(leadership)
        asked(store, study, trial=0)
        upkeep.remove_study(leadership)
    assert store.find_study(study.name) is None
    assert (store.trials(study.id), store.attempts(study.id), store.all_epochs(study.id)) == (
        (),
        (),
        (),
    )
    assert store.create_study(new_study()).id > study.id
