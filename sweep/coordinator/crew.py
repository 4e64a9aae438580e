"""The crew: which slots are free, which workers are starting, and which start again when."""

from collections.abc import Iterator
from typing import Protocol

from sweep.clock import monotonic_s
from sweep.errors import DeviceError
from sweep.fleet.devices import Device
from sweep.fleet.slots import Slot

_MAX_PAUSE_S = 2.0
_MAX_FALSE_STARTS = 3


class Starter(Protocol):
    """What the crew asks of a fleet."""

    slots: tuple[Slot, ...]

    def start(self, slot: Slot) -> None: ...


class Crew:
    """The slots of a fleet: starting, free, busy, or pausing before another start."""

    def __init__(self, fleet: Starter) -> None:
        self._fleet = fleet
        self._free: dict[int, Slot] = {}
        self._ready: set[int] = set()
        self._retired: set[int] = set()
        self._restarts: dict[int, tuple[Slot, float]] = {}
        self._false_starts: dict[int, int] = {}
        self._crashes: dict[int, int] = {}

    def start_all(self) -> None:
        """Start a worker on every slot."""
        for slot in self._fleet.slots:
            self._fleet.start(slot)

    def ready(self, slot: Slot) -> None:
        """The slot's worker is ready for a trial."""
        self._false_starts.pop(slot.index, None)
        self._ready.add(slot.index)
        self._free[slot.index] = slot

    def progressed(self, slot: Slot) -> None:
        """The slot's worker has finished an epoch: it works."""
        self._crashes.pop(slot.index, None)

    def take(self) -> Iterator[Slot]:
        """The free slots, each taken as it is given."""
        while self._free:
            yield self._free.pop(min(self._free))

    def give_back(self, slot: Slot) -> None:
        """A slot that was taken is free again."""
        self._free[slot.index] = slot

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the slots that are not retired."""
        return tuple(slot.device for slot in self._fleet.slots if slot.index not in self._retired)

    def retire(self, slot: Slot) -> bool:
        """Start no more workers on the slot; whether any other slot is left."""
        self._retired.add(slot.index)
        self._free.pop(slot.index, None)
        self._restarts.pop(slot.index, None)
        return len(self._retired) < len(self._fleet.slots)

    def retire_device(self, device: Device) -> list[Slot]:
        """Start no more workers on any slot of the device; the slots that were in use."""
        slots = [slot for slot in self._fleet.slots if slot.device == device]
        in_use = [slot for slot in slots if slot.index not in self._retired]
        for slot in in_use:
            self.retire(slot)
        return in_use

    def ended(self, slot: Slot, how: str, last_words: str) -> DeviceError | None:
        """The slot's worker is gone; another starts, after a pause that doubles each time.

        A DeviceError comes back when it ended three times running before it was ready.
        """
        self._free.pop(slot.index, None)
        if slot.index in self._retired:
            return None
        if slot.index not in self._ready and self._is_hopeless(slot):
            return DeviceError(
                f"the worker of slot {slot.index} ({slot.device.short_name}) ended "
                f"{_MAX_FALSE_STARTS} times before it was ready: {how}; it said: "
                f"{last_words or 'nothing'}"
            )
        self._ready.discard(slot.index)
        crashes = self._crashes.get(slot.index, 0)
        self._crashes[slot.index] = crashes + 1
        pause_s = 0.0 if crashes == 0 else min(2.0 ** (crashes - 1), _MAX_PAUSE_S)
        self._restarts[slot.index] = slot, monotonic_s() + pause_s
        return None

    def restart_due(self) -> None:
        """Start the workers whose pause is over."""
        now = monotonic_s()
        for index, (slot, due) in list(self._restarts.items()):
            if due <= now:
                del self._restarts[index]
                self._fleet.start(slot)

    def next_restart_s(self) -> float | None:
        """Seconds until the next restart is due; None when there is none."""
        dues = [due for _, due in self._restarts.values()]
        return max(0.0, min(dues) - monotonic_s()) if dues else None

    def _is_hopeless(self, slot: Slot) -> bool:
        count = self._false_starts.get(slot.index, 0) + 1
        self._false_starts[slot.index] = count
        return count >= _MAX_FALSE_STARTS
