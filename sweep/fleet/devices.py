"""Devices: the GPUs that this process may use, as nvidia-smi numbers them, and the CPU."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from sweep.errors import DeviceError, UsageError


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


def visible_gpus(environment: Mapping[str, str] = os.environ) -> tuple[Device, ...]:
    """The GPUs of this machine that CUDA_VISIBLE_DEVICES leaves, numbered in its order.

    As CUDA does, it reads that variable up to the first name that it does not know. Without it
    the numbers are nvidia-smi's. Empty where there is no NVIDIA driver.
    """
    gpus = _installed_gpus()
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return gpus
    chosen = (_matching(name.strip(), gpus) for name in visible.split(","))
    known = [matching[0] for matching in takewhile(lambda found: len(found) == 1, chosen)]
    return tuple(replace(gpu, index=index) for index, gpu in enumerate(known))


def select_gpus(text: str, gpus: Sequence[Device]) -> tuple[Device, ...]:
    """The devices that `--gpus` names: `all`, numbers, or UUIDs, separated by commas.

    Raises UsageError for text of another form or a device named twice, DeviceError for a device
    that is not there.
    """
    if text.strip() == "all":
        if not gpus:
            raise DeviceError(f"--gpus all: {_what_is_there(gpus)}")
        return tuple(gpus)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        _check_form(text, name)
    is_repeated = len(set(names)) < len(names)
    chosen = [] if is_repeated else [_find(name, gpus) for name in names]
    if is_repeated or len({gpu.uuid for gpu in chosen}) < len(chosen):
        raise UsageError(f"--gpus {text}: a device is named twice; name each device once")
    return tuple(chosen)


def _check_form(text: str, name: str) -> None:
    is_number = name.isascii() and name.isdigit()
    is_uuid = name.startswith("GPU-") and len(name) > len("GPU-")
    if not is_number and not is_uuid:
        found = repr(name) if name else "an empty name"
        raise UsageError(
            f"--gpus {text!r}: {found} is no device; write numbers as in --gpus 0,1, "
            "UUIDs as in --gpus GPU-..., or --gpus all"
        )


def _find(name: str, gpus: Sequence[Device]) -> Device:
    matching = _matching(name, gpus)
    if not matching:
        raise DeviceError(f"no GPU {name} here; {_what_is_there(gpus)}")
    if len(matching) > 1:
        raise UsageError(f"--gpus: {name} fits {len(matching)} devices; write more of the UUID")
    return matching[0]


def _what_is_there(gpus: Sequence[Device]) -> str:
    if not gpus:
        return "this machine shows no GPU; leave --gpus out, or write --cpu 2, to run on the CPU"
    there = ", ".join(f"{gpu.index} ({gpu.name}, {gpu.uuid})" for gpu in gpus)
    return f"there are: {there}; leave --gpus out for all of them, or run on the CPU with --cpu 2"


def _matching(name: str, gpus: Sequence[Device]) -> list[Device]:
    if name.isdigit():
        return [gpu for gpu in gpus if gpu.index == int(name)]
    if not name.startswith("GPU-"):
        return []
    return [gpu for gpu in gpus if (gpu.uuid or "").startswith(name)]


def _installed_gpus() -> tuple[Device, ...]:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        count = pynvml.nvmlDeviceGetCount()
        return tuple(_describe(pynvml, index) for index in range(count))
    except pynvml.NVMLError as error:
        raise DeviceError(f"the NVIDIA driver does not answer: {error}; see nvidia-smi") from error
    finally:
        pynvml.nvmlShutdown()


def _describe(nvml: Any, index: int) -> Device:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    return Device(
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        index=index,
        memory_bytes=nvml.nvmlDeviceGetMemoryInfo(handle).total,
    )
