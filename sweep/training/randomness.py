"""Randomness: every draw of a training follows from its seed; the caller's stays untouched."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


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
