"""CIFAR-10: 60,000 colour photographs of 32 x 32 pixels, from the archive as it is published.

Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009. The archive holds
pickles, which could run code when they are read; so only arrays are let through here.
"""

import os
import pickle
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from sweep.errors import DataError
from sweep.training.archive import Archive, fetched
from sweep.training.images import Images, Split

CIFAR10 = Archive(
    name="cifar-10-python.tar.gz",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
)
URL_VARIABLE = "SWEEP_CIFAR10_URL"
"""Names a mirror; what it gives must be the published archive, byte for byte."""
ROOT_VARIABLE = "SWEEP_DATA"
DEFAULT_ROOT = "data"

NUM_CLASSES = 10
FOLDER = "cifar-10-batches-py"
TRAIN_FILES = tuple(f"data_batch_{number}" for number in range(1, 6))
TEST_FILE = "test_batch"


def published() -> Archive:
    """The archive, from the mirror that the environment names if it does."""
    return replace(CIFAR10, url=os.environ.get(URL_VARIABLE) or CIFAR10.url)


def data_root(root: str | None) -> Path:
    """The folder of data sets: the study's, else the environment's, else ./data."""
    return Path(root or os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT)


def read_cifar10(root: Path, archive: Archive) -> Images:
    """CIFAR-10 from its unpacked folder in `root`, else from its archive there, fetched at need.

    Nothing is unpacked, so `root` may be read-only. Raises DataError when it cannot be had.
    """
    names = (*TRAIN_FILES, TEST_FILE)
    folder = root / FOLDER
    if all((folder / name).is_file() for name in names):
        place, files = folder, {name: (folder / name).read_bytes() for name in names}
    else:
        place = fetched(archive, root)
        files = _unpacked(place, names)
    splits = {name: _split(place, name, files[name]) for name in names}
    return Images(
        train=_joined([splits[name] for name in TRAIN_FILES]),
        test=splits[TEST_FILE],
        num_classes=NUM_CLASSES,
    )


def _unpacked(path: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    files = {}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is not None and Path(member.name).name in names:
                    files[Path(member.name).name] = file.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from error
    missing = [name for name in names if name not in files]
    if missing:
        raise DataError(f"{path} holds no {', '.join(missing)}")
    return files


def _split(place: Path, name: str, content: bytes) -> Split:
    """One pickled batch: rows of 1,024 red, 1,024 green and 1,024 blue pixels, and labels."""
    batch = _unpickled(place, name, content)
    pixels, labels = batch.get("data"), batch.get("labels")
    if (
        not isinstance(pixels, np.ndarray)
        or pixels.dtype != np.uint8
        or pixels.shape[1:] != (3072,)
    ):
        raise DataError(f"{place}: {name} holds no images of 3 x 32 x 32 bytes")
    try:
        classes = np.array(labels, dtype=np.int64)
        if classes.shape != (len(pixels),) or not set(classes) <= set(range(NUM_CLASSES)):
            raise ValueError("labels out of range")
    except (ValueError, TypeError) as error:
        raise DataError(f"{place}: {name} holds no label from 0 to 9 for each image") from error
    return Split(images=pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels=classes)


def _unpickled(place: Path, name: str, content: bytes) -> Mapping[str, Any]:
    try:
        # latin1 is how Python 3 reads the arrays that Python 2 wrote
        batch = _ArraysOnly(BytesIO(content), encoding="latin1").load()
    except Exception as error:  # a damaged pickle may raise anything
        raise DataError(f"{place}: {name} cannot be read: {error}") from error
    if not isinstance(batch, Mapping):
        raise DataError(f"{place}: {name} is no batch of CIFAR-10")
    return batch


def _joined(splits: list[Split]) -> Split:
    return Split(
        images=np.concatenate([split.images for split in splits]),
        labels=np.concatenate([split.labels for split in splits]),
    )


_RECONSTRUCT: Any = np.empty(0).__reduce__()[0]
_ENCODE: Any = str.encode
_ALLOWED: Mapping[tuple[str, str], Callable[..., Any]] = {
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _ENCODE,
}
"""All that a pickled array of numbers names; nothing here can open, run or import anything."""


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which is no array of numbers")
        return _ALLOWED[module, name]
