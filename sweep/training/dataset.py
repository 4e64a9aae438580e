"""Dataset: from a recipe's words to data on the device, read once in the life of a process."""

import logging
from functools import lru_cache
from pathlib import Path

import torch

from sweep.spec.recipe import AugmentSpec, DataSpec
from sweep.training.archive import data_root
from sweep.training.cifar import CIFAR10, CIFAR100, read_cifar
from sweep.training.digits import read_digits
from sweep.training.fashion_mnist import archives, read_fashion_mnist
from sweep.training.images import Images, hold_out
from sweep.training.npz import read_npz
from sweep.training.resident import move_to
from sweep.training.splits import Dataset

NUM_MEASURED = 4096
"""Of so many pictures of a folder the mean and spread are taken, whether all lie in memory or
not: the two ways then come to the same."""

_log = logging.getLogger(__name__)


def load_dataset(spec: DataSpec, device: torch.device) -> Dataset:
    """The data set for the device; the same object for as long as the process asks for no other.

    How images are varied does not matter here. Raises DataError when it cannot be read.
    """
    return _load(spec.model_copy(update={"augment": AugmentSpec()}), device)


def read_images(spec: DataSpec) -> Images:
    """A data set that comes as arrays, in the host's memory, its validation images held out."""
    return hold_out(_read(spec), spec.val_size)


@lru_cache(maxsize=1)
def _load(spec: DataSpec, device: torch.device) -> Dataset:
    if spec.name == "folder":
        return _load_folder(spec, device)
    return move_to(read_images(spec), device)


def _load_folder(spec: DataSpec, device: torch.device) -> Dataset:
    # Imported here: Pillow and torch's DataLoader take time, and no other data set needs them.
    from sweep.training.pictures import list_pictures
    from sweep.training.residence import LIMIT_VARIABLE, may_reside
    from sweep.training.streamed import stream_to

    pictures = list_pictures(spec)
    border, _ = spec.augmentation(pictures.train.side)
    num_bytes = pictures.memory_bytes(border)
    if may_reside(num_bytes, device):
        return move_to(pictures.decoded(), device, NUM_MEASURED)
    _log.warning(
        "the images take %.0f MiB, which is too much to keep (%s sets the limit): "
        "they are decoded anew in every epoch",
        num_bytes / 2**20,
        LIMIT_VARIABLE,
    )
    return stream_to(pictures, device, NUM_MEASURED)


def _read(spec: DataSpec) -> Images:
    match spec.name:
        case "npz":
            assert spec.path is not None
            return read_npz(Path(spec.path))
        case "cifar10":
            return read_cifar(CIFAR10, data_root(spec.root), CIFAR10.published)
        case "cifar100":
            return read_cifar(CIFAR100, data_root(spec.root), CIFAR100.published)
        case "fashion_mnist":
            return read_fashion_mnist(data_root(spec.root), archives())
        case _:
            return read_digits()
