"""Digits: scikit-learn's 1,797 handwritten digits of 8 x 8 grey pixels, read without importing it.

Importing sklearn.datasets takes over a second; the file that it reads takes 10 ms.
"""

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sweep.errors import DataError
from sweep.training.images import Images, Split

NUM_CLASSES = 10
NUM_TRAIN = 1437
SPLIT_SEED = 0
MAX_PIXEL = 16


def read_digits() -> Images:
    """The digits, shuffled by a fixed seed: 1,437 to train on, 360 to test on.

    Raises DataError when scikit-learn is not installed or does not bring the file.
    """
    table = np.loadtxt(_lines(), delimiter=",", dtype=np.int64)
    table = table[np.random.default_rng(SPLIT_SEED).permutation(len(table))]
    return Images(
        train=_split(table[:NUM_TRAIN]), test=_split(table[NUM_TRAIN:]), num_classes=NUM_CLASSES
    )


def _lines() -> list[str]:
    spec = find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise DataError("digits need scikit-learn; install it with: pip install scikit-learn")
    path = Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz"
    try:
        return gzip.decompress(path.read_bytes()).decode("ascii").splitlines()
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"digits cannot be read from {path}: {error}") from error


def _split(table: npt.NDArray[np.int64]) -> Split:
    """Rows of 64 pixels from 0 to 16 and a label, as images from 0 to 255."""
    pixels = np.rint(table[:, :-1] * (255 / MAX_PIXEL)).astype(np.uint8)
    return Split(images=pixels.reshape(-1, 8, 8, 1), labels=table[:, -1])
