"""Devices, their memory, and what running out of it looks like."""

import platform
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

from sweep.errors import DeviceError
from sweep.training.device import check_device, versions
from sweep.training.faults import is_device_fault, is_out_of_memory
from sweep.training.memory import free_memory, limit_memory, release_cache

MIB = 2**20


def test_the_cpu_answers_with_a_name() -> None:
    assert check_device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_a_device_that_is_not_there_is_refused_in_one_line() -> None:
    with pytest.raises(DeviceError) as caught:
        check_device("cuda:0")
    assert "cannot use cuda:0" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_device_that_torch_never_heard_of_is_refused() -> None:
    with pytest.raises(DeviceError, match="cannot use abacus"):
        check_device("abacus")


def test_versions_name_what_a_result_was_made_with() -> None:
    found = versions()
    assert found["torch"] == torch.__version__
    assert found["python"] == platform.python_version()


@pytest.mark.skipif(platform.system() != "Linux", reason="the kernel keeps no peak elsewhere")
def test_the_peak_is_that_since_it_was_reset() -> None:
    # In a process of its own: one that has freed much before takes the block from that.
    code = (
        "import torch\n"
        "from sweep.training.memory import peak_memory_bytes, reset_peak\n"
        f"block = torch.ones({200 * MIB}, dtype=torch.uint8)\n"
        "high = peak_memory_bytes('cpu')\n"
        "del block\n"
        "reset_peak('cpu')\n"
        "low = peak_memory_bytes('cpu')\n"
        f"block = torch.ones({100 * MIB}, dtype=torch.uint8)\n"
        "print(high, low, peak_memory_bytes('cpu'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    high, low, middle = map(int, done.stdout.split())
    assert high - low > 150 * MIB
    assert 80 * MIB < middle - low < 150 * MIB


@pytest.mark.skipif(platform.system() != "Linux", reason="the kernel tells nothing elsewhere")
def test_what_a_stretch_of_work_takes_is_measured_though_it_is_given_back() -> None:
    code = (
        "import torch\n"
        "from sweep.training.memory import memory_in_use_bytes, working_memory_bytes\n"
        "before = memory_in_use_bytes('cpu')\n"
        f"work = lambda: torch.ones({200 * MIB}, dtype=torch.uint8)\n"
        "taken = working_memory_bytes('cpu', work)\n"
        "print(taken, memory_in_use_bytes('cpu') - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    taken, kept = map(int, done.stdout.split())
    assert 190 * MIB < taken < 230 * MIB
    assert kept < 20 * MIB


def test_only_a_gpus_memory_can_be_limited() -> None:
    with pytest.raises(DeviceError, match="the memory of cpu cannot be limited, only that of a"):
        limit_memory("cpu", 2**30)


@pytest.mark.parametrize("free", [free_memory, release_cache])
def test_a_gpu_in_error_does_not_keep_a_worker_from_telling_why(
    free: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "empty_cache", fail)
    free("cuda:0")


def test_a_limit_beyond_what_a_gpu_has_is_refused_in_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**34))
    with pytest.raises(DeviceError, match=r"limit of 32\.0 GiB is more than .* has: 16\.0 GiB"):
        limit_memory("cuda:0", 2**35)


def test_memory_that_ran_out_is_told_from_other_faults() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60)
    assert is_out_of_memory(caught.value)
    assert is_out_of_memory(torch.OutOfMemoryError())
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"))
    assert not is_out_of_memory(RuntimeError("sizes do not match"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("CUDA error: unspecified launch failure"), True),
        (RuntimeError("CUDA error: uncorrectable ECC error encountered"), True),
        (RuntimeError("CUDA error: device-side assert triggered"), False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"), False),
        (RuntimeError("CUDA error: out of memory"), False),
        (torch.OutOfMemoryError("CUDA error: out of memory"), False),
        (RuntimeError("shapes differ"), False),
        (ValueError("CUDA error: as somebody wrote"), False),
    ],
)
def test_a_fault_of_the_gpu_is_told_from_one_of_the_program(
    error: Exception, expected: bool
) -> None:
    assert is_device_fault(error) is expected
