"""The life of trials under any sequence of verbs, leaders and late words, against a model."""

import itertools
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import update

from sweep.errors import FencedError, LedByAnotherError, StaleAttemptError, TransitionError
from sweep.records import Cause, TrialState
from sweep.store import schema
from sweep.store.store import Store, open_store
from tests.contract.stored import ALICE, BOB, add_trial, epoch, new_study, start

NUM_TRIALS = 3
NUMBERS = st.integers(0, NUM_TRIALS - 1)
ATTEMPTS = st.integers(1, 4)
EPOCHS = st.integers(0, 3)
ENDINGS = st.sampled_from(
    [
        (TrialState.COMPLETE, None, 0.5),
        (TrialState.PRUNED, None, 0.25),
        (TrialState.FAILED, Cause.DIVERGED, None),
    ]
)
NAMES = (f"study {count}" for count in itertools.count())


@dataclass
class ModelTrial:
    """What should be known of a trial: its state, its attempts' ends and its epochs' rows."""

    ending: tuple = (TrialState.WAITING, None, None)
    attempts: list = field(default_factory=list)
    epochs: dict = field(default_factory=dict)

    @property
    def state(self) -> TrialState:
        return self.ending[0]

    def is_current(self, attempt: int) -> bool:
        return self.state is TrialState.RUNNING and attempt == len(self.attempts)


class TrialLife(RuleBasedStateMachine):
    """Three trials, and leaders that replace each other at any moment."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.trials: dict[int, ModelTrial] = {}
        self.fenced = []

    @initialize()
    def begin(self) -> None:
        self.study = self.store.create_study(new_study(next(NAMES)))
        self.leader = self.store.lead(self.study.id, ALICE, 60)
        self.left_s = 60.0

    @rule(seconds=st.sampled_from([1.0, 25.0, 59.0, 61.0]))
    def let_time_pass(self, seconds: float) -> None:
        """The database's clock goes on: seen from the lease, its end comes nearer."""
        table = schema.leases
        ends_sooner = update(table).values(expires_at_s=table.c.expires_at_s - seconds)
        self.store._database.write(
            lambda c: c.execute(ends_sooner.where(table.c.study_id == self.study.id))
        )
        self.left_s -= seconds

    @rule()
    def renew(self) -> None:
        self.leader.renew()
        self.left_s = 60.0

    @rule(holder=st.sampled_from([ALICE, BOB]))
    def claim(self, holder) -> None:
        """Another leads once the lease has run out, and not before."""
        if self.left_s > 1.0:
            with pytest.raises(LedByAnotherError):
                self.store.lead(self.study.id, holder, 60)
        elif self.left_s < 0.0:
            self.fenced.append(self.leader)
            self.leader = self.store.lead(self.study.id, holder, 60)
            self.left_s = 60.0

    @rule(number=NUMBERS)
    def add(self, number: int) -> None:
        add_trial(self.leader, number)
        self.trials.setdefault(number, ModelTrial())

    @precondition(lambda self: self.trials)
    @rule(data=st.data())
    def start(self, data) -> None:
        number, trial = self.pick(data)
        if trial.state is TrialState.WAITING:
            started = start(self.leader, number)
            trial.ending = (TrialState.RUNNING, None, None)
            trial.attempts.append(TrialState.RUNNING)
            assert started.attempt == len(trial.attempts)
        else:
            with pytest.raises(TransitionError):
                start(self.leader, number)

    @precondition(lambda self: self.trials)
    @rule(data=st.data(), attempt=ATTEMPTS, index=EPOCHS)
    def store_epoch(self, data, attempt: int, index: int) -> None:
        number, trial = self.pick(data)
        row = epoch(index, trial=number, attempt=attempt)
        if trial.is_current(attempt):
            self.leader.store_epoch(row)
            trial.epochs.setdefault((index, attempt), row)
        else:
            with pytest.raises(StaleAttemptError):
                self.leader.store_epoch(row)

    @precondition(lambda self: self.trials)
    @rule(data=st.data(), attempt=ATTEMPTS)
    def interrupt(self, data, attempt: int) -> None:
        number, trial = self.pick(data)
        is_repeated = trial.state is TrialState.WAITING and attempt == len(trial.attempts)
        if trial.is_current(attempt):
            trial.ending = (TrialState.WAITING, None, None)
            trial.attempts[-1] = TrialState.FAILED
        elif not is_repeated:
            with pytest.raises(StaleAttemptError):
                self.leader.interrupt(trial=number, attempt=attempt, cause=Cause.LOST)
            return
        self.leader.interrupt(trial=number, attempt=attempt, cause=Cause.LOST)

    @precondition(lambda self: self.trials)
    @rule(data=st.data(), attempt=ATTEMPTS, ending=ENDINGS)
    def finish(self, data, attempt: int, ending: tuple) -> None:
        number, trial = self.pick(data)
        state, cause, value = ending
        is_repeated = trial.ending == ending and attempt == len(trial.attempts)
        if trial.is_current(attempt):
            trial.ending, trial.attempts[-1] = ending, state
        elif not is_repeated:
            with pytest.raises(StaleAttemptError):
                self.leader.finish_trial(
                    trial=number, attempt=attempt, state=state, cause=cause, value=value
                )
            return
        self.leader.finish_trial(
            trial=number, attempt=attempt, state=state, cause=cause, value=value
        )

    @rule(holder=st.sampled_from([ALICE, BOB]))
    def replace_leader(self, holder) -> None:
        self.fenced.append(self.leader)
        self.leader = self.store.lead(self.study.id, holder, 60, replaces=self.leader.token)
        self.left_s = 60.0

    @rule()
    def release_and_lead_again(self) -> None:
        self.leader.release()
        self.fenced.append(self.leader)
        self.leader = self.store.lead(self.study.id, ALICE, 60)
        self.left_s = 60.0

    @precondition(lambda self: self.fenced)
    @rule(data=st.data(), number=NUMBERS, attempt=ATTEMPTS)
    def hear_an_old_leader(self, data, number: int, attempt: int) -> None:
        old = data.draw(st.sampled_from(self.fenced))
        verb = data.draw(
            st.sampled_from(
                [
                    lambda: add_trial(old, number),
                    lambda: start(old, number),
                    lambda: old.store_epoch(epoch(trial=number, attempt=attempt)),
                    lambda: old.interrupt(trial=number, attempt=attempt, cause=Cause.LOST),
                    lambda: old.finish_trial(
                        trial=number, attempt=attempt, state=TrialState.COMPLETE, value=1.0
                    ),
                    lambda: old.set_tuner_attrs(number, {"old": True}),
                    lambda: old.set_spec({}, "", 2),
                    old.renew,
                    old.release,
                ]
            )
        )
        with pytest.raises(FencedError):
            verb()

    @invariant()
    def the_store_says_what_the_model_says(self) -> None:
        snapshot = self.store.snapshot(self.study.id)
        assert snapshot.study == self.study
        found = {
            trial.number: (trial.state, trial.cause, trial.value) for trial in snapshot.trials
        }
        assert found == {number: trial.ending for number, trial in self.trials.items()}
        assert all(trial.tuner_attrs == {} for trial in snapshot.trials)
        attempts = [(row.trial, row.attempt, row.state) for row in snapshot.attempts]
        assert attempts == [
            (number, index + 1, state)
            for number, trial in sorted(self.trials.items())
            for index, state in enumerate(trial.attempts)
        ]
        for row in snapshot.attempts:
            assert (row.finished_at is None) == (row.state is TrialState.RUNNING)
        assert snapshot.epochs == tuple(
            row for _, trial in sorted(self.trials.items()) for row in effective(trial.epochs)
        )
        assert self.store.leader(self.study.id).token == self.leader.token

    def pick(self, data) -> tuple[int, ModelTrial]:
        return data.draw(st.sampled_from(sorted(self.trials.items(), key=lambda item: item[0])))


def effective(rows: dict) -> list:
    latest = {}
    for (index, _), row in sorted(rows.items()):
        latest[index] = row
    return [row for _, row in sorted(latest.items())]


def test_a_trials_life_is_what_the_words_say_whatever_happens(sqlite_url):
    with open_store(sqlite_url, create=True) as store:
        run_state_machine_as_test(
            lambda: TrialLife(store),
            settings=settings(
                max_examples=40,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
