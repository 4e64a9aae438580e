"""Summary: where a study stands, for `status`, the end of a run and the top of the report."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sweep.records import Attempt, Cause, Direction, Epoch, Params, Snapshot, Trial, TrialState
from sweep.views.best import ranked
from sweep.views.plan import SECONDS_PER_HOUR, Plan, plan_of
from sweep.views.rows import (
    TrialRow,
    attempt_end,
    attempts_by_trial,
    cost_of,
    epochs_by_trial,
    finite,
    last_epoch,
    trial_rows,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningTrial:
    """A trial that runs: its latest epoch (zero-based) and the objective there, if it has any."""

    number: int
    params: Params
    attempt: int
    device: str | None
    epoch: int | None
    value: float | None


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
    runs are not in it. `slot_hours` adds up all attempts. `epochs_per_trial` and `planned_trials`
    are None where the study file does not say. `epochs_saved` is what pruning left out.
    """

    study: str
    metric: str
    direction: Direction
    counts: Mapping[TrialState, int]
    planned_trials: int | None
    epochs_per_trial: int | None
    best: TrialRow | None
    elapsed_s: float
    slot_hours: float
    cost: float | None
    currency: str | None
    epochs_run: int
    epochs_saved: int
    running: tuple[RunningTrial, ...]
    failures: tuple[Failures, ...]

    @property
    def num_finished(self) -> int:
        """How many trials are complete, pruned or failed."""
        return sum(count for state, count in self.counts.items() if state.is_finished)

    @property
    def is_finished(self) -> bool:
        """Whether every planned trial is finished; without a plan, whether none is open."""
        planned = self.planned_trials
        if planned is not None:
            return self.num_finished >= planned
        return 0 < self.num_finished == sum(self.counts.values())


def summarize(snapshot: Snapshot, now: datetime | None) -> Summary:
    """The summary of a study at the moment `now`, to which its running attempts count.

    None for `now`: nobody leads the study, so what looks running was cut short and counts to its
    last stored epoch only.
    """
    plan = plan_of(snapshot)
    rows = trial_rows(snapshot)
    spans = attempt_spans(snapshot, now)
    return Summary(
        study=snapshot.study.name,
        metric=snapshot.study.metric,
        direction=snapshot.study.direction,
        counts=_counts(snapshot.trials),
        planned_trials=plan.trials,
        epochs_per_trial=plan.epochs,
        best=next(iter(ranked(rows, snapshot.study.direction)), None),
        elapsed_s=covered_s(spans),
        slot_hours=sum(_seconds(span) for span in spans) / SECONDS_PER_HOUR,
        cost=cost_of(snapshot.attempts, [_seconds(span) for span in spans], plan.price),
        currency=plan.price.currency,
        epochs_run=len(snapshot.epochs),
        epochs_saved=_epochs_saved(rows, plan),
        running=_running(snapshot),
        failures=_failures(snapshot.trials),
    )


def _counts(trials: Iterable[Trial]) -> dict[TrialState, int]:
    counted = Counter(trial.state for trial in trials)
    return {state: counted[state] for state in TrialState}


Span = tuple[datetime, datetime]


def attempt_spans(snapshot: Snapshot, now: datetime | None) -> list[Span]:
    """Start and end of each attempt; one that still runs ends `now`, or at its last epoch."""
    epochs = epochs_by_trial(snapshot)
    return [_span(attempt, epochs.get(attempt.trial, []), now) for attempt in snapshot.attempts]


def _span(attempt: Attempt, epochs: Sequence[Epoch], now: datetime | None) -> Span:
    is_running = attempt.finished_at is None and attempt.state is TrialState.RUNNING
    end = now if now is not None and is_running else attempt_end(attempt, epochs)
    return attempt.started_at, max(end, attempt.started_at)


def _seconds(span: Span) -> float:
    return (span[1] - span[0]).total_seconds()


def covered_s(spans: Iterable[Span]) -> float:
    """The seconds that at least one of the spans covers."""
    total = 0.0
    reached: datetime | None = None
    for start, end in sorted(spans):
        begin = start if reached is None else max(start, reached)
        total += max((end - begin).total_seconds(), 0.0)
        reached = end if reached is None else max(reached, end)
    return total


def _epochs_saved(rows: Iterable[TrialRow], plan: Plan) -> int:
    if plan.epochs is None:
        return 0
    pruned = (row for row in rows if row.state is TrialState.PRUNED)
    return sum(max(plan.epochs - row.epochs, 0) for row in pruned)


def _running(snapshot: Snapshot) -> tuple[RunningTrial, ...]:
    epochs = epochs_by_trial(snapshot)
    attempts = attempts_by_trial(snapshot)
    return tuple(
        _running_trial(
            trial,
            last_epoch(epochs.get(trial.number, [])),
            attempts.get(trial.number, []),
            snapshot.study.metric,
        )
        for trial in snapshot.trials
        if trial.state is TrialState.RUNNING
    )


def _running_trial(
    trial: Trial, last: Epoch | None, attempts: Sequence[Attempt], metric: str
) -> RunningTrial:
    return RunningTrial(
        number=trial.number,
        params=trial.params,
        attempt=trial.attempt,
        device=attempts[-1].device if attempts else None,
        epoch=None if last is None else last.epoch,
        value=None if last is None else finite(last.metrics.get(metric)),
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
