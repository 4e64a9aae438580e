"""Npz headers: the shapes of a user's images, read without loading them."""

import ast
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.spec.kind import Unfit

_NAMES = ("x_train", "y_train", "x_test", "y_test")
_MAX_HEADER_BYTES = 10_000
_DAMAGE = (
    EOFError,
    LookupError,
    MemoryError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """The element type, as NumPy writes it (|u1, <i8), and the shape of one array."""

    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype} of shape {self.shape}"


def num_train_images(path: Path) -> int:
    """How many training images an archive holds.

    Raises Unfit for anything but x_train, y_train, x_test, y_test: images are uint8 N,H,W,C (or
    N,H,W for grey ones), labels are N whole numbers.
    """
    try:
        headers = _headers(path)
    except FileNotFoundError as error:
        raise Unfit(f"names {path}, which is not there; correct it or make the file") from error
    except OSError as error:
        reason = (error.strerror or "unknown").lower()
        raise Unfit(f"names {path}, which cannot be read ({reason}); correct it") from error
    except _DAMAGE as error:
        raise Unfit(
            f"names {path}, which is no .npz archive of plain arrays; save it anew"
        ) from error
    missing = [name for name in _NAMES if name not in headers]
    if missing:
        raise Unfit(f"names {path}, which lacks {', '.join(missing)}; it takes {_all_names()}")
    _check(path, headers)
    return headers["x_train"].shape[0]


def _headers(path: Path) -> dict[str, _Header]:
    with zipfile.ZipFile(path) as archive:
        members = {member.removesuffix(".npy"): member for member in archive.namelist()}
        return {name: _header(archive, members[name]) for name in _NAMES if name in members}


def _header(archive: zipfile.ZipFile, member: str) -> _Header:
    """The header of one .npy, as numpy.lib.format describes it."""
    with archive.open(member) as file:
        if file.read(6) != b"\x93NUMPY":
            raise ValueError(member)
        num_length_bytes = 2 if file.read(2)[0] == 1 else 4
        length = int.from_bytes(file.read(num_length_bytes), "little")
        if length > _MAX_HEADER_BYTES:
            raise ValueError(member)
        fields: Any = ast.literal_eval(file.read(length).decode("latin-1").strip())
    shape = tuple(int(side) for side in fields["shape"])
    return _Header(dtype=str(fields["descr"]), shape=shape)


def _check(path: Path, headers: dict[str, _Header]) -> None:
    for split in ("train", "test"):
        _check_split(path, split, headers[f"x_{split}"], headers[f"y_{split}"])
    train, test = headers["x_train"].shape[1:], headers["x_test"].shape[1:]
    if train != test:
        sizes = f"training images are {train} and test images {test}"
        raise Unfit(f"names {path}, whose {sizes}; make them alike")


def _check_split(path: Path, split: str, images: _Header, labels: _Header) -> None:
    if images.dtype != "|u1" or len(images.shape) not in (3, 4) or 0 in images.shape:
        allowed = "uint8 of shape N,H,W,C, or N,H,W for grey ones"
        raise Unfit(f"names {path}, whose x_{split} is {images}; it takes {allowed}")
    if len(images.shape) == 4 and images.shape[1] in (1, 3) and images.shape[3] > 4:
        raise Unfit(f"names {path}, whose x_{split} is {images}, N,C,H,W; it takes N,H,W,C")
    if labels.dtype[1:2] not in ("i", "u") or labels.shape != images.shape[:1]:
        allowed = f"{images.shape[0]} whole numbers, one for each image"
        raise Unfit(f"names {path}, whose y_{split} is {labels}; it takes {allowed}")


def _all_names() -> str:
    return ", ".join(_NAMES)
