"""Faults of training that have a cause of their own."""

import torch

SAYINGS = ("out of memory", "DefaultCPUAllocator: can't allocate memory", "ALLOC_FAILED")
"""What the libraries under torch say in a bare RuntimeError when there is no memory left."""


DEVICE_SAYINGS = ("CUDA error", "CUDA driver error", "uncorrectable ECC error", "NCCL error")
_CODE_SAYINGS = ("device-side assert", "invalid argument", "invalid device function")
"""What CUDA says of a program that is wrong, whatever GPU it runs on."""


def is_device_fault(error: BaseException) -> bool:
    """Whether an exception says that a GPU broke down, rather than the program, or was full."""
    if is_out_of_memory(error):
        return False
    said = str(error)
    is_known = isinstance(error, RuntimeError) and any(says in said for says in DEVICE_SAYINGS)
    return is_known and not any(says in said for says in _CODE_SAYINGS)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on a GPU or on the CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(says in str(error) for says in SAYINGS)
