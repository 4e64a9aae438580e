"""Asked: what other commands may ask of a study's trials, and the change that each asks for."""

from collections.abc import Mapping
from typing import Any

from sweep.coordinator.draft import draft
from sweep.errors import NotFoundError, UsageError
from sweep.records import Study, Trial, TrialState
from sweep.requests import Request, RequestKind
from sweep.spec.study import StudySpec
from sweep.store.entries import NewTrial
from sweep.store.leadership import Leadership

Trials = Mapping[int, Trial]


def check_asked(
    kind: RequestKind, arguments: Mapping[str, Any], spec: StudySpec, trials: Trials
) -> None:
    """Returns when the study can do what is asked now; nothing is written.

    Raises NotFoundError without such a trial, UsageError for one in another state and for params
    that are no point of the study's space.
    """
    if kind is RequestKind.ENQUEUE:
        spec.space.fill(arguments["params"])
        return
    trial = _trial(arguments["trial"], trials, spec)
    if kind is RequestKind.RETRY and trial.state is not TrialState.FAILED:
        raise UsageError(
            f"trial {trial.number} is {trial.state}; only a failed trial can be tried again"
        )
    if not trial.state.is_finished:
        raise UsageError(
            f"trial {trial.number} is {trial.state}; wait for its end, then {kind} it"
        )


def carry_out(
    request: Request, spec: StudySpec, study: Study, trials: Trials, leadership: Leadership
) -> Trial:
    """The trial as the request wants it, stored. Raises as `check_asked` does."""
    check_asked(request.kind, request.arguments, spec, trials)
    match request.kind:
        case RequestKind.ENQUEUE:
            return leadership.enqueue(request.id, _new_trial(request, spec, study, trials))
        case RequestKind.RETRY:
            return leadership.retry(request.id, request.arguments["trial"])
        case kind:
            excluded = kind is RequestKind.EXCLUDE
            return leadership.set_excluded(
                request.id, request.arguments["trial"], excluded=excluded
            )


def outcome_of(kind: RequestKind, trial: Trial) -> str:
    """What was done, in one line."""
    match kind:
        case RequestKind.ENQUEUE:
            return f"trial {trial.number} waits with the params that were given"
        case RequestKind.RETRY:
            return f"trial {trial.number} waits for another attempt, which starts over"
        case RequestKind.EXCLUDE:
            return f"trial {trial.number} is excluded: it counts in no comparison"
        case _:
            return f"trial {trial.number} counts again"


def _new_trial(request: Request, spec: StudySpec, study: Study, trials: Trials) -> NewTrial:
    params = spec.space.fill(request.arguments["params"])
    return NewTrial.of(draft(spec, study, len(trials), params, enqueued=True))


def _trial(number: int, trials: Trials, spec: StudySpec) -> Trial:
    if number not in trials:
        there = f"it has 0 to {max(trials)}" if trials else "it has none yet"
        raise NotFoundError(f"study {spec.study} has no trial {number}; {there}")
    return trials[number]
