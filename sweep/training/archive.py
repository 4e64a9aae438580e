"""Archive: one published file, fetched once for all workers and proved by its checksum."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from sweep import clock
from sweep.errors import DataError
from sweep.sizes import show_size

ROOT_VARIABLE = "SWEEP_DATA"
DEFAULT_ROOT = "data"
TIMEOUT_S = 30
"""How long a server may be silent before it is given up."""

_CHUNK_BYTES = 2**18
_TOLD_EVERY_S = 0.2

Watch = Callable[[str, int, int | None], None]
"""Is told the name of a file, how many bytes of it are there, and of how many; None if unknown."""

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """A file as it was published: its name, where it lies, and the SHA-256 of its bytes in hex."""

    name: str
    url: str
    sha256: str


def data_root(root: str | None) -> Path:
    """The folder of data sets: the study's, else the environment's, else ./data."""
    return Path(root or os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Inside, `watch` is told of every download how it goes on, a few times a second."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def mirrored(archive: Archive, variable: str) -> Archive:
    """The archive at the address that a variable of the environment names, if it does."""
    return replace(archive, url=os.environ.get(variable) or archive.url)


def fetched(archive: Archive, folder: Path) -> Path:
    """The whole, undamaged archive in `folder`; read in place where it lies there already.

    Otherwise it is fetched, once however many processes ask at the same time, and a damaged one
    is replaced. Raises DataError saying where to put the file when that fails.
    """
    path = folder / archive.name
    if _is_whole(path, archive):
        return path
    with _locked(path, archive):
        # another worker may have fetched it while this one waited
        if not _is_whole(path, archive):
            _fetch(path, archive)
    return path


def _is_whole(path: Path, archive: Archive) -> bool:
    if not path.exists():
        return False
    try:
        with path.open("rb") as file:
            return file_digest(file, sha256).hexdigest() == archive.sha256
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def _locked(path: Path, archive: Archive) -> Iterator[None]:
    """Only one process at a time is within. Raises DataError in a folder that takes no files."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f".{path.name}.lock").open("wb")
    except OSError as error:
        state = "is damaged" if path.exists() else "is not there"
        raise DataError(
            f"{path} {state} and its folder cannot be written ({error.strerror}); "
            f"put {archive.url} there, or name another folder with data.root"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(path: Path, archive: Archive) -> None:
    beside = path.with_name(f".{path.name}.partial")
    try:
        _download(archive, beside)
        if not _is_whole(beside, archive):
            raise DataError(
                f"{archive.url} is not the published {archive.name}: its SHA-256 differs; "
                f"put the right file at {path}"
            )
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _download(archive: Archive, path: Path) -> None:
    try:
        with urlopen(archive.url, timeout=TIMEOUT_S) as answer, path.open("wb") as file:
            length = answer.headers["Content-Length"] or ""
            _copy(archive.name, answer, file, int(length) if length.isdecimal() else None)
            file.flush()
            os.fsync(file.fileno())
    except (HTTPError, URLError, HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error) or type(error).__name__
        raise DataError(
            f"{archive.url} cannot be fetched ({reason}); "
            f"fetch it elsewhere and put it at {path.with_name(archive.name)}"
        ) from error


def _copy(name: str, source: BinaryIO, target: BinaryIO, total: int | None) -> None:
    watch = _watch.get()
    done, told_s = 0, 0.0
    while chunk := source.read(_CHUNK_BYTES):
        if watch is not None and clock.monotonic_s() - told_s >= _TOLD_EVERY_S:
            told_s = clock.monotonic_s()
            watch(name, done, total)
        target.write(chunk)
        done += len(chunk)
    if total is not None and done < total:
        raise OSError(f"it broke off after {show_size(done)} of {show_size(total)}")
    if watch is not None:
        watch(name, done, total)
