"""Randomness: every draw of a training follows from its seed; the caller's stays untouched."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

CUBLAS_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"
"""CUDA's matrix products repeat themselves only with a workspace of a fixed size."""


def generator_for(seed: int, purpose: str, epoch: int, device: torch.device) -> torch.Generator:
    """A generator on `device` that depends on nothing but the trial's seed, purpose and epoch.

    So a training that is resumed draws what it would have drawn, with nothing to store.
    """
    return torch.Generator(device).manual_seed(derived_seed(seed, purpose, epoch))


def derived_seed(seed: int, purpose: str, epoch: int = 0) -> int:
    """A seed below 2**63 that looks unrelated for every other seed, purpose or epoch."""
    digest = hashlib.sha256(f"{seed}/{purpose}/{epoch}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Within, torch's global generators start from `seed`; after, they are as they were."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.default_generator.manual_seed(seed)
        if device.type == "cuda":
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield


@contextmanager
def deterministic_algorithms() -> Iterator[None]:
    """Within, torch uses only algorithms that repeat themselves to the last digit."""
    before = torch.are_deterministic_algorithms_enabled()
    warns_only = torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    workspace = os.environ.get(CUBLAS_VARIABLE)
    os.environ.setdefault(CUBLAS_VARIABLE, ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = benchmark
        torch.use_deterministic_algorithms(before, warn_only=warns_only)
        if workspace is None:
            os.environ.pop(CUBLAS_VARIABLE, None)
