"""Repair: a stored study set right by what is still known of it, under its lease."""

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from sweep.coordinator.checkpoints import remove_file
from sweep.coordinator.consistency import check_consistency, last_value
from sweep.coordinator.findings import Facts, Fault, Finding
from sweep.coordinator.folders import StudyFolder
from sweep.coordinator.inspection import inspect
from sweep.coordinator.leading import ledger_of
from sweep.coordinator.projecting import project_anew, projection_of, unproject
from sweep.coordinator.taking import take_lead
from sweep.records import Attempt, Cause, Study, Trial, TrialState
from sweep.store import upkeep
from sweep.store.leadership import Leadership
from sweep.store.store import Store

_LEASE_S = 600.0


def repair(store: Store, study: Study, folder: StudyFolder) -> tuple[list[Finding], list[Finding]]:
    """What was wrong, and what still is, having set right what can be.

    Raises LedByAnotherError, and changes nothing, while another leads the study.
    """
    with take_lead(store, study, _LEASE_S) as leadership:
        facts = inspect(store, study, folder, is_led=False)
        found = check_consistency(facts)
        faults = {finding.fault for finding in found}
        for finding in found:
            _mend(finding, facts, leadership)
        _forget(found, facts, leadership)
        if Fault.UNLED in faults:
            _adopt(facts, folder, store, leadership)
        if Fault.PROJECTION in faults:
            unproject(store, study)
        if found and facts.snapshot.trials:
            project_anew(store, study)
        left = check_consistency(inspect(store, study, folder, is_led=False)) if found else []
    return found, left


def _mend(finding: Finding, facts: Facts, leadership: Leadership) -> None:
    trials = {trial.number: trial for trial in facts.snapshot.trials}
    match finding.fault:
        case Fault.NO_VALUE | Fault.WRONG_VALUE:
            _mend_value(trials[_number(finding)], facts, leadership)
        case Fault.NO_CAUSE:
            number = _number(finding)
            upkeep.set_failed(leadership, number, _cause_of(number, facts))
        case Fault.OPEN_ATTEMPT:
            _end_attempts(trials[_number(finding)], facts, leadership)
        case _:
            return


def _number(finding: Finding) -> int:
    assert finding.trial is not None, "it is of one trial"
    return finding.trial


def _mend_value(trial: Trial, facts: Facts, leadership: Leadership) -> None:
    """The value is the last epoch's; a complete trial without any epoch was lost."""
    epochs = [each for each in facts.snapshot.epochs if each.trial == trial.number]
    has_value = trial.state in (TrialState.COMPLETE, TrialState.PRUNED)
    value = last_value(epochs, facts.snapshot.study.metric) if has_value else None
    if trial.state is TrialState.COMPLETE and value is None:
        upkeep.set_failed(leadership, trial.number, Cause.LOST)
    else:
        upkeep.set_value(leadership, trial.number, value)


def _cause_of(number: int, facts: Facts) -> Cause:
    causes = [each.cause for each in facts.snapshot.attempts if each.trial == number]
    return next((cause for cause in reversed(causes) if cause is not None), Cause.LOST)


def _end_attempts(trial: Trial, facts: Facts, leadership: Leadership) -> None:
    for attempt in facts.snapshot.attempts:
        if attempt.trial != trial.number or attempt.state is not TrialState.RUNNING:
            continue
        is_latest = attempt.attempt == trial.attempt
        if is_latest and trial.state.is_finished:
            state, cause = trial.state, trial.cause
        elif is_latest and trial.state is TrialState.RUNNING:
            continue
        else:
            state, cause = TrialState.FAILED, Cause.CANCELLED
        ended_at = (trial.finished_at if is_latest else None) or _last_seen(attempt, facts)
        upkeep.end_attempt(leadership, attempt, state=state, cause=cause, ended_at=ended_at)


def _last_seen(attempt: Attempt, facts: Facts) -> datetime:
    key = attempt.trial, attempt.attempt
    own = (each.stored_at for each in facts.epochs if (each.trial, each.attempt) == key)
    return max([attempt.started_at, *own])


def _forget(found: list[Finding], facts: Facts, leadership: Leadership) -> None:
    """Checkpoints that cannot be used are named no more; files that nothing needs are removed."""
    lost = (Fault.NO_CHECKPOINT, Fault.CHANGED_CHECKPOINT)
    trials = {finding.trial for finding in found if finding.fault in lost}
    unusable = [path for path in _named(trials, facts) if not _is_usable(path, facts)]
    upkeep.forget_checkpoints(leadership, unusable)
    strays = (path for paths in facts.strays.values() for path in paths)
    for path in (*unusable, *strays):
        remove_file(Path(path))


def _named(trials: Collection[int | None], facts: Facts) -> list[str]:
    """Every checkpoint that the store names of the trials, those that were removed as well."""
    saved = (each.checkpoint for each in facts.epochs if each.trial in trials)
    return [checkpoint.path for checkpoint in saved if checkpoint is not None]


def _is_usable(path: str, facts: Facts) -> bool:
    """Whether it should be there, and is as it was saved."""
    return any(
        checkpoint.path == path and facts.hashes.get(path) == checkpoint.sha256
        for checkpoints in facts.expected.values()
        for checkpoint in checkpoints
    )


def _adopt(facts: Facts, folder: StudyFolder, store: Store, leadership: Leadership) -> None:
    """Trials that a dead coordinator left running are finished or wait, as at a run's start."""
    with projection_of(store, leadership.study) as projection:
        ledger_of(facts.spec, (), folder, store, leadership, projection)
