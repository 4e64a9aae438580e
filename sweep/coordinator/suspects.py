"""Suspects: devices on which trials crash that would do well elsewhere."""

from collections.abc import Iterable

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

    def crashed(self, device: Device, trial: int) -> bool:
        """A trial crashed there; whether the device, rather than the trials, is to blame.

        So it is when different trials crashed running, in a run in which an epoch was finished.
        """
        if device.uuid is None:
            return False
        victims = self._victims.setdefault(device.label, set())
        victims.add(trial)
        return self._has_worked and len(victims) >= _MAX_VICTIMS

    def shunned(self, device: Device, working: Iterable[Device]) -> frozenset[int]:
        """The trials that crashed on the device, and did not on another of the working ones."""
        others = [self._of(each) for each in working if each != device]
        return frozenset(
            trial for trial in self._of(device) if any(trial not in other for other in others)
        )

    def _of(self, device: Device) -> set[int]:
        return self._victims.get(device.label, set())
