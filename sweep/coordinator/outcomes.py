"""Outcomes: what the end of an attempt means for its trial."""

from sweep.coordinator.busy import Busy, Verdict
from sweep.coordinator.ending import Ending, FailureWatch, Strikes, diverged
from sweep.coordinator.events import TrialFinished, TrialInterrupted
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.overseer import Overseer
from sweep.records import Cause, Trial, TrialState
from sweep.wire import Failed

Outcome = TrialFinished | TrialInterrupted


class Outcomes:
    """Ends attempts: a trial is finished, or waits for another attempt."""

    def __init__(self, ledger: Ledger, overseer: Overseer, metric: str) -> None:
        self._ledger = ledger
        self._overseer = overseer
        self._metric = metric
        self._strikes = Strikes()
        self._failures = FailureWatch()

    def progressed(self, trial: Trial) -> None:
        """The trial has reached an epoch that it had not reached before."""
        self._strikes.forgive(trial.number)

    def concluded(self, busy: Busy) -> Outcome:
        """The train function has ended: as it was told to, or by itself."""
        match busy.verdict:
            case Verdict.DRAINED:
                return self._interrupt(busy, Cause.CANCELLED, "stopped")
            case Verdict.PRUNED:
                return self._finish(busy, TrialState.PRUNED)
            case Verdict.DIVERGED:
                message = diverged(self._ledger.last_epoch(busy.trial.number))
                return self._finish(busy, TrialState.FAILED, Cause.DIVERGED, message)
            case _ if self._ledger.last_value(busy.trial.number) is None:
                message = f"ended without the metric {self._metric}"
                return self._finish(busy, TrialState.FAILED, Cause.EXCEPTION, message)
            case _:
                return self._finish(busy, TrialState.COMPLETE)

    def failed(self, busy: Busy, failed: Failed, silent_s: float | None) -> Outcome:
        """The train function has raised; where it was to stop, what was decided stands.

        `silent_s` is how long it had said nothing, where it was stopped for that.
        """
        if busy.verdict is not None:
            return self.concluded(busy)
        if silent_s is not None:
            return self._hung(busy, silent_s)
        if failed.is_broken_contract:
            self._overseer.end(Ending(reason=failed.message, exit_code=1))
        elif failed.cause is Cause.LOST or self._is_passing(busy, failed):
            return self._retry(busy, failed.cause, failed.message)
        return self._finish(busy, TrialState.FAILED, failed.cause, failed.message)

    def lost(self, busy: Busy, how: str, silent_s: float | None) -> Outcome:
        """The worker is gone; `silent_s` as in `failed`."""
        if busy.verdict is not None:
            return self.concluded(busy)
        if self._overseer.must_kill:
            return self._interrupt(busy, Cause.CANCELLED, "stopped")
        if silent_s is not None:
            return self._hung(busy, silent_s)
        return self._retry(busy, Cause.LOST, f"the worker {how}")

    def set_aside(self, busy: Busy, message: str) -> Outcome:
        """The attempt could not go on, through no fault of its trial's."""
        if busy.verdict is not None:
            return self.concluded(busy)
        return self._interrupt(busy, Cause.CANCELLED, message)

    def _is_passing(self, busy: Busy, failed: Failed) -> bool:
        """Whether it may go well another time: it went well before, or the device broke down."""
        has_epochs = bool(self._ledger.epochs_of(busy.trial.number))
        return failed.cause is Cause.EXCEPTION and (has_epochs or failed.is_device_fault)

    def _hung(self, busy: Busy, silent_s: float) -> Outcome:
        message = f"no progress for {silent_s:g} s; where it stood is in its log"
        return self._retry(busy, Cause.HUNG, message)

    def _retry(self, busy: Busy, cause: Cause, message: str) -> Outcome:
        if self._strikes.is_out(busy.trial.number):
            return self._finish(busy, TrialState.FAILED, cause, message)
        return self._interrupt(busy, cause, message)

    def _interrupt(self, busy: Busy, cause: Cause, message: str) -> TrialInterrupted:
        trial = self._ledger.interrupt(busy.trial, cause=cause, message=message)
        return TrialInterrupted(slot=busy.slot, trial=trial, message=message)

    def _finish(
        self,
        busy: Busy,
        state: TrialState,
        cause: Cause | None = None,
        message: str | None = None,
    ) -> TrialFinished:
        trial = self._ledger.finish(busy.trial, state, cause=cause, message=message)
        busy.kept.finish(is_complete=state is TrialState.COMPLETE)
        if ending := self._failures.note(trial):
            self._overseer.end(ending)
        return TrialFinished(slot=busy.slot, trial=trial)
