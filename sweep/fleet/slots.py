"""Slots: the places where one trial runs, and the share of the machine that each gets."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from sweep.fleet.devices import CPU, Device


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One place for one trial: a device and the number of CPU threads that go with it.

    `memory_limit_bytes` is what its process may use of a GPU's memory; None for all there is.
    `others` are further devices of the same trial, each with a process and threads of its own.
    """

    index: int
    device: Device
    num_threads: int
    memory_limit_bytes: int | None = None
    others: tuple[Device, ...] = ()

    @property
    def devices(self) -> tuple[Device, ...]:
        """All devices of the trial, that of the worker first; the CPU once for each process."""
        return (self.device, *self.others)

    @property
    def label(self) -> str:
        """What tables call it: its devices, as `--gpus` takes them, or cpu."""
        return ",".join(dict.fromkeys(device.label for device in self.devices))

    @property
    def short_name(self) -> str:
        """What the screen calls it: gpu 0, gpu 0+1, cpu 3."""
        indices = "+".join(str(device.index) for device in self.devices)
        return f"cpu {self.index}" if self.device.uuid is None else f"gpu {indices}"

    @property
    def torch_device(self) -> str:
        """The device as torch names it inside the worker, which sees one GPU only."""
        return "cpu" if self.device.uuid is None else "cuda:0"


def gpu_slots(
    gpus: Sequence[Device], *, trials_per_gpu: int = 1, gpus_per_trial: int = 1
) -> tuple[Slot, ...]:
    """A slot for each GPU, several for each, or one for several; the cores are shared out.

    The first slots are on different GPUs. What makes no whole slot stays unused.
    """
    return _share([*gpus] * trials_per_gpu, gpus_per_trial)


def cpu_slots(count: int, *, gpus_per_trial: int = 1) -> tuple[Slot, ...]:
    """Slots for `count` processes on the CPU, each of which stands for a GPU; so many a slot.

    The cores are shared out among the processes.
    """
    return _share([CPU] * count, gpus_per_trial)


def default_cpu_count() -> int:
    """What a machine without a GPU runs: two processes, or one on a single core."""
    return min(2, num_cores())


def num_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def _share(devices: Sequence[Device], per_slot: int) -> tuple[Slot, ...]:
    threads = max(1, num_cores() // len(devices))
    starts = range(0, len(devices) - per_slot + 1, per_slot)
    teams = [tuple(devices[start : start + per_slot]) for start in starts]
    return tuple(
        Slot(index=index, device=team[0], num_threads=threads, others=team[1:])
        for index, team in enumerate(teams)
    )
