"""Checkpoints kept on disk: which of a trial's files still serve, and the removal of the rest."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from sweep.records import Checkpoint, Direction, Epoch

Keep = Literal["best_and_last", "last", "all", "none"]

_RESUMABLE = 2  # the last, and the one before in case the last turns out damaged


def resumable(epochs: Sequence[Epoch]) -> list[Checkpoint]:
    """The newest checkpoints that a trial can go on from, the newest first."""
    newest_first = sorted(epochs, key=lambda epoch: epoch.epoch, reverse=True)
    saved = [epoch.checkpoint for epoch in newest_first if epoch.checkpoint is not None]
    return saved[:_RESUMABLE]


class KeptCheckpoints:
    """The checkpoints of one trial that are still on disk."""

    def __init__(
        self, keep: Keep, metric: str, direction: Direction, epochs: Sequence[Epoch]
    ) -> None:
        self._keep = keep
        self._metric = metric
        self._direction = direction
        self._epochs = [epoch for epoch in epochs if epoch.checkpoint is not None]

    def add(self, epoch: Epoch) -> None:
        """Take note of a stored epoch's checkpoint and remove those that it replaces."""
        if epoch.checkpoint is not None:
            self._epochs.append(epoch)
            self._reduce_to(self._epochs[-_RESUMABLE:])

    def finish(self, *, is_complete: bool) -> None:
        """Reduce to what is kept of a finished trial: nothing unless it is complete."""
        self._reduce_to(self._epochs[-1:] if is_complete else [])
        if not is_complete and self._keep != "all":
            for epoch in self._epochs:
                _remove(epoch)
            self._epochs = []

    def _reduce_to(self, recent: list[Epoch]) -> None:
        if self._keep == "all":
            return
        kept = [*recent, *([best] if (best := self._best()) else [])]
        for epoch in self._epochs:
            if epoch not in kept:
                _remove(epoch)
        self._epochs = [epoch for epoch in self._epochs if epoch in kept]

    def _best(self) -> Epoch | None:
        if self._keep != "best_and_last":
            return None
        best: Epoch | None = None
        for epoch in self._epochs:
            value = epoch.metrics.get(self._metric)
            if value is None:
                continue
            if best is None or self._direction.is_better(value, best.metrics[self._metric] or 0.0):
                best = epoch
        return best


def _remove(epoch: Epoch) -> None:
    if epoch.checkpoint is not None:
        with contextlib.suppress(OSError):  # a file that stays costs space, nothing else
            Path(epoch.checkpoint.path).unlink(missing_ok=True)
