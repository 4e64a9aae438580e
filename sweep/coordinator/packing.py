"""Packing: how many trials run on each GPU at a time, as asked or as many as fit.

To find out, the first trial on each GPU runs alone. What it took at its peak, and what its process
adds to that, decides how many more are let in; a later trial that needs more makes them fewer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sweep.fleet.sharing import Footprint, footprint_of, num_that_fit
from sweep.fleet.slots import Slot

FreeBytes = Callable[[str], int | None]
"""How much of a GPU's memory is free now, by its UUID; None where unknown."""


@dataclass(kw_only=True, slots=True)
class _Gpu:
    """What is known of one GPU: what was free before the run, and how many trials it takes."""

    free_before: int | None
    num_slots: int
    num_open: int = 1
    footprint: Footprint | None = None


@dataclass(kw_only=True, slots=True)
class Packing:
    """Which slots may be used. Made before any worker of the run."""

    slots: Sequence[Slot]
    is_auto: bool
    free_bytes: FreeBytes
    _gpus: dict[str, _Gpu] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for uuid in {slot.device.uuid for slot in self.slots if slot.device.uuid}:
            if self.is_auto:
                number = sum(slot.device.uuid == uuid for slot in self.slots)
                self._gpus[uuid] = _Gpu(free_before=self.free_bytes(uuid), num_slots=number)

    def is_open(self, slot: Slot) -> bool:
        """Whether trials may start on a slot: it is one of the first so many of its GPU."""
        gpu = self._gpus.get(slot.device.uuid or "")
        return gpu is None or self._position(slot) < gpu.num_open

    def num_open(self, slot: Slot) -> int:
        """How many slots there are to use on a slot's device."""
        same = [each for each in self.slots if each.device == slot.device]
        return sum(self.is_open(each) for each in same)

    def note(self, slot: Slot, peak_bytes: int | None) -> None:
        """A trial has finished an epoch on the slot, for which torch took so much at its peak."""
        gpu = self._gpus.get(slot.device.uuid or "")
        if gpu is None or peak_bytes is None:
            return
        if gpu.footprint is None:
            now = self.free_bytes(slot.device.uuid or "")
            gpu.footprint = footprint_of(peak_bytes, free_before=gpu.free_before, free_now=now)
        elif peak_bytes <= gpu.footprint.peak_bytes:
            return
        gpu.footprint = replace(gpu.footprint, peak_bytes=peak_bytes)
        gpu.num_open = num_that_fit(gpu.footprint, free_bytes=gpu.free_before, most=gpu.num_slots)

    def _position(self, slot: Slot) -> int:
        same = [each.index for each in self.slots if each.device == slot.device]
        return same.index(slot.index)
