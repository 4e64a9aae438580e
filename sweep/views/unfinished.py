"""Unfinished: what of a study is still to be done, and why it is not."""

from collections.abc import Iterable, Sequence

from sweep.records import Attempt, Snapshot, Trial, TrialState
from sweep.spec.study import StudySpec
from sweep.views.display import one_line, show_cost, show_count, show_duration
from sweep.views.rows import attempts_by_trial
from sweep.views.summary import Summary

_MAX_NAMED = 10


def unfinished(snapshot: Snapshot, summary: Summary) -> list[str]:
    """A line for each kind of open work, and for each budget that is used up; none when done."""
    if summary.is_finished:
        return []
    attempts = attempts_by_trial(snapshot)
    waiting = [trial for trial in snapshot.trials if trial.state is TrialState.WAITING]
    begun = [trial for trial in waiting if trial.number in attempts]
    found = (
        _not_begun(summary, len(begun) + len(summary.running)),
        *(_cut_short(trial, attempts[trial.number]) for trial in begun[:_MAX_NAMED]),
        _cut_short_too(len(begun) - _MAX_NAMED),
        _running([trial.number for trial in summary.running]),
        *_used_up(snapshot, summary),
    )
    return [line for line in found if line is not None]


def _not_begun(summary: Summary, num_begun: int) -> str | None:
    if summary.planned_trials is None:
        return None
    missing = summary.planned_trials - summary.num_finished - num_begun
    if missing <= 0:
        return None
    return f"{show_count(missing, 'trial')} of {summary.planned_trials} have not begun"


def _cut_short(trial: Trial, attempts: Sequence[Attempt]) -> str:
    last = attempts[-1]
    cause = "" if last.cause is None else f" ({last.cause.value.replace('_', ' ')})"
    said = f": {one_line(last.message)}" if last.message else ""
    return f"trial {trial.number} was cut short{cause} and waits to go on{said}"


def _cut_short_too(count: int) -> str | None:
    if count <= 0:
        return None
    return f"{show_count(count, 'more trial')} {'was' if count == 1 else 'were'} cut short"


def _running(numbers: Sequence[int]) -> str | None:
    if not numbers:
        return None
    named = ", ".join(map(str, numbers[:_MAX_NAMED]))
    more = ", ..." if len(numbers) > _MAX_NAMED else ""
    trials = "trial {} is" if len(numbers) == 1 else "trials {} are"
    return f"{trials.format(named + more)} running, or cut short"


def _used_up(snapshot: Snapshot, summary: Summary) -> Iterable[str]:
    budget = StudySpec.from_json(dict(snapshot.study.spec)).budget
    if budget.max_cost is not None and (summary.cost or 0.0) >= budget.max_cost:
        yield f"the budget is used up: max_cost {show_cost(budget.max_cost, summary.currency)}"
    if budget.timeout_s is not None and summary.elapsed_s >= budget.timeout_s:
        yield f"the budget is used up: timeout {show_duration(budget.timeout_s)}"
