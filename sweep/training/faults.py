"""Faults of training that have a cause of their own."""

import torch

SAYINGS = ("out of memory", "DefaultCPUAllocator: can't allocate memory", "ALLOC_FAILED")
"""What the libraries under torch say in a bare RuntimeError when there is no memory left."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on a GPU or on the CPU."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(says in str(error) for says in SAYINGS)
