"""Open epochs: the effective epochs of trials that are not finished, as a leader knows them."""

from collections.abc import Iterable

from sweep.records import Epoch


class OpenEpochs:
    """Of each trial and epoch that of the latest attempt to reach it."""

    def __init__(self, epochs: Iterable[Epoch]) -> None:
        self._epochs: dict[int, dict[int, Epoch]] = {}
        for epoch in epochs:
            self.put(epoch)

    def of(self, number: int) -> list[Epoch]:
        """A trial's epochs, in order."""
        return [epoch for _, epoch in sorted(self._epochs.get(number, {}).items())]

    def latest_first(self, number: int) -> list[Epoch]:
        """A trial's epochs, those of the latest attempt first, its last one before all."""
        epochs = self._epochs.get(number, {}).values()
        return sorted(epochs, key=lambda epoch: (epoch.attempt, epoch.epoch), reverse=True)

    def put(self, epoch: Epoch) -> bool:
        """The epoch takes its place; whether no attempt had reached it before."""
        known = self._epochs.setdefault(epoch.trial, {})
        is_new = epoch.epoch not in known
        known[epoch.epoch] = epoch
        return is_new

    def forget(self, number: int) -> None:
        """The trial starts over."""
        self._epochs.pop(number, None)
