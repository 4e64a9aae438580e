"""Sharing a GPU: how many trials fit on one, and what each may use of its memory; arithmetic."""

from dataclasses import dataclass

from sweep.errors import DeviceError
from sweep.fleet.devices import Device
from sweep.fleet.slots import num_cores

CONTEXT_BYTES = 512 * 2**20
"""What a process holds of a GPU beside what torch allocates, where it could not be measured."""
MOST_ON_A_GPU = 8
"""More trials than that only wait for each other."""
HEADROOM = 0.9
"""The part of free memory that is given away: memory that is in pieces cannot be used whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Footprint:
    """What one trial takes of a GPU: its tensors at their peak, and what its process adds."""

    peak_bytes: int
    overhead_bytes: int

    @property
    def total_bytes(self) -> int:
        return self.peak_bytes + self.overhead_bytes


def most_on_a_gpu(num_gpus: int) -> int:
    """How many trials may share each GPU at most: each wants a core that feeds it."""
    return max(1, min(MOST_ON_A_GPU, num_cores() // num_gpus))


def fair_limit_bytes(device: Device, num_sharing: int) -> int | None:
    """What torch may allocate in each of several processes on a GPU, so that all have room.

    None where the GPU's memory is not known. Raises DeviceError where nothing would be left.
    """
    if device.memory_bytes is None:
        return None
    limit = device.memory_bytes // num_sharing - CONTEXT_BYTES
    if limit <= 0:
        raise DeviceError(
            f"{device.short_name} has {device.memory_bytes // 2**20} MiB, too little for "
            f"{num_sharing} trials at a time; ask for fewer with --trials-per-gpu"
        )
    return limit


def footprint_of(peak_bytes: int, *, free_before: int | None, free_now: int | None) -> Footprint:
    """What a trial takes that is alone on a GPU; `free_before` was free there before its process.

    torch keeps more than it uses, and the driver needs something for each process.
    """
    taken = None if free_before is None or free_now is None else free_before - free_now
    overhead = CONTEXT_BYTES if taken is None else max(CONTEXT_BYTES, taken - peak_bytes)
    return Footprint(peak_bytes=peak_bytes, overhead_bytes=overhead)


def num_that_fit(footprint: Footprint, *, free_bytes: int | None, most: int) -> int:
    """How many such trials fit into what was free before the first one; 1 where that is unknown.

    Never more than `most`, and never none.
    """
    if free_bytes is None:
        return 1
    return max(1, min(most, int(HEADROOM * free_bytes) // footprint.total_bytes))
