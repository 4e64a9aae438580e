"""Devices: the GPUs that this process may use, as nvidia-smi numbers them, and the CPU."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from sweep.errors import DeviceError
from sweep.fleet.driver import Installed, installed_gpus, installed_part


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A GPU, or the CPU (`uuid` None). `index` counts as `--gpus` does."""

    uuid: str | None
    name: str
    index: int | None = None
    memory_bytes: int | None = None

    @property
    def label(self) -> str:
        """What tables call it: the GPU's UUID, or cpu."""
        return self.uuid or "cpu"

    @property
    def short_name(self) -> str:
        """What the screen calls it: gpu 0, or cpu."""
        return "cpu" if self.index is None else f"gpu {self.index}"


CPU = Device(uuid=None, name="cpu")
_NO_GPU = ("", "-1", "none", "NoDevFiles")  # what users, Slurm and others write to hide them all


def visible_gpus(environment: Mapping[str, str] = os.environ) -> tuple[Device, ...]:
    """The GPUs of this machine that CUDA_VISIBLE_DEVICES leaves, numbered in its order.

    As CUDA does, it reads that variable up to the first name that it does not know. Without it
    the numbers are nvidia-smi's. Empty where there is no NVIDIA driver, and where the variable is
    empty or -1. Raises DeviceError where a driver does not answer, or none of the names is known:
    what was to run on a GPU must not run on the CPU unasked.
    """
    gpus = tuple(_device(each, index) for index, each in enumerate(installed_gpus()))
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not gpus:
        return gpus
    chosen = (_named(name.strip(), gpus) for name in visible.split(","))
    known = [found[0] for found in takewhile(lambda found: len(found) == 1, chosen)]
    if not known and visible.strip() not in _NO_GPU:
        raise DeviceError(
            f"CUDA_VISIBLE_DEVICES={visible} names no GPU of this machine, which has "
            f"{_listed(gpus)}: name one of them, unset it, or run on the CPU with --cpu 2"
        )
    return tuple(replace(gpu, index=index) for index, gpu in enumerate(known))


def what_is_there(gpus: Sequence[Device]) -> str:
    """The GPUs in words, and the way to the CPU."""
    if not gpus:
        return "this machine shows no GPU; leave --gpus out, or write --cpu 2, to run on the CPU"
    there = _listed(gpus)
    return f"there are: {there}; leave --gpus out for all of them, or run on the CPU with --cpu 2"


def _listed(gpus: Sequence[Device]) -> str:
    return ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in gpus)


def matching_gpus(name: str, gpus: Sequence[Device]) -> list[Device]:
    """The GPUs that a number stands for, or the beginning of a UUID."""
    if name.isdigit():
        return [gpu for gpu in gpus if gpu.index == int(name)]
    if not name.startswith("GPU-"):
        return []
    return [gpu for gpu in gpus if (gpu.uuid or "").startswith(name)]


def _named(name: str, gpus: Sequence[Device]) -> list[Device]:
    """What a name in CUDA_VISIBLE_DEVICES stands for; it may be a part of a GPU."""
    if not name.startswith("MIG-"):
        return matching_gpus(name, gpus)
    part = installed_part(name)
    return [] if part is None else [_device(part, 0)]


def _device(installed: Installed, index: int) -> Device:
    return Device(
        uuid=installed.uuid,
        name=installed.name,
        index=index,
        memory_bytes=installed.memory_bytes,
    )
