"""The local fleet as a guest in a program that has its own ways."""

import os
import signal

from sweep.fleet.local import LocalFleet
from sweep.fleet.slots import cpu_slots


def test_signals_wake_up_again_whom_they_woke_before() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    before = signal.set_wakeup_fd(write)
    try:
        with LocalFleet(cpu_slots(1), "{}"):
            pass
        assert signal.set_wakeup_fd(before) == write
    finally:
        signal.set_wakeup_fd(before)
        os.close(read)
        os.close(write)
