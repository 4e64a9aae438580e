"""CIFAR-10 and CIFAR-100: 60,000 colour photographs of 32 x 32 pixels each, as published.

Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009. An archive holds
pickled batches; nothing but arrays is let through.
"""

import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sweep.errors import DataError
from sweep.training.archive import Archive, fetched, mirrored
from sweep.training.images import Images, Split
from sweep.training.pickled import unpickled


@dataclass(frozen=True, kw_only=True, slots=True)
class Edition:
    """One of the two sets: its archive, and what lies where in it.

    `url_variable` names a mirror in the environment; what it gives must be the published archive,
    byte for byte.
    """

    archive: Archive
    url_variable: str
    folder: str
    train_files: tuple[str, ...]
    test_file: str
    label_key: str
    num_classes: int

    @property
    def published(self) -> Archive:
        """The archive, at the mirror that the environment names if it does."""
        return mirrored(self.archive, self.url_variable)

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.train_files, self.test_file)


CIFAR10 = Edition(
    archive=Archive(
        name="cifar-10-python.tar.gz",
        url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    ),
    url_variable="SWEEP_CIFAR10_URL",
    folder="cifar-10-batches-py",
    train_files=tuple(f"data_batch_{number}" for number in range(1, 6)),
    test_file="test_batch",
    label_key="labels",
    num_classes=10,
)
CIFAR100 = Edition(
    archive=Archive(
        name="cifar-100-python.tar.gz",
        url="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        sha256="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    ),
    url_variable="SWEEP_CIFAR100_URL",
    folder="cifar-100-python",
    train_files=("train",),
    test_file="test",
    label_key="fine_labels",
    num_classes=100,
)


def read_cifar(edition: Edition, root: Path, archive: Archive) -> Images:
    """The set from its unpacked folder in `root`, else from its archive there, fetched at need.

    Nothing is unpacked, so `root` may be read-only. Raises DataError when it cannot be had.
    """
    folder = root / edition.folder
    if all((folder / name).is_file() for name in edition.files):
        place, files = folder, {name: (folder / name).read_bytes() for name in edition.files}
    else:
        place = fetched(archive, root)
        files = _unpacked(place, edition)
    splits = {name: _split(edition, place, name, files[name]) for name in edition.files}
    return Images(
        train=_joined([splits[name] for name in edition.train_files]),
        test=splits[edition.test_file],
        num_classes=edition.num_classes,
    )


def _unpacked(path: Path, edition: Edition) -> dict[str, bytes]:
    files = {}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is not None and Path(member.name).name in edition.files:
                    files[Path(member.name).name] = file.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from error
    missing = [name for name in edition.files if name not in files]
    if missing:
        raise DataError(f"{path} holds no {', '.join(missing)}")
    return files


def _split(edition: Edition, place: Path, name: str, content: bytes) -> Split:
    """One pickled batch: rows of 1,024 red, 1,024 green and 1,024 blue pixels, and labels."""
    batch = unpickled(f"{place}: {name}", content)
    pixels, labels = batch.get("data"), batch.get(edition.label_key)
    if (
        not isinstance(pixels, np.ndarray)
        or pixels.dtype != np.uint8
        or pixels.shape[1:] != (3072,)
    ):
        raise DataError(f"{place}: {name} holds no images of 3 x 32 x 32 bytes")
    try:
        classes = np.array(labels, dtype=np.int64)
        if classes.shape != (len(pixels),) or not set(classes) <= set(range(edition.num_classes)):
            raise ValueError("labels out of range")
    except (ValueError, TypeError) as error:
        highest = edition.num_classes - 1
        message = f"{place}: {name} holds no label from 0 to {highest} for each image"
        raise DataError(message) from error
    return Split(images=pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels=classes)


def _joined(splits: list[Split]) -> Split:
    return Split(
        images=np.concatenate([split.images for split in splits]),
        labels=np.concatenate([split.labels for split in splits]),
    )
