"""Refusals: a worker that cannot work at all, as the error that ends the command, or as a notice
where the others go on."""

from sweep.coordinator.events import Notice
from sweep.errors import (
    DataError,
    DeviceError,
    DiskError,
    FullDiskError,
    SweepError,
    TrainFunctionError,
)
from sweep.fleet.slots import Slot
from sweep.wire import Failed, Refusal

_ERRORS: dict[Refusal, type[SweepError]] = {
    Refusal.USAGE: TrainFunctionError,
    Refusal.DEVICE: DeviceError,
    Refusal.DATA: DataError,
    Refusal.DISK: DiskError,
    Refusal.FULL_DISK: FullDiskError,
}


def refused(failed: Failed, slot: Slot) -> SweepError:
    """The error that the refusal of a slot's worker stands for.

    The GPU goes by its name here: each worker sees one only, and calls it as all the others do.
    """
    assert failed.refusal is not None
    device = slot.device
    message = failed.message
    if device.uuid is not None:
        name = f"{device.short_name} ({device.label})"
        message = message.replace(slot.torch_device, name)
    return _ERRORS[failed.refusal](message)


def left_out(slot: Slot, fault: SweepError) -> Notice:
    """What is said of a slot without which the run goes on."""
    return Notice(text=f"going on without {slot.device.short_name}: {fault}")
