"""States: how ours meet Optuna's."""

from optuna.study import StudyDirection
from optuna.trial import TrialState as OptunaState

from sweep.records import Cause, Direction, TrialState

LEARNED_FAILURES = (Cause.DIVERGED, Cause.OUT_OF_MEMORY)
"""Failures that a sampler should learn from: TPE ignores FAIL, so they are told as pruned."""


def optuna_state(state: TrialState, cause: Cause | None) -> OptunaState:
    """The state that Optuna knows a trial by."""
    match state:
        case TrialState.COMPLETE:
            return OptunaState.COMPLETE
        case TrialState.PRUNED:
            return OptunaState.PRUNED
        case TrialState.FAILED:
            return OptunaState.PRUNED if cause in LEARNED_FAILURES else OptunaState.FAIL
        case _:
            return OptunaState.RUNNING


def optuna_direction(direction: Direction) -> StudyDirection:
    """The direction as Optuna names it."""
    if direction is Direction.MAXIMIZE:
        return StudyDirection.MAXIMIZE
    return StudyDirection.MINIMIZE
