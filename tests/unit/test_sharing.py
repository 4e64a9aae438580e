"""Several trials on a GPU: how many fit, what each may use, and how many are let in when."""

from collections.abc import Sequence

import pytest

from sweep.coordinator.packing import Packing
from sweep.errors import DeviceError
from sweep.fleet.devices import Device
from sweep.fleet.gauges import Gauges
from sweep.fleet.sharing import (
    CONTEXT_BYTES,
    MOST_ON_A_GPU,
    Footprint,
    fair_limit_bytes,
    footprint_of,
    most_on_a_gpu,
    num_that_fit,
)
from sweep.fleet.slots import Slot, cpu_slots, gpu_slots, num_cores
from tests import fake_driver
from tests.fake_driver import MEMORY_BYTES, FakeDriver

GIB = 2**30
UUIDS = ("GPU-aaaa1111", "GPU-bbbb2222")
GPUS = tuple(
    Device(uuid=uuid, name="H200", index=index, memory_bytes=MEMORY_BYTES)
    for index, uuid in enumerate(UUIDS)
)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    found = fake_driver.install(monkeypatch, FakeDriver(uuids=UUIDS))
    monkeypatch.setattr("sweep.fleet.gauges.pynvml", __import__("pynvml"))
    return found


def open_slots(packing: Packing) -> list[int]:
    return [slot.index for slot in packing.slots if packing.is_open(slot)]


def test_the_driver_tells_what_is_free(driver: FakeDriver) -> None:
    driver.used_bytes = {UUIDS[0]: 3 * GIB}
    with Gauges() as gauges:
        assert gauges.free_bytes(UUIDS[0]) == MEMORY_BYTES - 3 * GIB
        assert gauges.free_bytes("GPU-gone") is None
    assert gauges.free_bytes(UUIDS[0]) is None, "closed"


@pytest.mark.parametrize(
    ("peak", "free_now", "overhead"),
    [
        (4 * GIB, 93 * GIB, 3 * GIB),  # 7 GiB are gone, of which 4 are tensors
        (4 * GIB, 96 * GIB, CONTEXT_BYTES),  # less than the tensors: somebody else has left
        (4 * GIB, None, CONTEXT_BYTES),
    ],
)
def test_a_trial_takes_its_tensors_and_what_its_process_adds(
    peak: int, free_now: int | None, overhead: int
) -> None:
    found = footprint_of(peak, free_before=100 * GIB, free_now=free_now)
    assert found == Footprint(peak_bytes=peak, overhead_bytes=overhead)
    assert found.total_bytes == peak + overhead


@pytest.mark.parametrize(
    ("total", "free", "most", "number"),
    [
        (9 * GIB, 100 * GIB, 64, 10),  # nine tenths of what is free
        (9 * GIB, 99 * GIB, 64, 9),
        (9 * GIB, 100 * GIB, 8, 8),
        (91 * GIB, 100 * GIB, 8, 1),  # the first trial runs in any case
        (200 * GIB, 100 * GIB, 8, 1),
        (1 * GIB, None, 8, 1),
    ],
)
def test_as_many_trials_fit_as_have_room(
    total: int, free: int | None, most: int, number: int
) -> None:
    footprint = Footprint(peak_bytes=total - CONTEXT_BYTES, overhead_bytes=CONTEXT_BYTES)
    assert num_that_fit(footprint, free_bytes=free, most=most) == number


def test_the_limits_of_several_processes_and_their_contexts_fit_on_their_gpu() -> None:
    limit = fair_limit_bytes(GPUS[0], 4)
    assert limit is not None
    assert 4 * (limit + CONTEXT_BYTES) == MEMORY_BYTES
    assert fair_limit_bytes(Device(uuid="GPU-x", name="?"), 4) is None
    small = Device(uuid="GPU-x", name="small", index=3, memory_bytes=2 * GIB)
    with pytest.raises(DeviceError, match="gpu 3 has 2048 MiB, too little for 4 trials"):
        fair_limit_bytes(small, 4)


def test_trials_that_share_a_gpu_have_a_core_each() -> None:
    assert most_on_a_gpu(1) == min(MOST_ON_A_GPU, num_cores())
    assert most_on_a_gpu(10 * num_cores()) == 1


def test_the_first_slots_are_on_different_gpus_and_share_the_cores() -> None:
    slots = gpu_slots(GPUS, trials_per_gpu=3)
    assert [slot.device.index for slot in slots] == [0, 1, 0, 1, 0, 1]
    assert [slot.index for slot in slots] == list(range(6))
    assert {slot.num_threads for slot in slots} == {max(1, num_cores() // 6)}


def test_a_slot_of_several_gpus_leaves_out_what_makes_no_whole_one() -> None:
    three = (*GPUS, Device(uuid="GPU-cccc3333", name="H200", index=2))
    (slot,) = gpu_slots(three, gpus_per_trial=2)
    assert slot.devices == GPUS
    assert slot.label == "GPU-aaaa1111,GPU-bbbb2222"
    assert slot.short_name == "gpu 0+1"
    first, second = cpu_slots(4, gpus_per_trial=2)
    assert [len(each.devices) for each in (first, second)] == [2, 2]
    assert (first.label, second.short_name) == ("cpu", "cpu 1")
    assert first.num_threads == max(1, num_cores() // 4)


def packing_of(driver: FakeDriver, slots: Sequence[Slot], *, is_auto: bool = True) -> Packing:
    gauges = Gauges()
    gauges.__enter__()
    return Packing(slots=slots, is_auto=is_auto, free_bytes=gauges.free_bytes)


def test_all_slots_are_open_where_their_number_was_given(driver: FakeDriver) -> None:
    slots = gpu_slots(GPUS, trials_per_gpu=2)
    packing = packing_of(driver, slots, is_auto=False)
    packing.note(slots[0], 100 * GIB)
    assert open_slots(packing) == [0, 1, 2, 3]
    assert packing.num_open(slots[0]) == 2


def test_a_first_trial_runs_alone_and_then_lets_in_as_many_as_fit(driver: FakeDriver) -> None:
    slots = gpu_slots(GPUS, trials_per_gpu=8)
    packing = packing_of(driver, slots)
    assert open_slots(packing) == [0, 1], "one on each GPU"
    driver.used_bytes = {UUIDS[0]: 30 * GIB}  # 20 of tensors, 10 of the process
    packing.note(slots[0], 20 * GIB)
    assert packing.num_open(slots[0]) == int(0.9 * MEMORY_BYTES) // (30 * GIB) == 3
    assert open_slots(packing) == [0, 1, 2, 4]


def test_a_trial_that_needs_more_makes_them_fewer_and_one_that_needs_less_does_not(
    driver: FakeDriver,
) -> None:
    slots = gpu_slots(GPUS[:1], trials_per_gpu=8)
    packing = packing_of(driver, slots)
    driver.used_bytes = {UUIDS[0]: 11 * GIB}
    packing.note(slots[0], 10 * GIB)
    assert packing.num_open(slots[0]) == 8
    driver.used_bytes = {UUIDS[0]: 90 * GIB}  # of many trials: no measure of one
    packing.note(slots[1], 56 * GIB)
    assert packing.num_open(slots[0]) == int(0.9 * MEMORY_BYTES) // (57 * GIB) == 2
    packing.note(slots[0], 1 * GIB)
    assert packing.num_open(slots[0]) == 2


def test_without_a_driver_that_answers_a_gpu_is_not_shared(driver: FakeDriver) -> None:
    slots = gpu_slots(GPUS[:1], trials_per_gpu=4)
    packing = Packing(slots=slots, is_auto=True, free_bytes=lambda uuid: None)
    packing.note(slots[0], GIB)
    assert open_slots(packing) == [0]


def test_on_the_cpu_nothing_is_packed(driver: FakeDriver) -> None:
    slots = cpu_slots(3)
    packing = packing_of(driver, slots)
    packing.note(slots[0], GIB)
    assert open_slots(packing) == [0, 1, 2]
