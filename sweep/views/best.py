"""Best: which complete trials reached the best objective; a pruned trial is never best."""

from collections.abc import Iterable

from sweep.records import Direction, Snapshot, Trial
from sweep.views.rows import TrialRow, is_ranked, trial_rows


def best(snapshot: Snapshot, top: int = 1) -> list[TrialRow]:
    """The `top` complete trials with the best values, the best first; equal ones by number."""
    return ranked(trial_rows(snapshot), snapshot.study.direction)[:top]


def ranked(rows: Iterable[TrialRow], direction: Direction) -> list[TrialRow]:
    """The complete trials among the rows, the best first; equal ones by number."""
    sign = -1 if direction is Direction.MAXIMIZE else 1
    keyed = [(sign * (row.value or 0.0), row.number, row) for row in rows if row.is_complete]
    return [row for _, _, row in sorted(keyed, key=lambda item: item[:2])]


def best_trial(trials: Iterable[Trial], direction: Direction) -> Trial | None:
    """The complete trial with the best value, of equal ones the first; None without one."""
    best: Trial | None = None
    for trial in trials:
        if is_ranked(trial) and (best is None or _is_better(trial, best, direction)):
            best = trial
    return best


def why_none(num_complete: int, num_excluded: int) -> str:
    """Why there is no best trial, where a study has so many complete and excluded ones."""
    if not num_complete:
        return "no trial is complete yet"
    if num_excluded:
        return "every complete trial was set apart by hand"
    return "no complete trial has a finite value"


def _is_better(trial: Trial, than: Trial, direction: Direction) -> bool:
    assert trial.value is not None
    assert than.value is not None
    return direction.is_better(trial.value, than.value)
