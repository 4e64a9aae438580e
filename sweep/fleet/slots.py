"""Slots: the places where one trial runs, and the share of the machine that each gets."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from sweep.fleet.devices import CPU, Device


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One place for one trial: a device and the number of CPU threads that go with it.

    `memory_limit_bytes` is what its process may use of a GPU's memory; None for all there is.
    """

    index: int
    device: Device
    num_threads: int
    memory_limit_bytes: int | None = None

    @property
    def torch_device(self) -> str:
        """The device as torch names it inside the worker, which sees one GPU only."""
        return "cpu" if self.device.uuid is None else "cuda:0"


def gpu_slots(gpus: Sequence[Device]) -> tuple[Slot, ...]:
    """One slot for each GPU."""
    return _share([*gpus])


def cpu_slots(count: int) -> tuple[Slot, ...]:
    """`count` slots on the CPU, the cores shared out among them."""
    return _share([CPU] * count)


def default_cpu_slots() -> tuple[Slot, ...]:
    """What a machine without a GPU runs: two slots, or one on a single core."""
    return cpu_slots(min(2, num_cores()))


def num_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def _share(devices: Sequence[Device]) -> tuple[Slot, ...]:
    threads = max(1, num_cores() // len(devices))
    return tuple(
        Slot(index=index, device=device, num_threads=threads)
        for index, device in enumerate(devices)
    )
