"""The choice of GPUs: what `--gpus` means."""

import re
from collections.abc import Sequence

from sweep.errors import DeviceError, UsageError
from sweep.fleet.devices import Device, matching_gpus, what_is_there
from sweep.fleet.reservation import free_gpus

_FREE = re.compile(r"free:([1-9][0-9]{0,3})")


def select_gpus(text: str, gpus: Sequence[Device]) -> tuple[Device, ...]:
    """The devices that `--gpus` names: `all`, `free:N`, or numbers and UUIDs with commas.

    Raises UsageError for text of another form or a device named twice, DeviceError for a device
    that is not there.
    """
    if text.strip() == "all":
        if not gpus:
            raise DeviceError(f"--gpus all: {what_is_there(gpus)}")
        return tuple(gpus)
    if found := _FREE.fullmatch(text.strip()):
        return _free(int(found[1]), gpus)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        _check_form(text, name)
    is_repeated = len(set(names)) < len(names)
    chosen = [] if is_repeated else [_find(name, gpus) for name in names]
    if is_repeated or len({gpu.uuid for gpu in chosen}) < len(chosen):
        raise UsageError(f"--gpus {text}: a device is named twice; name each device once")
    return tuple(chosen)


def _free(count: int, gpus: Sequence[Device]) -> tuple[Device, ...]:
    free = free_gpus(gpus)
    if not gpus:
        raise DeviceError(f"--gpus free:{count}: {what_is_there(gpus)}")
    if len(free) < count:
        names = ", ".join(gpu.short_name for gpu in free) or "none"
        raise DeviceError(
            f"--gpus free:{count}: of {len(gpus)} GPUs {len(free)} are free ({names}); ask for "
            "fewer, wait, or share busy ones with --share-busy"
        )
    return free[:count]


def _check_form(text: str, name: str) -> None:
    is_number = name.isascii() and name.isdigit()
    is_uuid = name.startswith(("GPU-", "MIG-")) and len(name) > len("GPU-")
    if not is_number and not is_uuid:
        found = repr(name) if name else "an empty name"
        raise UsageError(
            f"--gpus {text!r}: {found} is no device; write numbers as in --gpus 0,1, "
            "UUIDs as in --gpus GPU-..., --gpus free:2, or --gpus all"
        )


def _find(name: str, gpus: Sequence[Device]) -> Device:
    matching = matching_gpus(name, gpus)
    if not matching:
        raise DeviceError(f"no GPU {name} here; {what_is_there(gpus)}")
    if len(matching) > 1:
        raise UsageError(f"--gpus: {name} fits {len(matching)} devices; write more of the UUID")
    return matching[0]
