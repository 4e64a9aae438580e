"""Reservations of GPUs that are made up; the locks and the processes that hold them are real."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sweep.errors import DeviceError, UsageError
from sweep.fleet import reservation
from sweep.fleet.choice import select_gpus
from sweep.fleet.devices import Device, visible_gpus
from sweep.fleet.reservation import free_gpus, reserved
from sweep.fleet.slots import cpu_slots
from tests.fake_driver import FakeDriver, install

UUIDS = ("GPU-aaaa1111", "GPU-bbbb2222", "GPU-cccc3333")
HOLD = """
import sys
from pathlib import Path
from sweep.fleet import reservation
from sweep.fleet.devices import Device
reservation.LOCK_FOLDER = Path(sys.argv[1])
reservation.occupants = lambda uuid, but: ()
with reservation.reserved([Device(uuid=sys.argv[2], name="H200", index=0)], shares=False):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(reservation, "_SETTLE_S", 0.5)
    return tmp_path


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return install(monkeypatch, FakeDriver(UUIDS))


@pytest.fixture
def gpus(driver: FakeDriver) -> tuple[Device, ...]:
    return visible_gpus({})


@contextmanager
def held_by_another(locks: Path, uuid: str) -> Iterator[subprocess.Popen[str]]:
    """Another process has reserved the GPU."""
    command = [sys.executable, "-c", HOLD, str(locks), uuid]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_gpu_that_another_run_has_is_refused_with_its_pid(
    locks: Path, gpus: tuple[Device, ...]
) -> None:
    with held_by_another(locks, UUIDS[1]) as other:
        expected = rf"^gpu 1 is taken by another run \(pid {other.pid}\): wait .*--share-busy$"
        with pytest.raises(DeviceError, match=expected), reserved(gpus, shares=False):
            raise AssertionError
        with reserved(gpus, shares=True):
            pass
        assert free_gpus(gpus) == (gpus[0], gpus[2])
    with reserved(gpus, shares=False):
        assert free_gpus(gpus) == ()
    assert free_gpus(gpus) == gpus


def test_a_holder_that_is_killed_holds_nothing(locks: Path, gpus: tuple[Device, ...]) -> None:
    with held_by_another(locks, UUIDS[0]) as other:
        other.kill()
        other.wait()
        with reserved(gpus, shares=False):
            pass


def test_slots_of_one_gpu_need_it_once(gpus: tuple[Device, ...]) -> None:
    with reserved([gpus[0], gpus[0]], shares=False):
        pass


def test_the_cpu_is_nobodys(driver: FakeDriver, locks: Path) -> None:
    with reserved([slot.device for slot in cpu_slots(2)], shares=False):
        assert list(locks.iterdir()) == []


def test_a_lock_file_that_a_cleaner_removed_locks_nothing_out(
    locks: Path, gpus: tuple[Device, ...]
) -> None:
    with reserved(gpus[:1], shares=False):
        (locks / f"sweep-{UUIDS[0]}.lock").unlink()
        with reserved(gpus[:1], shares=False):
            pass


def test_a_link_in_place_of_the_lock_file_is_not_followed(
    locks: Path, gpus: tuple[Device, ...]
) -> None:
    target = locks / "precious"
    target.write_text("keep me")
    (locks / f"sweep-{UUIDS[0]}.lock").symlink_to(target)
    with (
        pytest.raises(DeviceError, match=r"cannot be opened: .*; remove it"),
        reserved(gpus, shares=False),
    ):
        raise AssertionError
    assert target.read_text() == "keep me"


def test_other_users_can_lock_the_same_file(locks: Path, gpus: tuple[Device, ...]) -> None:
    before = os.umask(0o077)
    try:
        with reserved(gpus[:1], shares=False):
            pass
    finally:
        os.umask(before)
    assert (locks / f"sweep-{UUIDS[0]}.lock").stat().st_mode & 0o777 == 0o666


def test_a_gpu_on_which_somebody_computes_is_refused_with_pid_and_memory(
    driver: FakeDriver, gpus: tuple[Device, ...]
) -> None:
    parent = os.getppid()
    driver.processes = {UUIDS[0]: [(os.getpid(), 5)], UUIDS[2]: [(parent, 3 * 2**29)]}
    expected = rf"^gpu 2 is used by pid {parent} \([^)]+\), 1\.5 GiB: end that, choose others"
    with pytest.raises(DeviceError, match=expected), reserved(gpus, shares=False):
        raise AssertionError
    with reserved(gpus, shares=True):
        pass
    assert free_gpus(gpus) == gpus[:2]


def test_memory_that_nobody_seems_to_use_is_somebodys_outside_of_a_container(
    driver: FakeDriver, gpus: tuple[Device, ...]
) -> None:
    driver.used_bytes = {UUIDS[0]: 2**30, UUIDS[1]: 2**34}
    expected = r"^gpu 1 is used by a process that cannot be seen from here, 16\.0 GiB: "
    with pytest.raises(DeviceError, match=expected), reserved(gpus, shares=False):
        raise AssertionError


def test_a_process_that_is_just_ending_is_waited_for(
    driver: FakeDriver, gpus: tuple[Device, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.processes = {UUIDS[0]: [(os.getppid(), None)]}
    monkeypatch.setattr(reservation.time, "sleep", lambda _: driver.processes.clear())
    with reserved(gpus, shares=False):
        pass


def test_free_gpus_are_chosen_by_their_number(
    driver: FakeDriver, gpus: tuple[Device, ...]
) -> None:
    driver.processes = {UUIDS[0]: [(os.getppid(), None)]}
    assert select_gpus("free:1", gpus) == (gpus[1],)
    assert select_gpus("free:2", gpus) == (gpus[1], gpus[2])
    expected = r"^--gpus free:3: of 3 GPUs 2 are free \(gpu 1, gpu 2\); ask for fewer"
    with pytest.raises(DeviceError, match=expected):
        select_gpus("free:3", gpus)
    with pytest.raises(DeviceError, match=r"^--gpus free:1: this machine shows no GPU"):
        select_gpus("free:1", ())


@pytest.mark.parametrize("text", ["free:", "free:0", "free:-1", "free:x", "free", "free:1,2"])
def test_a_malformed_number_of_free_gpus_is_bad_usage(text: str, gpus: tuple[Device, ...]) -> None:
    with pytest.raises(UsageError, match="is no device; write numbers"):
        select_gpus(text, gpus)
