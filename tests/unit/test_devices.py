"""Devices: what `--gpus` means on a machine whose GPUs are made up."""

import pytest

from sweep.cli.places import limited
from sweep.errors import DeviceError, UsageError
from sweep.fleet.choice import select_gpus
from sweep.fleet.devices import Device, visible_gpus
from sweep.fleet.driver import occupants
from sweep.fleet.slots import cpu_slots, gpu_slots, num_cores
from tests.fake_driver import (
    FakeDriver,
    NVMLError,
    NVMLError_DriverNotLoaded,
    NVMLError_LibraryNotFound,
    install,
)

UUIDS = ("GPU-aaaa1111", "GPU-bbbb2222", "GPU-cccc3333")
GPUS = tuple(
    Device(uuid=uuid, name="H200", index=index, memory_bytes=2**37)
    for index, uuid in enumerate(UUIDS)
)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """A driver with three GPUs."""
    return install(monkeypatch, FakeDriver(UUIDS, parts=("MIG-dddd4444",)))


def test_gpus_are_numbered_as_nvidia_smi_numbers_them(driver: FakeDriver) -> None:
    assert visible_gpus({}) == GPUS


@pytest.mark.parametrize(
    ("inherited", "expected"),
    [
        ("2,0", [(0, UUIDS[2]), (1, UUIDS[0])]),
        ("GPU-bbbb", [(0, UUIDS[1])]),
        ("", []),
        ("-1", []),
        ("1,9,0", [(0, UUIDS[1])]),
    ],
)
def test_an_inherited_cuda_visible_devices_is_counted_inside(
    driver: FakeDriver, inherited: str, expected: list[tuple[int, str]]
) -> None:
    gpus = visible_gpus({"CUDA_VISIBLE_DEVICES": inherited})
    assert [(gpu.index, gpu.uuid) for gpu in gpus] == expected


@pytest.mark.parametrize(
    "fault", [NVMLError_LibraryNotFound("no library"), NVMLError_DriverNotLoaded("not loaded")]
)
def test_a_machine_without_a_driver_shows_no_gpu(driver: FakeDriver, fault: Exception) -> None:
    driver.fault = fault
    assert visible_gpus({}) == ()
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "0"}) == ()


def test_a_driver_that_is_out_of_order_is_no_reason_to_run_on_the_cpu(driver: FakeDriver) -> None:
    driver.fault = NVMLError("Driver/library version mismatch")
    with pytest.raises(DeviceError, match=r"does not answer: Driver/library version mismatch; "):
        visible_gpus({})


@pytest.mark.parametrize("inherited", ["7", "GPU-none", "MIG-none", "x"])
def test_an_inherited_choice_that_names_nothing_is_no_reason_either(
    driver: FakeDriver, inherited: str
) -> None:
    with pytest.raises(DeviceError, match=rf"^CUDA_VISIBLE_DEVICES={inherited} names no GPU"):
        visible_gpus({"CUDA_VISIBLE_DEVICES": inherited})


def test_a_part_of_a_gpu_can_be_inherited(driver: FakeDriver) -> None:
    (part,) = visible_gpus({"CUDA_VISIBLE_DEVICES": "MIG-dddd4444"})
    assert (part.index, part.uuid) == (0, "MIG-dddd4444")
    for name in ("MIG-dddd4444", "MIG-dd", "0"):
        assert select_gpus(name, (part,)) == (part,)


def test_a_number_in_cuda_visible_devices_is_no_guess_between_unlike_gpus(
    driver: FakeDriver,
) -> None:
    driver.names = {UUIDS[0]: "RTX 3090"}
    with pytest.raises(DeviceError) as refusal:
        visible_gpus({"CUDA_VISIBLE_DEVICES": "GPU-cc,0"})
    assert str(refusal.value).startswith("CUDA_VISIBLE_DEVICES=GPU-cc,0 counts from the fastest")
    assert "0 (RTX 3090, GPU-aaaa1111), 1 (H200" in str(refusal.value)
    assert "set CUDA_DEVICE_ORDER=PCI_BUS_ID" in str(refusal.value)
    ordered = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    for names, expected in (
        ({"CUDA_VISIBLE_DEVICES": "0"} | ordered, UUIDS[0]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-bb"}, UUIDS[1]),
    ):
        assert [gpu.uuid for gpu in visible_gpus(names)] == [expected]
    assert len(visible_gpus({})) == 3


def test_a_gpu_that_uses_the_machines_memory_is_a_gpu_like_any(driver: FakeDriver) -> None:
    driver.unified = UUIDS[:1]
    assert [gpu.memory_bytes for gpu in visible_gpus({})] == [None, 2**37, 2**37]
    driver.processes = {UUIDS[0]: [(1, None)]}
    assert [each.pid for each in occupants(UUIDS[0], frozenset())] == [1]
    assert occupants(UUIDS[1], frozenset()) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [0]),
        ("2,0", [2, 0]),
        (" 1 , 2 ", [1, 2]),
        ("all", [0, 1, 2]),
        ("GPU-cccc3333,0", [2, 0]),
        ("GPU-bb", [1]),
    ],
)
def test_gpus_are_chosen_by_number_by_uuid_or_all(text: str, expected: list[int]) -> None:
    assert [gpu.index for gpu in select_gpus(text, GPUS)] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "--gpus '': an empty name is no device; write numbers as in --gpus 0,1, "),
        ("a", "--gpus 'a': 'a' is no device; write numbers as in --gpus 0,1, "),
        ("-1", "--gpus '-1': '-1' is no device; write numbers as in --gpus 0,1, "),
        ("0,,1", "--gpus '0,,1': an empty name is no device; write numbers as in --gpus 0,1, "),
        ("0;1", "--gpus '0;1': '0;1' is no device; write numbers as in --gpus 0,1, "),
        ("٣", "--gpus '٣': '٣' is no device; write numbers as in --gpus 0,1, "),
        ("GPU-", "--gpus 'GPU-': 'GPU-' is no device; write numbers as in --gpus 0,1, "),
        ("0,0", "--gpus 0,0: a device is named twice; name each device once"),
        ("0,GPU-aaaa1111", "--gpus 0,GPU-aaaa1111: a device is named twice"),
        ("0,00", "--gpus 0,00: a device is named twice; name each device once"),
    ],
)
def test_a_malformed_choice_is_bad_usage(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        select_gpus(text, GPUS)
    assert str(refusal.value).startswith(message)
    assert refusal.value.exit_code == 2


def test_a_uuid_that_fits_several_devices_is_bad_usage() -> None:
    twins = (Device(uuid="GPU-aa1", name="H200", index=0), Device(uuid="GPU-aa2", name="H200"))
    with pytest.raises(UsageError, match="GPU-aa fits 2 devices"):
        select_gpus("GPU-aa", twins)


@pytest.mark.parametrize("text", ["3", "0,7", "GPU-dddd"])
def test_a_device_that_is_not_there_is_named_with_those_that_are(text: str) -> None:
    with pytest.raises(DeviceError) as refusal:
        select_gpus(text, GPUS)
    assert "there are: 0 (H200, GPU-aaaa1111), 1 (H200" in str(refusal.value)
    assert "--cpu 2" in str(refusal.value)
    assert refusal.value.exit_code == 4


@pytest.mark.parametrize("text", ["0", "all"])
def test_without_any_gpu_the_way_to_the_cpu_is_shown(text: str) -> None:
    with pytest.raises(DeviceError, match=r"shows no GPU; .*--cpu 2"):
        select_gpus(text, ())


def test_a_worker_sees_its_gpu_alone_and_the_cores_are_shared_out() -> None:
    slots = gpu_slots(GPUS)
    assert [slot.device.uuid for slot in slots] == list(UUIDS)
    assert {slot.torch_device for slot in slots} == {"cuda:0"}
    assert [slot.num_threads for slot in cpu_slots(1)] == [num_cores()]
    assert {slot.num_threads for slot in cpu_slots(10 * num_cores())} == {1}


def test_a_limit_of_memory_is_for_gpus_and_for_each_slot() -> None:
    slots = limited(gpu_slots(GPUS[:2]), 2**31)
    assert [slot.memory_limit_bytes for slot in slots] == [2**31] * 2
    assert limited(cpu_slots(2), None) == cpu_slots(2)
    with pytest.raises(UsageError, match="--memory-limit is for GPUs, and this runs on the CPU"):
        limited(cpu_slots(2), 2**31)
