"""Summary: where a study stands, for `status`, the end of a run and the top of the report."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sweep.records import (
    Attempt,
    Cause,
    Direction,
    Epoch,
    Outline,
    Params,
    Snapshot,
    Trial,
    TrialState,
)
from sweep.views.best import best_trial
from sweep.views.plan import SECONDS_PER_HOUR, Plan, Price, plan_of
from sweep.views.rows import (
    attempt_end,
    attempts_by_trial,
    cost_of,
    epochs_by_trial,
    finite,
    last_epoch,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningTrial:
    """A trial that runs: its latest epoch (zero-based) and the objective there, if it has any.

    `values` is the objective at each of its epochs; None where it was not finite.
    """

    number: int
    params: Params
    attempt: int
    device: str | None
    epoch: int | None
    value: float | None
    values: tuple[float | None, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Failures:
    """The trials that failed for one cause: how many, the first of them, and its message."""

    cause: Cause | None
    count: int
    first_trial: int
    message: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Where a study stands.

    `counts` has every state. `elapsed_s` is wall time in which any attempt ran; pauses between
    runs are not in it. `slot_hours` adds up all attempts, `cost` is what the budget counts.
    `epochs_per_trial` and `planned_trials` are None where the study file does not say.
    `epochs_saved` is what pruning left out. `excluded` names the trials that were set apart by
    hand; `counts` has them too.
    """

    study: str
    metric: str
    direction: Direction
    counts: Mapping[TrialState, int]
    planned_trials: int | None
    epochs_per_trial: int | None
    best: Trial | None
    elapsed_s: float
    slot_hours: float
    cost: float | None
    currency: str | None
    epochs_run: int
    epochs_saved: int
    running: tuple[RunningTrial, ...]
    failures: tuple[Failures, ...]
    excluded: tuple[int, ...]

    @property
    def num_finished(self) -> int:
        """How many trials are complete, pruned or failed."""
        return sum(count for state, count in self.counts.items() if state.is_finished)

    @property
    def is_finished(self) -> bool:
        """Whether every planned trial is finished, and none is open."""
        wanted = 1 if self.planned_trials is None else self.planned_trials
        return self.num_finished >= wanted and self.num_finished == sum(self.counts.values())


def summarize(snapshot: Snapshot, now: datetime | None) -> Summary:
    """The summary of a study of which everything is known; see `summary_of`."""
    return summary_of(outline_of(snapshot), now)


def summary_of(outline: Outline, now: datetime | None) -> Summary:
    """The summary of a study at the moment `now`, to which its running attempts count.

    None for `now`: nobody leads the study, so what looks running was cut short and counts to its
    last stored epoch only.
    """
    plan = plan_of(outline)
    spans = attempt_spans(outline, now)
    return Summary(
        study=outline.study.name,
        metric=outline.study.metric,
        direction=outline.study.direction,
        counts=_counts(outline.trials),
        planned_trials=plan.trials,
        epochs_per_trial=plan.epochs,
        best=best_trial(outline.trials, outline.study.direction),
        elapsed_s=covered_s(spans),
        slot_hours=sum(_seconds(span) for span in spans) / SECONDS_PER_HOUR,
        cost=_cost(outline.attempts, spans, plan.price),
        currency=plan.price.currency,
        epochs_run=sum(outline.num_epochs.values()),
        epochs_saved=_epochs_saved(outline, plan),
        running=_running(outline),
        failures=_failures(outline.trials),
        excluded=tuple(trial.number for trial in outline.trials if trial.excluded),
    )


def outline_of(snapshot: Snapshot) -> Outline:
    """What is left of a snapshot without the epochs of what is finished."""
    still_open = {trial.number for trial in snapshot.trials if not trial.state.is_finished}
    return Outline(
        study=snapshot.study,
        trials=snapshot.trials,
        attempts=snapshot.attempts,
        epochs=tuple(epoch for epoch in snapshot.epochs if epoch.trial in still_open),
        num_epochs=Counter(epoch.trial for epoch in snapshot.epochs),
    )


def _counts(trials: Iterable[Trial]) -> dict[TrialState, int]:
    counted = Counter(trial.state for trial in trials)
    return {state: counted[state] for state in TrialState}


Period = tuple[datetime, datetime]


def attempt_spans(outline: Outline, now: datetime | None) -> list[Period]:
    """Start and end of each attempt; one that still runs ends `now`, or at its last epoch."""
    epochs = epochs_by_trial(outline)
    return [_span(attempt, epochs.get(attempt.trial, []), now) for attempt in outline.attempts]


def _span(attempt: Attempt, epochs: Sequence[Epoch], now: datetime | None) -> Period:
    is_running = attempt.finished_at is None and attempt.state is TrialState.RUNNING
    end = now if now is not None and is_running else attempt_end(attempt, epochs)
    return attempt.started_at, max(end, attempt.started_at)


def _seconds(span: Period) -> float:
    return (span[1] - span[0]).total_seconds()


def covered_s(spans: Iterable[Period]) -> float:
    """The seconds that at least one of the spans covers."""
    total = 0.0
    reached: datetime | None = None
    for start, end in sorted(spans):
        begin = start if reached is None else max(start, reached)
        total += max((end - begin).total_seconds(), 0.0)
        reached = end if reached is None else max(reached, end)
    return total


def _cost(attempts: Sequence[Attempt], spans: Sequence[Period], price: Price) -> float | None:
    """What the study cost, as its budget counts: an instance is paid for while any trial runs,
    also for slots that are idle then. None without a price."""
    if price.per_instance_hour is not None and spans:
        return price.per_instance_hour * covered_s(spans) / SECONDS_PER_HOUR
    return cost_of(attempts, [_seconds(span) for span in spans], price)


def _epochs_saved(outline: Outline, plan: Plan) -> int:
    if plan.epochs is None:
        return 0
    pruned = (trial.number for trial in outline.trials if trial.state is TrialState.PRUNED)
    return sum(max(plan.epochs - outline.num_epochs.get(number, 0), 0) for number in pruned)


def _running(outline: Outline) -> tuple[RunningTrial, ...]:
    epochs = epochs_by_trial(outline)
    attempts = attempts_by_trial(outline)
    return tuple(
        _running_trial(
            trial,
            epochs.get(trial.number, []),
            attempts.get(trial.number, []),
            outline.study.metric,
        )
        for trial in outline.trials
        if trial.state is TrialState.RUNNING
    )


def _running_trial(
    trial: Trial, epochs: Sequence[Epoch], attempts: Sequence[Attempt], metric: str
) -> RunningTrial:
    last = last_epoch(epochs)
    return RunningTrial(
        number=trial.number,
        params=trial.params,
        attempt=trial.attempt,
        device=attempts[-1].device if attempts else None,
        epoch=None if last is None else last.epoch,
        value=None if last is None else finite(last.metrics.get(metric)),
        values=tuple(finite(epoch.metrics.get(metric)) for epoch in epochs),
    )


def _failures(trials: Iterable[Trial]) -> tuple[Failures, ...]:
    """By cause, the most frequent first."""
    by_cause: dict[Cause | None, list[Trial]] = {}
    for trial in trials:
        if trial.state is TrialState.FAILED:
            by_cause.setdefault(trial.cause, []).append(trial)
    groups = (_failures_of(cause, failed) for cause, failed in by_cause.items())
    return tuple(sorted(groups, key=lambda group: (-group.count, group.first_trial)))


def _failures_of(cause: Cause | None, trials: Sequence[Trial]) -> Failures:
    first = trials[0]
    return Failures(
        cause=cause, count=len(trials), first_trial=first.number, message=first.message
    )
