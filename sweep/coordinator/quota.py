"""The quota of disk: what all checkpoints of a study may take, and which go above it."""

from collections.abc import Iterator
from pathlib import Path

from sweep.coordinator.checkpoints import best_complete, checkpoint_files, remove_file
from sweep.coordinator.events import Notice
from sweep.coordinator.folders import StudyFolder
from sweep.coordinator.ledger import Ledger
from sweep.records import Direction, Trial
from sweep.sizes import show_size
from sweep.store import upkeep
from sweep.store.leadership import Leadership


class DiskQuota:
    """Keeps the checkpoints of a led study within `max_bytes`; None: there is no limit.

    Those of finished trials go, the oldest first, but never the best trial's, and nothing of a
    trial that is not finished.
    """

    def __init__(
        self,
        max_bytes: int | None,
        *,
        direction: Direction,
        folder: StudyFolder,
        ledger: Ledger,
        leadership: Leadership,
    ) -> None:
        self._max_bytes = max_bytes
        self._direction = direction
        self._folder = folder
        self._ledger = ledger
        self._leadership = leadership
        self._sizes: dict[int, int] = {}
        self._has_told = False
        if max_bytes is not None:
            self._sizes = {number: self._size(number) for number in ledger.trials}

    def note(self, number: int) -> Iterator[Notice]:
        """A trial has saved a checkpoint; others make room for it where that is needed."""
        if self._max_bytes is None:
            return
        self._sizes[number] = self._size(number)
        for trial in self._removable():
            if self._total <= self._max_bytes:
                break
            self._remove(trial.number)
        if self._total > self._max_bytes and not self._has_told:
            self._has_told = True
            yield Notice(
                text=f"the checkpoints that are needed take {show_size(self._total)}, more than "
                f"checkpoints.max_disk allows ({show_size(self._max_bytes)})"
            )

    @property
    def _total(self) -> int:
        return sum(self._sizes.values())

    def _removable(self) -> list[Trial]:
        """The finished trials with a checkpoint, the one that ended first first."""
        if self._total <= (self._max_bytes or 0):
            return []
        trials = self._ledger.trials
        best = best_complete(trials.values(), self._direction)
        found = [
            trial
            for trial in trials.values()
            if trial.state.is_finished and trial != best and self._sizes.get(trial.number)
        ]
        return sorted(
            found, key=lambda trial: (trial.finished_at or trial.created_at, trial.number)
        )

    def _remove(self, number: int) -> None:
        upkeep.forget_checkpoints_of(self._leadership, number)
        for path in self._files(number):
            remove_file(path)
        self._sizes[number] = self._size(number)

    def _files(self, number: int) -> list[Path]:
        return checkpoint_files(self._folder.trial(number))

    def _size(self, number: int) -> int:
        return sum(path.stat().st_size for path in self._files(number))
