"""The ledger: one study's trials as the coordinator knows them.

Every change is written to the store first; only then do the tuner, the projection and this memory
learn of it. A crash in between loses an opinion, never a measurement.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from sweep import clock
from sweep.coordinator.draft import draft
from sweep.coordinator.limits import MemoryLimits
from sweep.coordinator.open_epochs import OpenEpochs
from sweep.records import Cause, Epoch, Outline, Params, Trial, TrialState
from sweep.spec.study import StudySpec
from sweep.store.entries import NewTrial, Place
from sweep.store.leadership import Leadership
from sweep.tuner.projection import Projection
from sweep.tuner.tuner import Tuner


class Ledger:
    """The trials and attempts of a study that this process leads, and its open trials' epochs.

    `values` is the objective by trial and epoch, of finished trials too.
    """

    def __init__(
        self,
        *,
        spec: StudySpec,
        outline: Outline,
        values: Mapping[int, Mapping[int, float]],
        leadership: Leadership,
        tuner: Tuner,
        projection: Projection,
        limits: MemoryLimits,
    ) -> None:
        self.limits = limits
        self._spec = spec
        self._study = outline.study
        self._leadership = leadership
        self._tuner = tuner
        self._projection = projection
        self.trials = {trial.number: trial for trial in outline.trials}
        self._numbers: dict[TrialState, set[int]] = {state: set() for state in TrialState}
        for trial in outline.trials:
            self._numbers[trial.state].add(trial.number)
        self.attempts = {(each.trial, each.attempt): each for each in outline.attempts}
        self._epochs = OpenEpochs(outline.epochs)
        tuner.restore(outline.trials, values)
        projection.restore(outline.trials, values)

    @property
    def versions(self) -> Mapping[str, str]:
        """What the study was begun with."""
        return self._study.versions

    @property
    def has_enough(self) -> bool:
        """Whether the finished and the running trials are as many as the study asks for."""
        wanted = self._spec.budget.trials
        num_begun = len(self.trials) - len(self._numbers[TrialState.WAITING])
        return wanted is not None and num_begun >= wanted

    @property
    def is_full(self) -> bool:
        """Whether there are as many trials, in any state, as the study asks for."""
        wanted = self._spec.budget.trials
        return wanted is not None and len(self.trials) >= wanted

    @property
    def has_complete(self) -> bool:
        return bool(self._numbers[TrialState.COMPLETE])

    def waiting(self, but: Collection[int] = ()) -> Trial | None:
        """The waiting trial with the lowest number, except some."""
        numbers = self._numbers[TrialState.WAITING]
        number = min((each for each in numbers if each not in but), default=None)
        return None if number is None else self.trials[number]

    def epochs_of(self, number: int) -> list[Epoch]:
        """The effective epochs of a trial that is not finished, in order."""
        return self._epochs.of(number)

    def last_epoch(self, number: int) -> Epoch:
        """The last epoch of the latest attempt that reached one. Raises LookupError for none."""
        return self._epochs.latest_first(number)[0]

    def last_value(self, number: int) -> float | None:
        """The objective at the last epoch that has it."""
        latest_first = self._epochs.latest_first(number)
        values = (epoch.metrics.get(self._study.metric) for epoch in latest_first)
        return next((value for value in values if value is not None), None)

    def running(self) -> list[Trial]:
        """The running trials, by their numbers."""
        return [self.trials[number] for number in sorted(self._numbers[TrialState.RUNNING])]

    def would_prune(self, trial: Trial) -> bool:
        """Whether the pruner stops a trial after the last epoch that is stored of it."""
        return self._tuner.should_prune(trial.number)

    def enqueue(self, points: Iterable[Params]) -> None:
        """Add those of the given points that no trial has been enqueued with yet."""
        enqueued = [dict(each.params) for each in self.trials.values() if each.enqueued]
        for params in points:
            if dict(params) in enqueued:
                enqueued.remove(dict(params))
                continue
            trial = draft(self._spec, self._study, len(self.trials), params, enqueued=True)
            self.keep(trial)
            self._tuner.begin(trial.number, params)

    def ask(self) -> Trial | None:
        """A new trial, or None when the space is exhausted; `start` or `keep` stores it."""
        number = len(self.trials)
        params = self._tuner.ask(number)
        if params is None:
            return None
        attrs = self._tuner.attrs(number)
        return draft(self._spec, self._study, number, params, enqueued=False, tuner_attrs=attrs)

    def keep(self, trial: Trial) -> None:
        """A trial that cannot be started yet waits, stored like any other."""
        if trial.number not in self.trials:
            self._note(self._leadership.add_trial(NewTrial.of(trial)))

    def start(self, trial: Trial, place: Place) -> Trial:
        """Begin an attempt of a new or waiting trial at a place; the trial as it runs."""
        if trial.number in self.trials:
            attempt = self._leadership.start_attempt(trial.number, place)
            running = replace(
                trial,
                state=TrialState.RUNNING,
                attempt=attempt.attempt,
                started_at=trial.started_at or attempt.started_at,
            )
        else:
            running, attempt = self._leadership.begin_trial(NewTrial.of(trial), place)
        self.attempts[attempt.trial, attempt.attempt] = attempt
        self._note(running)
        return running

    def store_epoch(self, epoch: Epoch) -> bool:
        """Store what an attempt measured; whether no attempt had reached that epoch before."""
        self._leadership.store_epoch(epoch)
        is_new = self._epochs.put(epoch)
        self._projection.put((), (epoch,))
        return is_new

    def is_last(self, epoch: Epoch) -> bool:
        """Whether an epoch is the last that the study file plans."""
        planned = self._spec.training.get("epochs")
        return planned is not None and epoch.epoch + 1 >= planned

    def judge(self, epoch: Epoch) -> bool:
        """Whether the pruner stops a trial after an epoch; never after its last one."""
        value = epoch.metrics.get(self._study.metric)
        is_news = value is not None and self._tuner.report(epoch.trial, epoch.epoch, value)
        if not is_news or self.is_last(epoch):
            return False
        if self._tuner.should_prune(epoch.trial):
            return True  # what the pruner keeps of it is stored with the trial's end
        self._keep_attrs(epoch.trial)
        return False

    def finish(
        self,
        trial: Trial,
        state: TrialState,
        *,
        cause: Cause | None = None,
        message: str | None = None,
        ended_at: datetime | None = None,
    ) -> Trial:
        """End a running trial; a complete or pruned one takes the value of its last epoch."""
        value = None if state is TrialState.FAILED else self.last_value(trial.number)
        finished = self._leadership.finish_trial(
            trial=trial.number,
            attempt=trial.attempt,
            state=state,
            cause=cause,
            value=value,
            message=message,
            tuner_attrs=self._tuner.attrs(trial.number),
            ended_at=ended_at,
        )
        self._tuner.tell(trial.number, state, cause, value)
        self._end_attempt(trial, ended_at)
        self._note(finished)
        return finished

    def interrupt(
        self, trial: Trial, *, cause: Cause, message: str, ended_at: datetime | None = None
    ) -> Trial:
        """End a running trial's attempt; the trial waits again."""
        waiting = self._leadership.interrupt(
            trial=trial.number,
            attempt=trial.attempt,
            cause=cause,
            message=message,
            ended_at=ended_at,
        )
        self._end_attempt(trial, ended_at)
        self._note(waiting)
        return waiting

    def take_up(self, trial: Trial) -> None:
        """A waiting trial that was stored at somebody's request is there like any other."""
        self._note(trial)
        self._tuner.begin(trial.number, trial.params)

    def revise(self, trial: Trial, values: Mapping[int, Mapping[int, float]]) -> None:
        """A finished trial was changed in the store: tuner and projection learn all anew."""
        if trial.state is TrialState.WAITING:
            self._epochs.forget(trial.number)
        self._note(trial)
        self._tuner.restore(self.trials.values(), values)
        self._projection.restore(self.trials.values(), values)

    def _note(self, trial: Trial) -> None:
        if before := self.trials.get(trial.number):
            self._numbers[before.state].discard(trial.number)
        self._numbers[trial.state].add(trial.number)
        self.trials[trial.number] = trial
        self._projection.put((trial,), ())

    def _end_attempt(self, trial: Trial, ended_at: datetime | None) -> None:
        key = trial.number, trial.attempt
        self.attempts[key] = replace(self.attempts[key], finished_at=ended_at or clock.utc_now())

    def _keep_attrs(self, number: int) -> None:
        attrs = self._tuner.attrs(number)
        if attrs != self.trials[number].tuner_attrs:
            self._leadership.set_tuner_attrs(number, attrs)
            self.trials[number] = replace(self.trials[number], tuner_attrs=attrs)
