"""The loop that leads a study: every free slot gets a trial, every epoch is stored, then judged.

One thread, one writer. It owns no resource: the fleet, the store's leadership, the tuner and the
projection are handed in and outlive it.
"""

from collections.abc import Generator, Iterator

from sweep.coordinator.busy import (
    Busy,
    Verdict,
    assignment_for,
    begun,
    epoch_from,
    is_current,
    note_sharing,
    num_sharing_now,
)
from sweep.coordinator.crew import Crew
from sweep.coordinator.dealer import Dealer
from sweep.coordinator.ending import natural_end
from sweep.coordinator.events import (
    EpochStored,
    Event,
    Notice,
    SweepEnded,
    TrialStarted,
)
from sweep.coordinator.folders import StudyFolder
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.outcomes import Outcomes
from sweep.coordinator.overseer import Overseer
from sweep.coordinator.quota import DiskQuota
from sweep.coordinator.refusal import left_out, refused
from sweep.coordinator.suspects import Suspects
from sweep.coordinator.vigil import Overdue, Step, Vigil
from sweep.errors import DiskError, SweepError
from sweep.fleet.local import Ended, FleetEvent, LocalFleet, Received
from sweep.fleet.slots import Slot
from sweep.records import Epoch, Trial
from sweep.spec.study import StudySpec
from sweep.wire import Action, Decision, EpochReport, Failed, Finished, Ready, Refusal

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
        quota: DiskQuota,
    ) -> None:
        self._spec = spec
        self._ledger = ledger
        self._fleet = fleet
        self._crew = crew
        self._overseer = overseer
        self._folder = folder
        self._quota = quota
        self._busy: dict[int, Busy] = {}
        self._outcomes = Outcomes(ledger, overseer, spec.objective.metric)
        self._suspects = Suspects()
        self._dealer = Dealer(
            spec=spec, ledger=ledger, overseer=overseer, crew=crew, suspects=self._suspects
        )
        self._vigil = Vigil(hang_after_s=spec.resources.hang_after_s)

    def run(self) -> Generator[Event, None, None]:
        """Lead the study; every event as it happens, `SweepEnded` last."""
        while True:
            yield from self._oversee()
            yield from self._fill()
            if not self._busy and not self._dealer.may_deal:
                break
            for event in self._fleet.wait(self._patience_s()):
                yield from self._handle(event)
            for overdue in self._vigil.look():
                yield from self._press(overdue)
        yield self._ended()

    def _fill(self) -> Iterator[Event]:
        if self._dealer.may_deal:
            self._crew.restart_due()
        passed_over = []
        for slot in self._crew.take():
            trial = self._dealer.trial_for(slot)
            if trial is None:
                passed_over.append(slot)
                continue
            if (place := self._dealer.place_for(slot, trial)) is None:
                passed_over.append(slot)
                break  # those who come later wait too, or it would starve
            yield self._assign(place, trial)
        for slot in passed_over:
            self._crew.give_back(slot)

    def _assign(self, slot: Slot, waiting: Trial) -> TrialStarted:
        log = self._folder.log(waiting.number, waiting.attempt + 1)
        place = self._crew.place_of(slot, self._fleet.pid(slot), str(log))
        trial = self._ledger.start(waiting, place)
        self._busy[slot.index] = begun(self._spec, slot, trial, self._ledger, self._folder)
        note_sharing(self._busy.values())
        assignment = assignment_for(self._spec, slot, trial, self._ledger, self._folder)
        self._fleet.send(slot, assignment)
        epochs = self._ledger.epochs_of(trial.number)
        self._vigil.began(slot, log, max((each.epoch_s for each in epochs), default=0.0))
        first_epoch = assignment.resume[0].epoch + 1 if assignment.resume else 0
        return TrialStarted(slot=slot, trial=trial, first_epoch=first_epoch)

    def _patience_s(self) -> float:
        due_s = self._crew.next_restart_s() if self._dealer.may_deal else None
        return _TICK_S if due_s is None else min(_TICK_S, due_s)

    def _handle(self, event: FleetEvent) -> Iterator[Event]:
        match event:
            case Ended(slot=slot, how=how, last_words=last_words):
                yield from self._on_ended(slot, how, last_words)
            case Received(slot=slot, message=Ready()):
                self._crew.ready(slot)
            case Received(slot=slot, message=Failed(refusal=Refusal.FULL_DISK) as failed):
                yield from self._on_full_disk(slot, failed.message)
            case Received(slot=slot, message=Failed(refusal=Refusal()) as failed):
                yield self._retire(slot, refused(failed, slot))
            case Received(slot=slot, message=EpochReport() | Finished() | Failed() as message):
                busy = self._busy.get(slot.index)
                if busy is not None and is_current(message, busy.trial):
                    yield from self._on_report(busy, message)

    def _on_report(self, busy: Busy, message: EpochReport | Finished | Failed) -> Iterator[Event]:
        self._ledger.limits.note(busy.slot, busy.trial, message)
        match message:
            case EpochReport():
                yield self._on_epoch(busy, message)
                yield from self._quota.note(busy.trial.number)
            case Finished():
                del self._busy[busy.slot.index]
                self._vigil.ended(busy.slot)
                self._crew.give_back(busy.slot)
                yield self._outcomes.concluded(busy)
            case Failed():
                del self._busy[busy.slot.index]
                self._fleet.kill(busy.slot)  # a fresh process takes its place
                silent_s = self._vigil.ended(busy.slot)
                yield self._outcomes.failed(busy, message, silent_s)
                if message.is_device_fault:
                    yield from self._suspect(busy)

    def _on_epoch(self, busy: Busy, report: EpochReport) -> EpochStored:
        epoch = epoch_from(report, busy.num_sharing)
        busy.num_sharing = num_sharing_now(busy.slot, self._busy.values())
        if self._ledger.store_epoch(epoch):
            self._outcomes.progressed(busy.trial)
        busy.verdict = self._verdict(report, epoch)
        action = Action.CONTINUE if busy.verdict is None else Action.STOP
        self._fleet.send(
            busy.slot,
            Decision(trial=epoch.trial, attempt=epoch.attempt, epoch=epoch.epoch, action=action),
        )
        self._vigil.progressed(busy.slot, report.epoch_s)
        busy.kept.add(epoch)
        self._crew.progressed(busy.slot, report.peak_memory_bytes)
        self._suspects.progressed(busy.slot.device)
        self._dealer.pause.progressed()
        return EpochStored(slot=busy.slot, epoch=epoch)

    def _verdict(self, report: EpochReport, epoch: Epoch) -> Verdict | None:
        if not report.finite:
            return Verdict.DIVERGED
        if self._ledger.judge(epoch):
            return Verdict.PRUNED
        if self._overseer.ending is not None and not self._ledger.is_last(epoch):
            return Verdict.DRAINED
        return None

    def _on_ended(self, slot: Slot, how: str, last_words: str) -> Iterator[Event]:
        silent_s = self._vigil.ended(slot)
        if busy := self._busy.pop(slot.index, None):
            yield self._outcomes.lost(busy, how, silent_s)
            if busy.verdict is None and not self._overseer.must_kill:
                yield from self._suspect(busy)
        if fault := self._crew.ended(slot, how, last_words):
            yield self._retire(slot, fault)

    def _press(self, overdue: Overdue) -> Iterator[Event]:
        """Go one step further with a worker that hangs; its end is then an event like any."""
        match overdue.step:
            case Step.DUMP:
                self._fleet.dump(overdue.slot)
                trial = self._busy[overdue.slot.index].trial.number
                yield Notice(text=f"trial {trial} hangs: no progress for {overdue.silent_s:g} s")
            case Step.STOP:
                self._fleet.stop(overdue.slot)
            case Step.KILL:
                self._fleet.kill(overdue.slot)

    def _on_full_disk(self, slot: Slot, message: str) -> Iterator[Event]:
        """A trial could not save what it has: it waits, as all do, until there is room."""
        self._vigil.ended(slot)
        self._fleet.kill(slot)  # a fresh process takes its place
        if busy := self._busy.pop(slot.index, None):
            yield self._outcomes.set_aside(busy, message)
        if self._dealer.pause.begin(self._folder.path):
            yield Notice(text=f"paused: {message}, and it goes on by itself")

    def _retire(self, slot: Slot, fault: SweepError) -> Notice:
        """Go on without a slot that cannot work; raise its fault when it was the last one."""
        is_of_all = isinstance(fault, DiskError)
        if is_of_all or not self._crew.retire(slot):
            raise fault
        return left_out(slot, fault)

    def _suspect(self, busy: Busy) -> Iterator[Event]:
        """A trial crashed; where its device is to blame, none of its slots is used any more."""
        device = busy.slot.device
        if fault := self._suspects.crashed(device, busy.trial.number):
            yield self._retire(busy.slot, fault)
            for slot in self._crew.retire_device(device):
                self._fleet.kill(slot)

    def _oversee(self) -> Iterator[Event]:
        if self._dealer.pause.look():
            yield Notice(text=f"there is room again in {self._folder.path}: going on")
        had_ending = self._overseer.ending is not None
        yield from self._overseer.look(self._ledger.attempts.values())
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
