"""Memory of a stretch of work: torch's own tensors on a GPU, the whole process on the CPU."""

import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch

from sweep.errors import DeviceError
from sweep.sizes import show_size

_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_RESET_PEAK = "5"


def reset_peak(device: str) -> None:
    """Peak memory counts from now on. Does nothing where it cannot be counted."""
    if torch.device(device).type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    elif _CLEAR_REFS.exists():
        _reset_process_peak()


def peak_memory_bytes(device: str) -> int | None:
    """The most memory held at once since `reset_peak`; None where it cannot be known.

    On a GPU: tensors that torch allocated. On the CPU: resident memory of this process (Linux).
    """
    if torch.device(device).type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    return _of_process("VmHWM")


def memory_in_use_bytes(device: str) -> int | None:
    """The memory held now, counted as the peak is; None where it cannot be known."""
    if torch.device(device).type == "cuda":
        return torch.cuda.memory_allocated(device)
    return _of_process("VmRSS")


def baseline_memory_bytes(device: str) -> int | None:
    """The memory in use before a training begins; None where it cannot be known.

    On a GPU what nobody refers to any more is freed first.
    """
    if torch.device(device).type == "cuda":
        free_memory(device)
    return memory_in_use_bytes(device)


def working_memory_bytes(device: str, work: Callable[[], None]) -> int:
    """Does the work; how much more memory it held at its peak than before. The peak is reset."""
    before = memory_in_use_bytes(device)
    reset_peak(device)
    work()
    peak = peak_memory_bytes(device)
    return 0 if before is None or peak is None else max(0, peak - before)


def free_memory(device: str) -> None:
    """What nobody refers to any more is free, for others on the device too."""
    gc.collect()
    release_cache(device)


def release_cache(device: str) -> None:
    """What torch keeps of a GPU's memory without using it is free for other processes.

    Nothing is done after an error that CUDA repeats at every call until the process ends: whoever
    met it first is to tell of it.
    """
    if torch.device(device).type == "cuda":
        with suppress(RuntimeError):
            torch.cuda.empty_cache()


def limit_memory(device: str, num_bytes: int) -> None:
    """From now on this process runs out of memory beyond so many bytes on a GPU.

    Raises DeviceError when the device is no GPU or has less memory than that.
    """
    if torch.device(device).type != "cuda":
        raise DeviceError(f"the memory of {device} cannot be limited, only that of a GPU")
    _, total = torch.cuda.mem_get_info(device)
    if num_bytes > total:
        raise DeviceError(
            f"a memory limit of {show_size(num_bytes)} is more than {device} has: "
            f"{show_size(total)}"
        )
    torch.cuda.set_per_process_memory_fraction(num_bytes / total, device)


def _reset_process_peak() -> None:
    try:
        _CLEAR_REFS.write_text(_RESET_PEAK)
    except OSError:
        # some containers forbid it: the peak is then that since the process began
        return


def _of_process(name: str) -> int | None:
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
