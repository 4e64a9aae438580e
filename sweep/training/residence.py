"""Residence: whether a data set may lie in memory for as long as a process lives."""

import os
import re
from pathlib import Path

import torch

from sweep.errors import DataError

LIMIT_VARIABLE = "SWEEP_DATA_MEMORY"
"""The most that a folder's images may take in each worker, such as 4GiB."""
SHARE = 2
"""Without a limit, half of what is free may be taken: the rest is for training."""

_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = re.compile(rf"(\d+(?:\.\d+)?) *({'|'.join(_UNITS)})")
_MEMORY = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CONTAINER_USE = Path("/sys/fs/cgroup/memory.current")


def may_reside(num_bytes: int, device: torch.device) -> bool:
    """Whether a data set of that size may lie on the device.

    Raises DataError when the environment's limit is no size.
    """
    limit = os.environ.get(LIMIT_VARIABLE)
    return num_bytes <= (_size(limit) if limit else _free_bytes(device) // SHARE)


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        units = ", ".join(_UNITS)
        raise DataError(
            f"{LIMIT_VARIABLE} is {text!r}; it takes a size such as 4GiB (units: {units})"
        )
    return int(float(match[1]) * _UNITS[match[2]])


def _free_bytes(device: torch.device) -> int:
    """What this process may count on: its share of the host's memory, and of the GPU's."""
    host = int(_free_on_host() * _share_of_host())
    return min(host, torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else host


def _share_of_host() -> float:
    """The cores are shared out among the workers of a run; so is the memory."""
    return min(1.0, torch.get_num_threads() / len(os.sched_getaffinity(0)))


def _free_on_host() -> int:
    """Free memory in bytes, within the limit of a container; without end where none is told."""
    free = [2**60]
    if _MEMORY.exists():
        lines = _MEMORY.read_text().splitlines()
        free += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    if _CONTAINER_LIMIT.exists() and _CONTAINER_LIMIT.read_text().strip().isdecimal():
        free.append(int(_CONTAINER_LIMIT.read_text()) - int(_CONTAINER_USE.read_text()))
    return max(0, min(free))
