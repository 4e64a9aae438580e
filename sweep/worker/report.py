"""Report: what an attempt says of an epoch, or of its failure, in words that can be sent."""

import math
import traceback

from sweep.errors import BrokenContractError, DiskError, FullDiskError
from sweep.records import Cause, ParamValue
from sweep.training.faults import is_device_fault, is_out_of_memory
from sweep.training.function import EpochResult
from sweep.training.memory import peak_memory_bytes
from sweep.wire import Assignment, EpochReport, Failed, Refusal

_OWN_COLUMNS = ("lr", "epoch_s", "images_per_s", "peak_memory_bytes")


def report_of(
    assignment: Assignment, epoch: int, result: EpochResult, seconds: float, device: str
) -> EpochReport:
    """What a train function said of an epoch; what it did not say is measured here."""
    numbers = dict(result.metrics)
    own = {name: _finite(numbers.pop(name, None)) for name in _OWN_COLUMNS}
    metrics = {name: _finite(value) for name, value in numbers.items()}
    peak = own["peak_memory_bytes"]
    return EpochReport(
        trial=assignment.trial,
        attempt=assignment.attempt,
        epoch=epoch,
        metrics=metrics,
        finite=all(value is not None for value in metrics.values()),
        lr=own["lr"] if own["lr"] is not None else _number(assignment.params.get("lr")),
        epoch_s=seconds if own["epoch_s"] is None else own["epoch_s"],
        images_per_s=own["images_per_s"],
        peak_memory_bytes=peak_memory_bytes(device) if peak is None else int(peak),
        checkpoint=None,
    )


def failure_of(assignment: Assignment, error: BaseException) -> Failed:
    """What is to be said of an attempt that raised; it holds on to nothing of the error."""
    return Failed(
        trial=assignment.trial,
        attempt=assignment.attempt,
        message=describe(error),
        traceback=_sendable("".join(traceback.format_exception(error)))[-20_000:],
        cause=Cause.OUT_OF_MEMORY if is_out_of_memory(error) else Cause.EXCEPTION,
        is_broken_contract=isinstance(error, BrokenContractError),
        is_device_fault=is_device_fault(error),
        refusal=_refusal_of(error),
    )


def _refusal_of(error: BaseException) -> Refusal | None:
    if isinstance(error, FullDiskError):
        return Refusal.FULL_DISK
    return Refusal.DISK if isinstance(error, DiskError) else None


def known_not_to_fit(assignment: Assignment) -> Failed:
    """What is to be said of an attempt that is not begun, for want of memory."""
    return Failed(
        trial=assignment.trial,
        attempt=assignment.attempt,
        message=f"{assignment.too_large} images at once did not fit on such a device before",
        traceback="",
        cause=Cause.OUT_OF_MEMORY,
    )


def describe(error: BaseException) -> str:
    """An exception in one line: its type and the first line of what it says."""
    lines = _sendable(str(error)).strip().splitlines()
    said = lines[0][:500] if lines else ""
    if isinstance(error, BrokenContractError | DiskError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _sendable(text: str) -> str:
    """The text without halves of characters, which JSON can write and nobody can read."""
    return text.encode(errors="replace").decode()


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _number(value: ParamValue | list[int] | None) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None
