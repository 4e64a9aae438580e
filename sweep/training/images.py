"""Images: one data set in the host's memory, split into training, validation and test."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sweep.errors import DataError

VALIDATION_SEED = 0
"""Which images are held out is the same for every trial, whatever its own seed."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Split:
    """Images N,H,W,C as uint8 and their labels N, whole numbers from 0."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]

    def take(self, indices: npt.NDArray[np.int64]) -> "Split":
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
    num_train = len(images.train.labels)
    if val_size >= num_train:
        raise DataError(
            f"val_size is {val_size}, but there are only {num_train} training images; "
            "hold out fewer"
        )
    order = np.random.default_rng(VALIDATION_SEED).permutation(num_train)
    return Images(
        train=images.train.take(np.sort(order[val_size:])),
        validation=images.train.take(np.sort(order[:val_size])),
        test=images.test,
        num_classes=images.num_classes,
    )
