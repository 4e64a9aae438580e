"""Consistency: whether what is stored of a study, and what lies on disk of it, can be true.

A pure function of the facts; it repairs nothing and looks at nothing by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sweep.coordinator.findings import Facts, Fault, Finding
from sweep.records import Attempt, Epoch, Trial, TrialState


def check_consistency(facts: Facts) -> list[Finding]:
    """All that is wrong, by trial; an empty list for a study that is in order."""
    checks = (_holes, _endings, _running, _attempts, _epochs, _values, _checkpoints, _others)
    found = [finding for check in checks for finding in check(facts)]
    return sorted(found, key=lambda each: (each.trial is not None, each.trial or 0))


def last_value(epochs: Iterable[Epoch], metric: str) -> float | None:
    """The metric at the last epoch of the latest attempt that has it."""
    latest_first = sorted(epochs, key=lambda each: (each.attempt, each.epoch), reverse=True)
    values = (each.metrics.get(metric) for each in latest_first)
    return next((value for value in values if value is not None), None)


def _found(fault: Fault, trial: int | None, message: str) -> Finding:
    return Finding(fault=fault, trial=trial, message=message)


def _holes(facts: Facts) -> Iterator[Finding]:
    numbers = {trial.number for trial in facts.snapshot.trials}
    missing = sorted(set(range(max(numbers, default=-1) + 1)) - numbers)
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        yield _found(Fault.HOLE, None, f"no trial has the number {shown}")


def _endings(facts: Facts) -> Iterator[Finding]:
    for trial in facts.snapshot.trials:
        if trial.state is TrialState.COMPLETE and trial.value is None:
            yield _found(Fault.NO_VALUE, trial.number, "is complete without a value")
        if trial.state is TrialState.FAILED and trial.cause is None:
            yield _found(Fault.NO_CAUSE, trial.number, "has failed without a cause")


def _running(facts: Facts) -> Iterator[Finding]:
    for trial in facts.snapshot.trials:
        if trial.state is TrialState.RUNNING and not facts.is_led:
            yield _found(Fault.UNLED, trial.number, "is running, and nobody leads the study")


def _attempts(facts: Facts) -> Iterator[Finding]:
    by_trial: defaultdict[int, list[Attempt]] = defaultdict(list)
    for attempt in facts.snapshot.attempts:
        by_trial[attempt.trial].append(attempt)
    for trial in facts.snapshot.trials:
        own = by_trial[trial.number]
        if [each.attempt for each in own] != list(range(1, trial.attempt + 1)):
            numbers = ", ".join(str(each.attempt) for each in own) or "none"
            message = f"is at attempt {trial.attempt}, and those stored are {numbers}"
            yield _found(Fault.ATTEMPTS, trial.number, message)
        for attempt in own:
            if attempt.state is TrialState.RUNNING and not _is_at_work(attempt, trial):
                message = f"its attempt {attempt.attempt} is open, and the trial {trial.state}"
                yield _found(Fault.OPEN_ATTEMPT, trial.number, message)


def _is_at_work(attempt: Attempt, trial: Trial) -> bool:
    return trial.state is TrialState.RUNNING and attempt.attempt == trial.attempt


def _epochs(facts: Facts) -> Iterator[Finding]:
    planned = facts.spec.training.get("epochs")
    for trial, epochs in _by_trial(facts.snapshot.epochs).items():
        numbers = [each.epoch for each in epochs]
        most = max(numbers)
        if planned is not None and most >= planned:
            message = f"has an epoch {most}, and {planned} are planned, from 0"
            yield _found(Fault.BEYOND, trial, message)
        missing = sorted(set(range(most + 1)) - set(numbers))
        if missing:
            message = f"lacks epoch {missing[0]}, and has epoch {most}"
            yield _found(Fault.GAP, trial, message)
        for epoch, count in Counter(numbers).items():
            if count > 1:
                yield _found(Fault.TWICE, trial, f"its epoch {epoch} counts {count} times")


def _values(facts: Facts) -> Iterator[Finding]:
    by_trial = _by_trial(facts.snapshot.epochs)
    for trial in facts.snapshot.trials:
        last = last_value(by_trial.get(trial.number, ()), facts.snapshot.study.metric)
        if trial.state in (TrialState.COMPLETE, TrialState.PRUNED):
            if trial.value is not None and trial.value != last:
                message = f"has the value {trial.value!r}, and {last!r} at its last epoch"
                yield _found(Fault.WRONG_VALUE, trial.number, message)
        elif trial.value is not None:
            message = f"is {trial.state}, and has the value {trial.value!r}"
            yield _found(Fault.WRONG_VALUE, trial.number, message)


def _checkpoints(facts: Facts) -> Iterator[Finding]:
    for trial, checkpoints in facts.expected.items():
        for checkpoint in checkpoints:
            found = facts.hashes.get(checkpoint.path)
            if found is None:
                message = f"its checkpoint is not there: {checkpoint.path}"
                yield _found(Fault.NO_CHECKPOINT, trial, message)
            elif found != checkpoint.sha256:
                message = f"its checkpoint has another SHA-256 than stored: {checkpoint.path}"
                yield _found(Fault.CHANGED_CHECKPOINT, trial, message)


def _others(facts: Facts) -> Iterator[Finding]:
    for trial, paths in facts.strays.items():
        for path in paths:
            yield _found(Fault.STRAY_FILE, trial, f"a checkpoint that nothing needs: {path}")
    for trial, message in facts.projection:
        yield _found(Fault.PROJECTION, trial, message)


def _by_trial(epochs: Iterable[Epoch]) -> dict[int, Sequence[Epoch]]:
    grouped: defaultdict[int, list[Epoch]] = defaultdict(list)
    for epoch in epochs:
        grouped[epoch.trial].append(epoch)
    return dict(grouped)
