"""The dealer: which trial a free slot gets, if any, and whether it has the devices for it."""

from sweep.coordinator.crew import Crew
from sweep.coordinator.ending import Ending
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.overseer import Overseer
from sweep.coordinator.pause import Pause
from sweep.coordinator.suspects import Suspects
from sweep.fleet.slots import Slot
from sweep.records import Trial
from sweep.spec.study import StudySpec


class Dealer:
    """Deals waiting trials first, then new ones, as long as the study wants any and no `pause`
    is on.
    """

    def __init__(
        self,
        *,
        spec: StudySpec,
        ledger: Ledger,
        overseer: Overseer,
        crew: Crew,
        suspects: Suspects,
    ) -> None:
        self._spec = spec
        self._ledger = ledger
        self._overseer = overseer
        self._crew = crew
        self._suspects = suspects
        self._is_exhausted = False
        self.pause = Pause()

    @property
    def may_deal(self) -> bool:
        """Whether any trial is left to be started."""
        if self._overseer.ending is not None or self._ledger.has_enough:
            return False
        return not self._is_exhausted or self._ledger.waiting() is not None

    def trial_for(self, slot: Slot) -> Trial | None:
        """The trial to start on the slot, stored or new; None where there is none for it now.

        One that crashed on the slot's device waits for another device, where there is one.
        """
        if self.pause.is_on or not self.may_deal:
            return None
        shunned = self._suspects.shunned(slot.device, self._crew.devices)
        return self._ledger.waiting(but=shunned) or self._new_trial()

    def place_for(self, slot: Slot, trial: Trial) -> Slot | None:
        """The slot with as many devices as the trial needs; None while too few are free, and then
        a new trial is stored, to wait.

        The run ends where there will never be so many.
        """
        count, left = self._spec.num_gpus(trial.params), len(self._crew.devices)
        if count > left:
            reason = f"trial {trial.number} needs {count} GPUs, and {left} are left"
            self._overseer.end(Ending(reason=reason, exit_code=4))
        place = self._crew.gather(slot, count) if count <= left else None
        if place is None:
            self._ledger.keep(trial)
        return place

    def _new_trial(self) -> Trial | None:
        if self._is_exhausted or self._ledger.is_full:
            return None
        trial = self._ledger.ask()
        self._is_exhausted = trial is None
        return trial
