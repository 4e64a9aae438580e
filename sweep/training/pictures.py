"""Pictures: image files on a disk, decoded to squares of one size."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from sweep.errors import DataError
from sweep.spec.folder import Listing, list_folder
from sweep.spec.kind import Unfit
from sweep.spec.recipe import DataSpec
from sweep.training.images import Images, Indices, Split, held_out

NUM_CHANNELS = 3
MAX_NAMED = 3
"""So many files that cannot be read are named; the others are counted."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PictureFiles:
    """Files and their labels, whole numbers from 0, and how many pixels high and wide they are to
    be."""

    paths: tuple[str, ...]
    labels: npt.NDArray[np.int64]
    side: int

    def take(self, indices: Indices) -> "PictureFiles":
        paths = tuple(self.paths[index] for index in indices)
        return PictureFiles(paths=paths, labels=self.labels[indices], side=self.side)

    def decoded(self) -> Split:
        """All of them in memory. Raises DataError, naming the files that are no images."""
        images = decode(self.paths, self.side, torch.get_num_threads())
        return Split(images=images, labels=self.labels)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pictures:
    """The splits of a folder of images. `validation` is None where nothing is held out."""

    train: PictureFiles
    validation: PictureFiles | None
    test: PictureFiles
    num_classes: int

    def memory_bytes(self, border: int) -> int:
        """What they take decoded, with a second copy to train on in a border of so many pixels."""
        side = self.train.side
        padded = side + 2 * border
        num_held = 0 if self.validation is None else len(self.validation.labels)
        num_plain = len(self.train.labels) + num_held + len(self.test.labels)
        return NUM_CHANNELS * (num_plain * side**2 + len(self.train.labels) * padded**2)

    def decoded(self) -> Images:
        """All of them in memory. Raises DataError, naming the files that are no images."""
        return Images(
            train=self.train.decoded(),
            validation=None if self.validation is None else self.validation.decoded(),
            test=self.test.decoded(),
            num_classes=self.num_classes,
        )


def list_pictures(spec: DataSpec) -> Pictures:
    """What is in the folder of a study file, none of it read yet.

    Raises DataError when the folder cannot be trained on.
    """
    assert spec.path is not None
    assert spec.image_size is not None
    try:
        listing = list_folder(Path(spec.path), spec.test_split)
    except Unfit as error:
        raise DataError(f"data.path {error}") from error
    return _split_up(listing, spec.image_size, spec.val_size)


def decode(paths: Sequence[str], side: int, num_threads: int) -> npt.NDArray[np.uint8]:
    """The images N,side,side,3 of these files.

    Raises DataError, naming the files that are no images.
    """
    images = np.empty((len(paths), side, side, NUM_CHANNELS), np.uint8)
    with ThreadPoolExecutor(num_threads) as threads:
        faults = [fault for fault in threads.map(_decode_into, images, paths) if fault]
    if faults:
        what = "it" if len(faults) == 1 else "them"
        raise DataError(f"{'; '.join(_shown(faults))}: replace or remove {what}")
    return images


def _split_up(listing: Listing, side: int, val_size: int) -> Pictures:
    train, test = (_files(each, side) for each in (listing.train, listing.test))
    validation = None
    if val_size:
        kept, held = held_out(len(train.labels), val_size)
        train, validation = train.take(kept), train.take(held)
    return Pictures(
        train=train, validation=validation, test=test, num_classes=len(listing.classes)
    )


def _files(found: tuple[tuple[str, int], ...], side: int) -> PictureFiles:
    return PictureFiles(
        paths=tuple(path for path, _ in found),
        labels=np.array([label for _, label in found], dtype=np.int64),
        side=side,
    )


def _decode_into(pixels: npt.NDArray[np.uint8], path: str) -> str:
    """The file's image, its shorter side scaled to fit, and the middle of its longer one.

    That is torchvision's Resize and CenterCrop. Returns why the file is no image, or nothing.
    """
    side = len(pixels)
    try:
        with Image.open(path) as file:
            picture = file.convert("RGB")
        width, height = picture.size
        shorter = min(width, height)
        scaled = (side * width // shorter, side * height // shorter)
        picture = picture.resize(scaled, Image.Resampling.BILINEAR)
        left, top = (round((each - side) / 2) for each in scaled)
        pixels[:] = np.asarray(picture.crop((left, top, left + side, top + side)))
    except Exception as error:  # a damaged image may raise anything
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return f"{path} cannot be read as an image ({reason})"
    return ""


def _shown(faults: list[str]) -> Iterator[str]:
    yield from faults[:MAX_NAMED]
    if len(faults) > MAX_NAMED:
        yield f"so it is with {len(faults) - MAX_NAMED} more"
