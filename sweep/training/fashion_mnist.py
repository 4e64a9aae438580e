"""Fashion-MNIST: 70,000 grey photographs of clothes, 28 x 28 pixels, as published.

Xiao, Rasul and Vollgraf, "Fashion-MNIST: a Novel Image Dataset", 2017. Four gzipped files in the
IDX format of MNIST, which lie where torchvision keeps them.
"""

import gzip
import os
import zlib
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sweep.errors import DataError
from sweep.training.archive import Archive, fetched
from sweep.training.images import Images, Split

URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
URL_VARIABLE = "SWEEP_FASHION_MNIST_URL"
"""Names a folder of a mirror; what it gives must be the published files, byte for byte."""
FOLDER = Path("FashionMNIST", "raw")
NUM_CLASSES = 10
SHA256 = {
    "train-images-idx3-ubyte.gz": (
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
    ),
    "train-labels-idx1-ubyte.gz": (
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
    ),
}


def archives() -> tuple[Archive, ...]:
    """The four files, at the mirror that the environment names if it does."""
    url = (os.environ.get(URL_VARIABLE) or URL).rstrip("/")
    return tuple(
        Archive(name=name, url=f"{url}/{name}", sha256=sha256) for name, sha256 in SHA256.items()
    )


def read_fashion_mnist(root: Path, archives: tuple[Archive, ...]) -> Images:
    """The set from `root`/FashionMNIST/raw, unpacked or not, each file fetched there at need.

    Raises DataError when it cannot be had.
    """
    arrays = [_array(root / FOLDER, archive) for archive in archives]
    train, test = _split(root, *arrays[:2]), _split(root, *arrays[2:])
    return Images(train=train, test=test, num_classes=NUM_CLASSES)


def _array(folder: Path, archive: Archive) -> npt.NDArray[np.uint8]:
    unpacked = folder / archive.name.removesuffix(".gz")
    if unpacked.is_file():
        return _parsed(unpacked, unpacked.read_bytes())
    path = fetched(archive, folder)
    try:
        return _parsed(path, gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be unpacked: {error}") from error


def _parsed(path: Path, content: bytes) -> npt.NDArray[np.uint8]:
    """An IDX file of bytes: two zeros, 8, the number of sides, each side, and the numbers."""
    num_sides = content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0
    start = 4 + 4 * num_sides
    sides = tuple(np.frombuffer(content[4:start], ">u4").tolist()) if num_sides else ()
    if len(sides) != num_sides or num_sides == 0 or prod(sides) != len(content) - start:
        raise DataError(f"{path} is no IDX file of bytes")
    return np.frombuffer(content, np.uint8, offset=start).reshape(sides)


def _split(root: Path, pixels: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8]) -> Split:
    if pixels.ndim != 3 or labels.shape != pixels.shape[:1] or labels.max() >= NUM_CLASSES:
        raise DataError(f"{root / FOLDER} holds no image and label from 0 to 9 for each other")
    return Split(images=pixels[..., None], labels=labels.astype(np.int64))
