"""Faults of training that have a cause of their own."""

import torch


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on a GPU or on the CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # torch's CPU allocator raises a bare RuntimeError
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)
