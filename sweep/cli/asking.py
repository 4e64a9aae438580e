"""Asking: a change of a study's trials, carried out by its leader, or here where nobody leads."""

import csv
import time
from collections.abc import Mapping
from typing import Any

from sweep import clock
from sweep.cli.console import tell
from sweep.cli.studies import study_flag
from sweep.coordinator.asked import carry_out, check_asked, outcome_of
from sweep.coordinator.holder import living_lease
from sweep.coordinator.taking import take_lead
from sweep.errors import (
    LedByAnotherError,
    NotFoundError,
    TransitionError,
    UnusableError,
    UsageError,
)
from sweep.records import Study, Trial, TrialState
from sweep.requests import Request, RequestKind
from sweep.spec.scalars import scalar_value
from sweep.spec.study import StudySpec
from sweep.spec.training import TRAINING_KINDS
from sweep.spec.values import value_kind
from sweep.store.leadership import Leadership
from sweep.store.store import Store
from sweep.views.display import one_line

PATIENCE_S = 90.0
EVERY_S = 0.1
_LEASE_S = 60.0


def changed(store: Store, study: Study, kind: RequestKind, arguments: Mapping[str, Any]) -> None:
    """The study's trials are as asked; what was done is told.

    Raises UsageError or NotFoundError, and writes nothing, where it cannot be done; UnusableError
    when a leader does not answer, which then finds the request later.
    """
    spec = StudySpec.from_json(study.spec)
    check_asked(kind, arguments, spec, _by_number(store, study))
    request = store.add_request(study.id, kind, arguments)
    done = _settled(store, study, request)
    if done.refusal is not None:
        raise UsageError(done.refusal)
    assert done.trial is not None, "what was carried out has changed a trial"
    trial = _by_number(store, study)[done.trial]
    tell(one_line(outcome_of(kind, trial)))
    _tell_what_next(store, study, trial, spec)


def params_of(text: str, spec: StudySpec) -> dict[str, Any]:
    """The params that `--params lr=0.1,batch_size=128` gives. Raises UsageError.

    A value with a comma stands in quotes together with its name: "milestones=30,40".
    """
    params: dict[str, Any] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        name, equals, word = part.partition("=")
        name = name.strip()
        if not (equals and name):
            raise UsageError(
                f"--params {part!r} is no name=value; write them as in --params "
                "lr=0.1,batch_size=128"
            )
        if name in params:
            raise UsageError(f"--params gives {name} twice; give each once")
        params[name] = _value(name, word.strip(), spec)
    return dict(spec.space.fill(params))


def _value(name: str, word: str, spec: StudySpec) -> Any:
    is_own = spec.recipe.train is not None
    try:
        value = scalar_value(word)
        known = is_own or name in TRAINING_KINDS
        return value_kind(name, is_own).fit(value) if known else value
    except ValueError as error:
        raise UsageError(f"--params: {name} {error}") from error


def _settled(store: Store, study: Study, request: Request) -> Request:
    """The request once it pends no more."""
    deadline = clock.monotonic_s() + PATIENCE_S
    while clock.monotonic_s() < deadline:
        now = store.request(request.id)
        if now is None:
            raise NotFoundError(f"study {study.name} was deleted meanwhile")
        if now.finished_at is not None:
            return now
        if living_lease(store, study) is None:
            _carry_out_here(store, study)
        else:
            time.sleep(EVERY_S)
    raise UnusableError(
        f"the leader of study {study.name} has not answered in {PATIENCE_S:g} s; it will when it "
        f"can: look with sweep status {study_flag(study.name)}"
    )


def _carry_out_here(store: Store, study: Study) -> None:
    from sweep.coordinator.projecting import project_anew

    try:
        with take_lead(store, study, _LEASE_S) as leadership:
            for request in store.pending_requests(study.id):
                _carry_out_one(store, leadership, request)
            project_anew(store, leadership.study)
    except LedByAnotherError:
        time.sleep(EVERY_S)


def _carry_out_one(store: Store, leadership: Leadership, request: Request) -> None:
    if request.kind.is_stop:
        leadership.finish_request(request.id)
        return
    study = leadership.study
    spec = StudySpec.from_json(study.spec)
    try:
        carry_out(request, spec, study, _by_number(store, study), leadership)
    except (NotFoundError, TransitionError, UsageError) as error:
        leadership.finish_request(request.id, refusal=str(error))


def _tell_what_next(store: Store, study: Study, trial: Trial, spec: StudySpec) -> None:
    """How a trial that waits comes to run, where that needs another command."""
    if trial.state is not TrialState.WAITING or living_lease(store, study) is not None:
        return
    finished = sum(each.state.is_finished for each in store.trials(study.id))
    is_full = spec.budget.trials is not None and finished >= spec.budget.trials
    more = " --add-trials 1" if is_full else ""
    tell(f"to run it: sweep run {study_flag(study.name)}{store.flag}{more}")


def _by_number(store: Store, study: Study) -> dict[int, Trial]:
    return {trial.number: trial for trial in store.trials(study.id)}
