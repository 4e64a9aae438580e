"""Whole file: one that is on the disk as it was meant to be, or as it was before."""

import os
from pathlib import Path


def write_whole(path: Path, data: memoryview | bytes) -> None:
    """The file holds the data, also after the machine has crashed; its folder is made.

    Raises OSError, and leaves nothing half-written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with open(beside, "wb", opener=_without_following) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _without_following(path: str, flags: int) -> int:
    """The file descriptor; a symbolic link that somebody has put there is an error."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
