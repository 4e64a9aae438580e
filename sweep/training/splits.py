"""Splits: what training and evaluation ask of a data set, wherever its images lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Augmentation:
    """Random shifts by up to `crop` pixels over a black border, and mirroring left to right."""

    crop: int
    flip: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Normalization:
    """Bytes to floats: subtract `mean`, multiply by `scale`; both of shape C,1,1.

    `layout` is how the floats lie in memory.
    """

    mean: Tensor
    scale: Tensor
    layout: torch.memory_format

    def apply(self, pixels: Tensor) -> Tensor:
        floats = pixels.to(torch.float32, memory_format=self.layout)
        return floats.sub_(self.mean).mul_(self.scale)


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """One of `count` parts, nearly equal in size, of whatever is divided among processes."""

    index: int = 0
    count: int = 1

    def size_of(self, total: int) -> int:
        """How many of `total` things the part has; the first parts have one more than the last."""
        return total // self.count + (self.index < total % self.count)

    def rows_of(self, total: int) -> slice:
        """Which of `total` things are in the part."""
        before = self.index * (total // self.count) + min(self.index, total % self.count)
        return slice(before, before + self.size_of(total))

    def of_batches(self, draw: Tensor, batch_size: int) -> Tensor:
        """Of the columns of a draw, which are whole batches, the part of every batch."""
        if self.count == 1:
            return draw
        batches = draw.view(len(draw), -1, batch_size)
        return batches[:, :, self.rows_of(batch_size)].reshape(len(draw), -1)


WHOLE = Share()


class TrainingBatches(Protocol):
    """Endless batches of one constant size; a new order and new crops each epoch.

    What is left over at the end of an epoch's order is dropped, so that shapes never change.
    """

    def __len__(self) -> int:
        """The number of batches in an epoch."""

    def epoch(self, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """One epoch's batches: images B,C,H,W as floats and labels B. `generator` decides all.

        Of each batch only the share that was asked for; the shares make up the whole batches.
        """


class ImageSplit(Protocol):
    """Images that are trained on or judged by."""

    def __len__(self) -> int: ...

    @property
    def labels(self) -> Tensor:
        """The labels N, on the device."""

    @property
    def image_pixels(self) -> int:
        """How many pixels an image has."""

    def chunks(self, normalization: Normalization, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All images in order, in chunks of nearly equal size, at most `size` each."""

    def part(self, share: Share) -> "ImageSplit":
        """Some of the images, in their order."""

    def batches(
        self,
        batch_size: int,
        augmentation: Augmentation,
        normalization: Normalization,
        share: Share = WHOLE,
    ) -> TrainingBatches:
        """Batches to train on; of each of them the share."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Dataset:
    """A data set ready for one device.

    `calibration` holds at most 1,024 training images, the same for every trial. `mean` and `std`
    are those of the training images, of shape C,1,1, for pixels from 0 to 1.
    """

    train: ImageSplit
    validation: ImageSplit | None
    test: ImageSplit
    calibration: ImageSplit
    num_classes: int
    in_channels: int
    image_side: int
    mean: Tensor
    std: Tensor
