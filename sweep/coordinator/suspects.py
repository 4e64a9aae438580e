"""Suspects: devices on which trials crash that would do well elsewhere."""

from collections.abc import Iterable

from sweep.errors import DeviceError
from sweep.fleet.devices import Device

_MAX_VICTIMS = 3


class Suspects:
    """Counts, for each device, the trials that crashed there since it last finished an epoch.

    The CPU is under no suspicion: what crashes there is the program.
    """

    def __init__(self) -> None:
        self._victims: dict[str, set[int]] = {}
        self._has_worked = False

    def progressed(self, device: Device) -> None:
        """An epoch was finished on the device: it works."""
        self._has_worked = True
        self._victims.pop(device.label, None)

    def crashed(self, device: Device, trial: int) -> DeviceError | None:
        """A trial crashed there; the fault of the device where that, not the trial, is to blame.

        So it is when different trials crashed running, in a run in which an epoch was finished.
        """
        if device.uuid is None:
            return None
        victims = self._victims.setdefault(device.label, set())
        victims.add(trial)
        if not self._has_worked or len(victims) < _MAX_VICTIMS:
            return None
        return DeviceError(
            f"different trials crashed on {device.short_name} ({device.label}), one after the "
            "other: look at it with nvidia-smi -q, then run the same command again"
        )

    def shunned(self, device: Device, working: Iterable[Device]) -> frozenset[int]:
        """The trials that crashed on the device, and did not on another of the working ones."""
        others = [self._of(each) for each in working if each != device]
        return frozenset(
            trial for trial in self._of(device) if any(trial not in other for other in others)
        )

    def _of(self, device: Device) -> set[int]:
        return self._victims.get(device.label, set())
