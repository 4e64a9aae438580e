"""Npz: a user's own images in one NumPy archive; reads arrays only, never pickled objects."""

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from sweep.errors import DataError
from sweep.training.images import Images, Split

Arrays = dict[str, npt.NDArray[Any]]

MAX_LABEL = 2**31
NAMES = ("x_train", "y_train", "x_test", "y_test")


def read_npz(path: Path) -> Images:
    """The data set in an archive of x_train, y_train, x_test, y_test and, if it likes, classes.

    Images are uint8 N,H,W,C, or N,H,W for grey ones. Labels are whole numbers from 0; there are
    as many classes as `classes` names, else as the highest label asks for.
    Raises DataError for anything else.
    """
    arrays = _read(path)
    train = _split(path, arrays, "train")
    test = _split(path, arrays, "test")
    if train.images.shape[1:] != test.images.shape[1:]:
        raise DataError(
            f"{path}: training images are {_sides(train)}, test images {_sides(test)}; "
            "they must be alike"
        )
    return Images(train=train, test=test, num_classes=_num_classes(path, arrays, train, test))


def _read(path: Path) -> Arrays:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            names = [name for name in (*NAMES, "classes") if name in archive]
            arrays = {name: archive[name] for name in names}
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; `data.path` names the .npz archive") from error
    except (OSError, EOFError, ValueError, TypeError, AttributeError, BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path}: not an .npz archive of plain arrays: {reason}") from error
    missing = [name for name in NAMES if name not in arrays]
    if missing:
        raise DataError(f"{path}: {', '.join(missing)} missing; it must hold {', '.join(NAMES)}")
    return arrays


def _split(path: Path, arrays: Arrays, name: str) -> Split:
    images, labels = arrays[f"x_{name}"], arrays[f"y_{name}"]
    _check_images(path, f"x_{name}", images)
    _check_labels(path, f"y_{name}", labels, len(images))
    if images.ndim == 3:
        images = images[..., None]
    return Split(images=images, labels=labels.astype(np.int64))


def _check_images(path: Path, name: str, images: npt.NDArray[Any]) -> None:
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape:
        raise DataError(
            f"{path}: {name} is {images.dtype} of shape {images.shape}; "
            "images are uint8 of shape (N, H, W, C), or (N, H, W) for grey ones"
        )


def _check_labels(path: Path, name: str, labels: npt.NDArray[Any], num_images: int) -> None:
    if labels.shape != (num_images,) or not np.issubdtype(labels.dtype, np.integer):
        raise DataError(
            f"{path}: {name} is {labels.dtype} of shape {labels.shape}; "
            f"labels are {num_images} whole numbers, one for each image"
        )
    if labels.min() < 0 or labels.max() > MAX_LABEL:
        raise DataError(
            f"{path}: {name} holds labels from {labels.min()} to {labels.max()}; "
            "they count the classes from 0"
        )


def _num_classes(path: Path, arrays: Arrays, train: Split, test: Split) -> int:
    found = int(max(train.labels.max(), test.labels.max())) + 1
    named = arrays["classes"].size if "classes" in arrays else found
    if found > named:
        raise DataError(f"{path}: label {found - 1} found, but classes has {named} names")
    if named > len(train.labels):
        raise DataError(
            f"{path}: {named} classes for {len(train.labels)} training images; "
            "labels count from 0 without gaps"
        )
    return max(named, 2)


def _sides(split: Split) -> str:
    return " x ".join(str(side) for side in split.images.shape[1:])
