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
_ORDER, _BY_BUS = "CUDA_DEVICE_ORDER", "PCI_BUS_ID"
_NO_GPU = ("", "-1", "none", "NoDevFiles")  # what users, Slurm and others write to hide them all


def visible_gpus(environment: Mapping[str, str] = os.environ) -> tuple[Device, ...]:
    """The GPUs of this machine that CUDA_VISIBLE_DEVICES leaves, numbered in its order.

    As CUDA does, it reads that variable up to the first name that it does not know. Without it
    the numbers are nvidia-smi's. Empty where there is no NVIDIA driver, and where the variable is
    empty or -1. Raises DeviceError where a driver does not answer, or none of the names is known:
    what was to run on a GPU must not run on the CPU unasked; and where it has numbers that CUDA
    counts in an order of its own.
    """
    gpus = tuple(_device(each, index) for index, each in enumerate(installed_gpus()))
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not gpus:
        return gpus
    names = [name.strip() for name in visible.split(",")]
    _check_order(names, gpus, environment)
    chosen = (_named(name, gpus) for name in names)
    known = [found[0] for found in takewhile(lambda found: len(found) == 1, chosen)]
    if not known and visible.strip() not in _NO_GPU:
        raise DeviceError(
            f"CUDA_VISIBLE_DEVICES={visible} names no GPU of this machine, which has "
            f"{_listed(gpus)}: name one of them, unset it, or run on the CPU with --cpu 2"
        )
    return tuple(replace(gpu, index=index) for index, gpu in enumerate(known))


def _check_order(
    names: Sequence[str], gpus: Sequence[Device], environment: Mapping[str, str]
) -> None:
    """CUDA counts unlike GPUs from the fastest, by a measure of its own, unless told otherwise."""
    has_numbers = any(name.isdigit() for name in names)
    are_alike = len({gpu.name for gpu in gpus}) == 1
    if has_numbers and not are_alike and environment.get(_ORDER) != _BY_BUS:
        raise DeviceError(
            f"CUDA_VISIBLE_DEVICES={','.join(names)} counts from the fastest GPU, and those of "
            f"this machine differ: {_listed(gpus)}; set {_ORDER}={_BY_BUS} and number them like "
            "that, or write UUIDs instead"
        )


def what_is_there(gpus: Sequence[Device]) -> str:
    """The GPUs in words, and the way to the CPU."""
    if not gpus:
        return "this machine shows no GPU; leave --gpus out, or write --cpu 2, to run on the CPU"
    there = _listed(gpus)
    return f"there are: {there}; leave --gpus out for all of them, or run on the CPU with --cpu 2"


def _listed(gpus: Sequence[Device]) -> str:
    return ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in gpus)


def matching_gpus(name: str, gpus: Sequence[Device]) -> list[Device]:
    """The GPUs, or parts of one, that a number stands for, or the beginning of a UUID."""
    if name.isdigit():
        return [gpu for gpu in gpus if gpu.index == int(name)]
    if not name.startswith(("GPU-", "MIG-")):
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
