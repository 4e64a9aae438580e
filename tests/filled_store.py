"""A store filled with a made-up snapshot, through the verbs that a coordinator uses."""

from dataclasses import fields, replace

from sweep.records import Attempt, Holder, NewStudy, Snapshot, Trial, TrialState
from sweep.store.entries import NewTrial, Place
from sweep.store.leadership import Leadership
from sweep.store.store import open_store

PLACE = Place(device="cpu", host="box", pid=1, num_slots=1, log=None)
NOBODY = Holder(host="made-up", pid=1, process_started_at_s=1.0)


def fill_store(url: str, snapshot: Snapshot) -> Snapshot:
    """The study of the snapshot is stored; as it was read back, with times of its own."""
    study = snapshot.study
    values = {field.name: getattr(study, field.name) for field in fields(NewStudy)}
    with open_store(url, create=True) as store:
        created = store.create_study(NewStudy(**values))
        with store.lead(created.id, NOBODY, 60) as leadership:
            for trial in snapshot.trials:
                _fill_trial(leadership, trial, snapshot)
        return store.snapshot(created.id)


def _fill_trial(leadership: Leadership, trial: Trial, snapshot: Snapshot) -> None:
    leadership.add_trial(replace(NewTrial.of(trial), enqueued=False, tuner_attrs={}))
    for attempt in snapshot.attempts:
        if attempt.trial == trial.number:
            _fill_attempt(leadership, trial, attempt, snapshot)


def _fill_attempt(
    leadership: Leadership, trial: Trial, attempt: Attempt, snapshot: Snapshot
) -> None:
    place = Place(
        device=attempt.device,
        host=attempt.host,
        pid=attempt.pid,
        num_slots=attempt.num_slots,
        log=attempt.log,
    )
    leadership.start_attempt(trial.number, place)
    for epoch in snapshot.epochs:
        if (epoch.trial, epoch.attempt) == (trial.number, attempt.attempt):
            leadership.store_epoch(epoch)
    if trial.state is not TrialState.RUNNING:
        leadership.finish_trial(
            trial=trial.number,
            attempt=attempt.attempt,
            state=trial.state,
            cause=trial.cause,
            value=trial.value,
            message=trial.message,
        )
