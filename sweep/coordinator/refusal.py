"""Refusals: a worker that cannot work at all, as the error that ends the command."""

from sweep.errors import (
    DataError,
    DeviceError,
    DiskError,
    FullDiskError,
    SweepError,
    TrainFunctionError,
)
from sweep.wire import Failed, Refusal

_ERRORS: dict[Refusal, type[SweepError]] = {
    Refusal.USAGE: TrainFunctionError,
    Refusal.DEVICE: DeviceError,
    Refusal.DATA: DataError,
    Refusal.DISK: DiskError,
    Refusal.FULL_DISK: FullDiskError,
}


def refused(failed: Failed) -> SweepError:
    """The error that a worker's refusal stands for."""
    assert failed.refusal is not None
    return _ERRORS[failed.refusal](failed.message)
