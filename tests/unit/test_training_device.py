"""Devices, their memory, and what running out of it looks like."""

import platform

import pytest
import torch

from sweep.errors import DeviceError
from sweep.training.device import check_device, versions
from sweep.training.faults import is_out_of_memory
from sweep.training.memory import (
    limit_memory,
    memory_in_use_bytes,
    peak_memory_bytes,
    reset_peak,
    working_memory_bytes,
)

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
    block = torch.ones(200 * MIB, dtype=torch.uint8)
    high = peak_memory_bytes("cpu")
    del block
    reset_peak("cpu")
    low = peak_memory_bytes("cpu")
    block = torch.ones(100 * MIB, dtype=torch.uint8)
    middle = peak_memory_bytes("cpu")
    assert high is not None
    assert low is not None
    assert middle is not None
    assert high - low > 150 * MIB
    assert 80 * MIB < middle - low < 150 * MIB
    del block


@pytest.mark.skipif(platform.system() != "Linux", reason="the kernel tells nothing elsewhere")
def test_what_a_stretch_of_work_takes_is_measured_though_it_is_given_back() -> None:
    before = memory_in_use_bytes("cpu")
    taken = working_memory_bytes("cpu", lambda: torch.ones(200 * MIB, dtype=torch.uint8))
    after = memory_in_use_bytes("cpu")
    assert 190 * MIB < taken < 230 * MIB
    assert before is not None
    assert after is not None
    assert after - before < 20 * MIB


def test_only_a_gpus_memory_can_be_limited() -> None:
    with pytest.raises(DeviceError, match="the memory of cpu cannot be limited, only that of a"):
        limit_memory("cpu", 2**30)


def test_memory_that_ran_out_is_told_from_other_faults() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60)
    assert is_out_of_memory(caught.value)
    assert is_out_of_memory(torch.OutOfMemoryError())
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"))
    assert not is_out_of_memory(RuntimeError("sizes do not match"))
