"""Residence: whether a data set may lie in memory for as long as a process lives."""

import os
from pathlib import Path

import torch

from sweep.errors import DataError
from sweep.spec.key_kinds import Size
from sweep.spec.kind import Unfit

LIMIT_VARIABLE = "SWEEP_DATA_MEMORY"
"""The most that a folder's images may take in each worker, such as 4GiB."""
SHARE = 2
"""Without a limit, half of what is free may be taken: the rest is for training."""

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
    try:
        return Size().fit(text)
    except Unfit as error:
        raise DataError(f"{LIMIT_VARIABLE} {error}") from error


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
