"""The loop that leads a study: every free slot gets a trial, every epoch is stored, then judged.

One thread, one writer. It owns no resource: the fleet, the store's leadership, the tuner and the
projection are handed in and outlive it.
"""

from collections.abc import Iterator

from sweep.coordinator.busy import (
    Busy,
    Verdict,
    assignment_for,
    epoch_from,
    is_current,
    kept_for,
)
from sweep.coordinator.crew import Crew
from sweep.coordinator.ending import Ending, FailureWatch, Strikes, natural_end
from sweep.coordinator.events import (
    EpochStored,
    Event,
    Notice,
    SweepEnded,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
)
from sweep.coordinator.folders import StudyFolder
from sweep.coordinator.ledger import Ledger, diverged
from sweep.coordinator.overseer import Overseer
from sweep.coordinator.refusal import refused
from sweep.fleet.local import Ended, FleetEvent, LocalFleet, Received
from sweep.fleet.slots import Slot
from sweep.records import Cause, Epoch, Trial, TrialState
from sweep.spec.study import StudySpec
from sweep.wire import (
    Action,
    Decision,
    EpochReport,
    Failed,
    Finished,
    Ready,
    Refusal,
    Shutdown,
)

_TICK_S = 1.0


class Loop:
    """Leads one study until nothing is left to do or somebody stops it."""

    def __init__(
        self,
        *,
        spec: StudySpec,
        ledger: Ledger,
        fleet: LocalFleet,
        crew: Crew,
        overseer: Overseer,
        folder: StudyFolder,
    ) -> None:
        self._spec = spec
        self._ledger = ledger
        self._fleet = fleet
        self._crew = crew
        self._overseer = overseer
        self._folder = folder
        self._busy: dict[int, Busy] = {}
        self._strikes = Strikes()
        self._failures = FailureWatch()
        self._is_exhausted = False

    def run(self) -> Iterator[Event]:
        """Lead the study; every event as it happens, `SweepEnded` last."""
        while True:
            yield from self._oversee()
            yield from self._fill()
            if not self._busy and not self._may_start():
                break
            for event in self._fleet.wait(self._patience_s()):
                yield from self._handle(event)
        yield self._ended()

    def _fill(self) -> Iterator[Event]:
        if self._may_start():
            self._crew.restart_due()
        for slot in self._crew.take():
            trial = self._next_trial()
            if trial is None:
                self._crew.give_back(slot)
                return
            yield self._assign(slot, trial)

    def _may_start(self) -> bool:
        if self._overseer.ending is not None or self._ledger.has_enough:
            return False
        return not self._is_exhausted or self._ledger.waiting() is not None

    def _next_trial(self) -> Trial | None:
        if not self._may_start():
            return None
        trial = self._ledger.waiting() or self._ledger.ask()
        self._is_exhausted = trial is None
        return trial

    def _assign(self, slot: Slot, waiting: Trial) -> TrialStarted:
        log = self._folder.log(waiting.number, waiting.attempt + 1)
        trial = self._ledger.start(
            waiting,
            device=slot.device.label,
            pid=self._fleet.pid(slot),
            num_slots=len(self._fleet.slots),
            log=str(log),
        )
        self._busy[slot.index] = Busy(
            slot=slot, trial=trial, kept=kept_for(self._spec, trial, self._ledger)
        )
        assignment = assignment_for(self._spec, slot, trial, self._ledger, self._folder)
        self._fleet.send(slot, assignment)
        first_epoch = assignment.resume[0].epoch + 1 if assignment.resume else 0
        return TrialStarted(slot=slot, trial=trial, first_epoch=first_epoch)

    def _patience_s(self) -> float:
        due_s = self._crew.next_restart_s() if self._may_start() else None
        return _TICK_S if due_s is None else min(_TICK_S, due_s)

    def _handle(self, event: FleetEvent) -> Iterator[Event]:
        match event:
            case Ended(slot=slot, how=how, last_words=last_words):
                yield from self._on_ended(slot, how, last_words)
            case Received(slot=slot, message=Ready()):
                self._crew.ready(slot)
            case Received(message=Failed(refusal=Refusal()) as failed):
                raise refused(failed)
            case Received(slot=slot, message=EpochReport() | Finished() | Failed() as message):
                busy = self._busy.get(slot.index)
                if busy is not None and is_current(message, busy.trial):
                    yield from self._on_report(busy, message)

    def _on_report(self, busy: Busy, message: EpochReport | Finished | Failed) -> Iterator[Event]:
        self._ledger.limits.note(busy.slot, busy.trial, message)
        match message:
            case EpochReport():
                yield self._on_epoch(busy, message)
            case Finished():
                del self._busy[busy.slot.index]
                self._crew.give_back(busy.slot)
                yield self._conclude(busy)
            case Failed():
                del self._busy[busy.slot.index]
                self._fleet.send(busy.slot, Shutdown())  # a fresh process takes its place
                judged = busy.verdict is not None  # it failed to stop: what was decided stands
                yield self._conclude(busy) if judged else self._on_failed(busy, message)

    def _on_epoch(self, busy: Busy, report: EpochReport) -> EpochStored:
        epoch = epoch_from(report)
        if self._ledger.store_epoch(epoch):
            self._strikes.forgive(epoch.trial)
        busy.verdict = self._verdict(report, epoch)
        action = Action.CONTINUE if busy.verdict is None else Action.STOP
        self._fleet.send(
            busy.slot,
            Decision(trial=epoch.trial, attempt=epoch.attempt, epoch=epoch.epoch, action=action),
        )
        busy.kept.add(epoch)
        self._crew.progressed(busy.slot)
        return EpochStored(slot=busy.slot, epoch=epoch)

    def _verdict(self, report: EpochReport, epoch: Epoch) -> Verdict | None:
        if not report.finite:
            return Verdict.DIVERGED
        if self._ledger.judge(epoch):
            return Verdict.PRUNED
        if self._overseer.ending is not None and not self._ledger.is_last(epoch):
            return Verdict.DRAINED
        return None

    def _conclude(self, busy: Busy) -> Event:
        match busy.verdict:
            case Verdict.DRAINED:
                return self._interrupt(busy, Cause.CANCELLED, "stopped")
            case Verdict.PRUNED:
                return self._finish(busy, TrialState.PRUNED)
            case Verdict.DIVERGED:
                message = diverged(self._ledger.epochs_of(busy.trial.number)[-1])
                return self._finish(busy, TrialState.FAILED, Cause.DIVERGED, message)
            case _ if self._ledger.last_value(busy.trial.number) is None:
                message = f"ended without the metric {self._spec.objective.metric}"
                return self._finish(busy, TrialState.FAILED, Cause.EXCEPTION, message)
            case _:
                return self._finish(busy, TrialState.COMPLETE)

    def _on_failed(self, busy: Busy, failed: Failed) -> Event:
        has_epochs = bool(self._ledger.epochs_of(busy.trial.number))
        if failed.is_broken_contract:
            self._overseer.end(Ending(reason=failed.message, exit_code=1))
        elif failed.cause is Cause.EXCEPTION and has_epochs:
            return self._retry(busy, failed.cause, failed.message)
        return self._finish(busy, TrialState.FAILED, failed.cause, failed.message)

    def _on_ended(self, slot: Slot, how: str, last_words: str) -> Iterator[Event]:
        self._crew.ended(slot, how, last_words)
        busy = self._busy.pop(slot.index, None)
        if busy is None:
            return
        if self._overseer.must_kill:
            yield self._interrupt(busy, Cause.CANCELLED, "stopped")
        elif busy.verdict is not None:
            yield self._conclude(busy)
        else:
            yield self._retry(busy, Cause.LOST, f"the worker {how}")

    def _retry(self, busy: Busy, cause: Cause, message: str) -> Event:
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

    def _oversee(self) -> Iterator[Event]:
        had_ending = self._overseer.ending is not None
        self._overseer.look(self._ledger.attempts.values())
        if self._overseer.must_kill:
            for busy in self._busy.values():
                self._fleet.kill(busy.slot)
        elif self._overseer.ending is not None and not had_ending and self._busy:
            yield Notice(text=f"{self._overseer.ending.reason}: each trial ends at its next epoch")

    def _ended(self) -> SweepEnded:
        natural = natural_end(
            is_enough=self._ledger.has_enough, has_complete=self._ledger.has_complete
        )
        ending = self._overseer.ending or natural
        return SweepEnded(reason=ending.reason, exit_code=ending.exit_code)
