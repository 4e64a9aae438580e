"""The crew: which slots are free, which workers are starting, and which start again when.

A trial on several devices gathers them: it takes the slots of other workers, which wait meanwhile.
"""

import platform
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from sweep.clock import monotonic_s
from sweep.coordinator.packing import Packing
from sweep.errors import DeviceError
from sweep.fleet.devices import Device
from sweep.fleet.slots import Slot
from sweep.store.entries import Place

_MAX_PAUSE_S = 2.0
_MAX_FALSE_STARTS = 3


class Starter(Protocol):
    """What the crew asks of a fleet."""

    slots: tuple[Slot, ...]

    def start(self, slot: Slot) -> None: ...

    def kill(self, slot: Slot) -> None: ...


class Crew:
    """The slots of a fleet: starting, free, busy, lent, or pausing before another start."""

    def __init__(self, fleet: Starter, packing: Packing) -> None:
        self._fleet = fleet
        self._packing = packing
        self._started: set[int] = set()
        self._lent: dict[int, int] = {}
        self._free: dict[int, Slot] = {}
        self._ready: set[int] = set()
        self._retired: set[int] = set()
        self._restarts: dict[int, tuple[Slot, float]] = {}
        self._false_starts: dict[int, int] = {}
        self._crashes: dict[int, int] = {}

    def start_all(self) -> None:
        """Start a worker on every slot that may be used and has none yet."""
        held = self._started | self._retired | self._restarts.keys()
        for slot in self._fleet.slots:
            if slot.index not in held and self._packing.is_open(slot):
                self._start(slot)

    def ready(self, slot: Slot) -> None:
        """The slot's worker is ready for a trial."""
        self._false_starts.pop(slot.index, None)
        self._ready.add(slot.index)
        if slot.index not in self._lent:
            self._free[slot.index] = slot

    def progressed(self, slot: Slot, peak_bytes: int | None) -> None:
        """The slot's worker has finished an epoch: it works. `peak_bytes` is what that took."""
        self._crashes.pop(slot.index, None)
        self._packing.note(slot, peak_bytes)
        self.start_all()
        for free in list(self._free.values()):
            if not self._packing.is_open(free):
                del self._free[free.index]
                self._fleet.kill(free)  # its memory is needed by the others

    def take(self) -> Iterator[Slot]:
        """The free slots, each taken as it is given."""
        while self._free:
            yield self._free.pop(min(self._free))

    def place_of(self, slot: Slot, pid: int, log: str) -> Place:
        """What is to be stored of where an attempt on the slot runs."""
        usable = [each for each in self._fleet.slots if self._packing.is_open(each)]
        num_slots_taken = 1 + sum(lead == slot.index for lead in self._lent.values())
        is_shared = slot.device.uuid is not None and not slot.others
        share = 1 / self._packing.num_open(slot) if is_shared else float(len(slot.devices))
        return Place(
            device=slot.label,
            host=platform.node(),
            pid=pid,
            num_slots=max(1, len(usable) // num_slots_taken),
            num_devices=share,
            log=log,
        )

    def gather(self, slot: Slot, count: int) -> Slot | None:
        """A taken slot with exactly so many devices, those of other free slots among them.

        None while too few are free; then nothing has changed.
        """
        slot = replace(slot, others=slot.others[: count - 1])
        missing = count - len(slot.devices)
        lent = [self._free[index] for index in sorted(self._free)][: max(0, missing)]
        if len(lent) < missing:
            return None
        for each in lent:
            del self._free[each.index]
            self._lent[each.index] = slot.index
        return replace(slot, others=(*slot.others, *(each.device for each in lent)))

    def give_back(self, slot: Slot) -> None:
        """A slot that was taken is free again, and those that were lent to it."""
        self._end_loans(slot)
        own = self._fleet.slots[slot.index]
        if self._packing.is_open(own):
            self._free[own.index] = own
        else:
            self._fleet.kill(own)

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the slots that are not retired."""
        left = (slot for slot in self._fleet.slots if slot.index not in self._retired)
        return tuple(device for slot in left for device in slot.devices)

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
        self._started.discard(slot.index)
        self._end_loans(slot)
        if slot.index in self._retired:
            return None
        if not self._packing.is_open(slot):
            self._ready.discard(slot.index)
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
                self._start(slot)

    def next_restart_s(self) -> float | None:
        """Seconds until the next restart is due; None when there is none."""
        dues = [due for _, due in self._restarts.values()]
        return max(0.0, min(dues) - monotonic_s()) if dues else None

    def _start(self, slot: Slot) -> None:
        self._started.add(slot.index)
        self._fleet.start(slot)

    def _end_loans(self, slot: Slot) -> None:
        for index in [index for index, lead in self._lent.items() if lead == slot.index]:
            del self._lent[index]
            if index in self._ready and index not in self._retired:
                self._free[index] = self._fleet.slots[index]

    def _is_hopeless(self, slot: Slot) -> bool:
        count = self._false_starts.get(slot.index, 0) + 1
        self._false_starts[slot.index] = count
        return count >= _MAX_FALSE_STARTS
