"""The dealer: which trial a free slot gets, if any."""

from sweep.coordinator.crew import Crew
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.overseer import Overseer
from sweep.coordinator.pause import Pause
from sweep.coordinator.suspects import Suspects
from sweep.fleet.slots import Slot
from sweep.records import Trial


class Dealer:
    """Deals waiting trials first, then new ones, as long as the study wants any and no `pause`
    is on.
    """

    def __init__(
        self, *, ledger: Ledger, overseer: Overseer, crew: Crew, suspects: Suspects
    ) -> None:
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
        """The trial to start on the slot; None where there is none for it now.

        One that crashed on the slot's device waits for another device, where there is one.
        """
        if self.pause.is_on or not self.may_deal:
            return None
        shunned = self._suspects.shunned(slot.device, self._crew.devices)
        return self._ledger.waiting(but=shunned) or self._new_trial()

    def _new_trial(self) -> Trial | None:
        if self._is_exhausted or self._ledger.is_full:
            return None
        trial = self._ledger.ask()
        self._is_exhausted = trial is None
        return trial
