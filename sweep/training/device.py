"""Device: whether torch can use one, what it is called, and which versions answer."""

import platform
from typing import Any

import torch

from sweep import __version__
from sweep.errors import DeviceError


def check_device(device: str) -> str:
    """The name of a torch device such as `cpu` or `cuda:0`, after it has done a first sum.

    Raises DeviceError with torch's own reason when it cannot be used.
    """
    try:
        total = torch.ones(2, device=device).sum()
        assert total.item() == 2
        return device_name(torch.device(device))
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DeviceError(f"torch {torch.__version__} cannot use {device}: {reason}") from error


def device_name(device: torch.device) -> str:
    """What the device is called on its box; for the CPU its model name."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return _cpu_name() if device.type == "cpu" else device.type


def devices_seen() -> dict[str, Any]:
    """torch's version and CUDA, and the devices that it sees, as plain JSON values.

    Each has a `device` such as cuda:0, and its `name`, or else the `error` for which it is no use.
    """
    indices = range(torch.cuda.device_count())
    names = ("cpu", *(f"cuda:{index}" for index in indices))
    return {
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "devices": [_seen(name) for name in names],
    }


def _seen(device: str) -> dict[str, str]:
    try:
        return {"device": device, "name": check_device(device)}
    except DeviceError as error:
        return {"device": device, "error": str(error)}


def versions() -> dict[str, str]:
    """What a result was made with: sweep, torch, python, and CUDA where torch has it."""
    found = {
        "sweep": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    return found | ({"cuda": torch.version.cuda} if torch.version.cuda else {})


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            names = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0].strip() if names else platform.processor() or platform.machine()
