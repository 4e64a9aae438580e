"""Images: one data set in the host's memory, split into training, validation and test."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sweep.errors import DataError

Indices: TypeAlias = npt.NDArray[np.int64]

VALIDATION_SEED = 0
"""Which images are held out is the same for every trial, whatever its own seed."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Split:
    """Images N,H,W,C as uint8 and their labels N, whole numbers from 0."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]

    def take(self, indices: Indices) -> "Split":
        return Split(images=self.images[indices], labels=self.labels[indices])


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Images:
    """The splits of one data set. `validation` is None where nothing is held out."""

    train: Split
    validation: Split | None = None
    test: Split
    num_classes: int


def hold_out(images: Images, val_size: int) -> Images:
    """The same data set with `val_size` of its training images, drawn by a fixed seed, held out.

    Raises DataError when nothing would be left to train on.
    """
    if val_size == 0:
        return images
    kept, held = held_out(len(images.train.labels), val_size)
    return Images(
        train=images.train.take(kept),
        validation=images.train.take(held),
        test=images.test,
        num_classes=images.num_classes,
    )


def held_out(num_train: int, val_size: int) -> tuple[Indices, Indices]:
    """Which images are trained on and which are held out, in rising order.

    Raises DataError when nothing would be left to train on.
    """
    if val_size >= num_train:
        raise DataError(
            f"val_size is {val_size}, but there are only {num_train} training images; "
            "hold out fewer"
        )
    order = np.random.default_rng(VALIDATION_SEED).permutation(num_train)
    return np.sort(order[val_size:]), np.sort(order[:val_size])
