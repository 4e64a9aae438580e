"""Algorithms: which of torch's ways to one result are taken, for as long as a block lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from sweep.training.environment import environment_unless_set

CUBLAS_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
"""CUDA's matrix products repeat themselves only with workspaces of a fixed size."""
CUBLAS_WORKSPACES = ":4096:8"


@contextmanager
def fastest_algorithms() -> Iterator[None]:
    """Within, each new shape of convolution is tried in several ways on a GPU, and the fastest is
    kept. Shapes do not change here, so that pays; it may not repeat itself to the last digit.
    """
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


@contextmanager
def deterministic_algorithms() -> Iterator[None]:
    """Within, torch uses only algorithms that repeat themselves to the last digit."""
    benchmark = torch.backends.cudnn.benchmark
    is_strict = torch.are_deterministic_algorithms_enabled()
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    with environment_unless_set({CUBLAS_VARIABLE: CUBLAS_WORKSPACES}):
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(is_strict, warn_only=only_warns)
            torch.backends.cudnn.benchmark = benchmark
