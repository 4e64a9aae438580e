"""Files that a command writes: they appear whole, or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from sweep.errors import NotFoundError, UnusableError, UsageError


def write_new(path: Path, text: str) -> None:
    """A new file holds the text. Raises UsageError when there is a file of that name."""
    with _explained(path), path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def write_whole(path: Path, data: bytes) -> None:
    """The file holds the data, in place of what it held; nobody ever sees a part of it.

    Raises NotFoundError without its folder, UnusableError where it cannot be written.
    """
    check_place(path)
    if path.exists() and not path.is_file():
        with _explained(path):
            path.write_bytes(data)
        return
    place = path.resolve()
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with _explained(path):
            _write_through(beside, data)
            beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Returns when a file may be written there: its folder exists, and it is no folder."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent}; make it, or name another one")


def _write_through(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise UsageError(f"{path} exists already and stays as it is; give another name") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnusableError(f"{path} cannot be written ({reason}); name another file") from error
