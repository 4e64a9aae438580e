"""Dataset: from a recipe's words to resident data, read once in the life of a process."""

from functools import lru_cache
from pathlib import Path

import torch

from sweep.spec.recipe import AugmentSpec, DataSpec
from sweep.training.cifar10 import data_root, published, read_cifar10
from sweep.training.digits import read_digits
from sweep.training.images import Images, hold_out
from sweep.training.npz import read_npz
from sweep.training.resident import Resident, move_to


def load_dataset(spec: DataSpec, device: torch.device) -> Resident:
    """The data set on the device; the same object for as long as the process asks for no other.

    How images are varied does not matter here. Raises DataError when it cannot be read.
    """
    return _load(spec.model_copy(update={"augment": AugmentSpec()}), device)


def read_images(spec: DataSpec) -> Images:
    """The data set in the host's memory, with its validation images held out."""
    return hold_out(_read(spec), spec.val_size)


@lru_cache(maxsize=1)
def _load(spec: DataSpec, device: torch.device) -> Resident:
    return move_to(read_images(spec), device)


def _read(spec: DataSpec) -> Images:
    match spec.name:
        case "digits":
            return read_digits()
        case "npz":
            assert spec.path is not None
            return read_npz(Path(spec.path))
        case "cifar10":
            return read_cifar10(data_root(spec.root), published())
