"""Peak memory of a stretch of work: torch's own tensors on a GPU, the whole process on the CPU."""

from pathlib import Path

import torch

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
    return _process_peak_bytes() if _STATUS.exists() else None


def _reset_process_peak() -> None:
    try:
        _CLEAR_REFS.write_text(_RESET_PEAK)
    except OSError:
        # some containers forbid it: the peak is then that since the process began
        return


def _process_peak_bytes() -> int | None:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
