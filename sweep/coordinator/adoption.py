"""Adoption: what becomes of the trials that a dead coordinator left running.

Its last opinion may be lost, never a measurement: an epoch that is stored is judged again, so that
a study that was killed goes on as an unbroken one would have.
"""

from datetime import datetime

from sweep.coordinator.ending import diverged
from sweep.coordinator.ledger import Ledger
from sweep.records import Cause, Epoch, Trial, TrialState


def adopt(ledger: Ledger) -> list[Trial]:
    """Every trial that is marked as running is finished or waits; those that are finished."""
    ended = [_adopt(ledger, trial) for trial in ledger.running()]
    return [trial for trial in ended if trial.state.is_finished]


def _adopt(ledger: Ledger, trial: Trial) -> Trial:
    own = [each for each in ledger.epochs_of(trial.number) if each.attempt == trial.attempt]
    ended_at = _last_seen(ledger, trial, own)
    if own and None in own[-1].metrics.values():
        return ledger.finish(
            trial,
            TrialState.FAILED,
            cause=Cause.DIVERGED,
            message=diverged(own[-1]),
            ended_at=ended_at,
        )
    if own and not ledger.is_last(own[-1]) and ledger.would_prune(trial):
        return ledger.finish(trial, TrialState.PRUNED, ended_at=ended_at)
    return ledger.interrupt(
        trial, cause=Cause.CANCELLED, message="the coordinator ended", ended_at=ended_at
    )


def _last_seen(ledger: Ledger, trial: Trial, own: list[Epoch]) -> datetime:
    """When an attempt was last heard of; the time after that counts for no budget."""
    attempt = ledger.attempts[trial.number, trial.attempt]
    return max([attempt.started_at, *(epoch.stored_at for epoch in own)])
