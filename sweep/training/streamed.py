"""Streamed data: images that do not fit into memory, decoded anew whenever they are wanted.

Worker processes of torch's DataLoader decode whole batches to bytes. All that follows is done as
with resident data, by the same code and the same draws: which of the two it is changes nothing
but the time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils import data

from sweep.errors import DataError
from sweep.training.pictures import NUM_CHANNELS, PictureFiles, Pictures, decode
from sweep.training.resident import (
    CALIBRATION_IMAGES,
    all_crops,
    draw_epoch,
    sample_order,
    split_on,
    statistics_of,
    varied,
)
from sweep.training.splits import WHOLE, Augmentation, Dataset, Normalization, Share

Pixels: TypeAlias = npt.NDArray[np.uint8]

MAX_WORKERS = 8


def stream_to(pictures: Pictures, device: torch.device, num_measured: int) -> Dataset:
    """The data set for `device`, its files read now only as far as needed to measure them.

    Mean and spread are those of `num_measured` training images. Raises DataError when one of them
    cannot be read.
    """
    train = pictures.train
    order = sample_order(len(train.labels))
    sample = train.take(order[:num_measured]).decoded()
    mean, std = statistics_of(sample)
    calibration = sample.take(np.arange(len(sample.labels))[:CALIBRATION_IMAGES])
    held_out = pictures.validation
    return Dataset(
        train=_split_for(train, device),
        validation=None if held_out is None else _split_for(held_out, device),
        test=_split_for(pictures.test, device),
        calibration=split_on(calibration, device),
        num_classes=pictures.num_classes,
        in_channels=NUM_CHANNELS,
        image_side=train.side,
        mean=mean.to(device),
        std=std.to(device),
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StreamedSplit:
    """Images in files, and their labels N on the device."""

    files: PictureFiles
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def image_pixels(self) -> int:
        """How many pixels an image has."""
        return self.files.side**2

    def chunks(self, normalization: Normalization, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All images in order, in chunks of nearly equal size, at most `size` each."""
        num_chunks = -(-len(self) // size)
        rows = torch.arange(len(self)).tensor_split(num_chunks)
        labels = self.labels.tensor_split(num_chunks)
        loaded = self.pixels([each.tolist() for each in rows])
        for pixels, each in zip(loaded, labels, strict=True):
            yield normalization.apply(pixels), each

    def part(self, share: Share) -> "StreamedSplit":
        """Some of the images, in their order."""
        rows = share.rows_of(len(self))
        files = self.files.take(np.arange(len(self))[rows])
        return StreamedSplit(files=files, labels=self.labels[rows])

    def batches(
        self,
        batch_size: int,
        augmentation: Augmentation,
        normalization: Normalization,
        share: Share = WHOLE,
    ) -> "StreamedBatches":
        """Batches to train on; of each of them the share."""
        return StreamedBatches(self, batch_size, augmentation, normalization, share)

    def pixels(self, batches: Sequence[list[int]]) -> Iterator[Tensor]:
        """The images in these rows, batch by batch: N,C,H,W as uint8 on the device.

        Raises DataError, naming the file, when one cannot be read.
        """
        device = self.labels.device
        loader = data.DataLoader(
            _Batches(self.files, batches),
            batch_size=None,
            collate_fn=_as_it_is,
            num_workers=min(torch.get_num_threads(), MAX_WORKERS),
            # one of its own, so that the draws of the layers are the same as without a loader
            generator=torch.Generator(),
            multiprocessing_context="fork",
        )
        for found in loader:
            if isinstance(found, str):
                raise DataError(found)
            yield torch.from_numpy(found).to(device).permute(0, 3, 1, 2).contiguous()


class StreamedBatches:
    """Endless training batches of one constant size, as `Batches` draws them."""

    def __init__(
        self,
        split: StreamedSplit,
        batch_size: int,
        augmentation: Augmentation,
        normalization: Normalization,
        share: Share = WHOLE,
    ) -> None:
        self._split = split
        self._batch_size = batch_size
        self._share = share
        self._augmentation = augmentation
        self._normalization = normalization

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return len(self._split) // self._batch_size

    def epoch(self, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """One epoch's batches: images B,C,H,W as floats and labels B. `generator` decides all."""
        num_used = len(self) * self._batch_size
        whole = draw_epoch(len(self._split), self._augmentation.crop, generator)[:, :num_used]
        part_size = self._share.size_of(self._batch_size)
        draw = self._share.of_batches(whole, self._batch_size)
        starts = range(0, draw.shape[1], part_size)
        draws = [draw[:, start : start + part_size] for start in starts]
        loaded = self._split.pixels([each[0].tolist() for each in draws])
        rows = torch.arange(part_size, device=whole.device)
        for pixels, each in zip(loaded, draws, strict=True):
            crops = all_crops(pixels, self._augmentation.crop)
            images = varied(crops, rows, each, self._augmentation)
            yield self._normalization.apply(images), self._split.labels[each[0]]


class _Batches(data.Dataset[Pixels | str]):
    """Decodes a batch in a worker process: to bytes, or to the reason why it cannot."""

    def __init__(self, files: PictureFiles, batches: Sequence[list[int]]) -> None:
        self._files = files
        self._batches = batches

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, number: int) -> Pixels | str:
        paths = [self._files.paths[row] for row in self._batches[number]]
        try:
            return decode(paths, self._files.side, num_threads=1)
        except DataError as error:
            return str(error)


def _as_it_is(found: Any) -> Any:
    """A batch goes through a pipe. torch would put it into shared memory, of which a container has
    64 MiB."""
    return found


def _split_for(files: PictureFiles, device: torch.device) -> StreamedSplit:
    return StreamedSplit(files=files, labels=torch.from_numpy(files.labels).to(device))
