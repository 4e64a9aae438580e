"""Reservations: a GPU belongs to one run at a time, over all studies and users of this machine.

A reservation is a lock on a file that is named after the GPU. The kernel gives it back when its
holder ends, however that ends.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from sweep.clock import monotonic_s
from sweep.errors import DeviceError
from sweep.fleet.devices import Device
from sweep.fleet.driver import occupants

LOCK_FOLDER = Path("/tmp")  # one for all users, whatever TMPDIR says to each of them
_SETTLE_S = 3.0
_EVERY_S = 0.25


@contextmanager
def reserved(gpus: Iterable[Device], *, shares: bool) -> Iterator[None]:
    """Within the block the GPUs are this process's.

    Raises DeviceError when one is another run's, or another process computes on it; not where it
    `shares`. The memory of a process that has just ended is waited for.
    """
    with ExitStack() as locks:
        chosen = sorted({gpu.uuid: gpu for gpu in gpus if gpu.uuid}.values(), key=_uuid)
        for gpu in chosen:
            locks.enter_context(_locked(gpu, shares=shares))
        if not shares and (users := _settled_users(chosen)):
            raise _busy(users)
        yield


def free_gpus(gpus: Sequence[Device]) -> tuple[Device, ...]:
    """Those of the GPUs that no run has reserved and nobody computes on."""
    return tuple(gpu for gpu in gpus if not _is_reserved(gpu) and not _users([gpu]))


@contextmanager
def _locked(gpu: Device, *, shares: bool) -> Iterator[None]:
    fd = _locked_file(_lock_path(gpu))
    if fd is None and not shares:
        raise DeviceError(
            f"{gpu.short_name} is taken by another run{_holder(gpu)}: wait for its end, choose "
            "others with --gpus free:1, or share it with --share-busy"
        )
    try:
        if fd is not None:
            _sign(fd)
        yield
    finally:
        if fd is not None:
            os.close(fd)


def _is_reserved(gpu: Device) -> bool:
    fd = _locked_file(_lock_path(gpu))
    if fd is not None:
        os.close(fd)
    return fd is None


def _lock_path(gpu: Device) -> Path:
    assert gpu.uuid is not None
    assert "/" not in gpu.uuid
    return LOCK_FOLDER / f"sweep-{gpu.uuid}.lock"


def _locked_file(path: Path) -> int | None:
    """The file, open and locked; None while somebody else has it locked."""
    while True:
        fd = _opened(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        if _is_still_there(fd, path):
            return fd
        os.close(fd)  # a cleaner of temporary files was quicker


def _opened(path: Path) -> int:
    """The lock file, made where it is absent, for every user; no link is followed."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | flags)
        with contextlib.suppress(FileExistsError):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | flags, 0o666)
            os.fchmod(fd, 0o666)
            return fd
        return os.open(path, os.O_RDWR | flags)
    except OSError as error:
        raise DeviceError(
            f"the lock file {path} cannot be opened: {error.strerror}; remove it, or share the "
            "GPU with --share-busy"
        ) from error


def _is_still_there(fd: int, path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(fd), path.stat())
    return False


def _sign(fd: int) -> None:
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)


def _holder(gpu: Device) -> str:
    try:
        text = _lock_path(gpu).read_text(errors="replace").strip()
    except OSError:
        return ""
    return f" (pid {text})" if text.isdigit() else ""


Users = list[tuple[Device, str]]


def _settled_users(gpus: Sequence[Device]) -> Users:
    """Who still uses the GPUs after a while."""
    deadline = monotonic_s() + _SETTLE_S
    while (users := _users(gpus)) and monotonic_s() < deadline:
        time.sleep(_EVERY_S)
    return users


def _users(gpus: Sequence[Device]) -> Users:
    own = _own_pids()
    return [
        (gpu, str(occupant))
        for gpu in gpus
        if gpu.uuid is not None
        for occupant in occupants(gpu.uuid, own)
    ]


def _own_pids() -> frozenset[int]:
    """This process and what it has started: a notebook may have used the GPU before."""
    process = psutil.Process()
    return frozenset({process.pid, *(child.pid for child in process.children(recursive=True))})


def _busy(users: Users) -> DeviceError:
    found = "; ".join(f"{gpu.short_name} is used by {who}" for gpu, who in users)
    return DeviceError(
        f"{found}: end that, choose others with --gpus free:1, or share it with --share-busy"
    )


def _uuid(gpu: Device) -> str:
    return gpu.uuid or ""
