"""A check-up of this machine: devices, torch, disks, database, clock and limits, a line each.

It runs no trial, writes nothing, and loads torch in another process only.
"""

import json
import os
import platform
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from sweep import __version__
from sweep.errors import SweepError
from sweep.fleet.child import run_child
from sweep.fleet.devices import visible_gpus
from sweep.fleet.driver import driver_version
from sweep.store.health import Health, folder_of, health_of

GIB = 2**30
LITTLE_BYTES = 5 * GIB
TOO_LITTLE_BYTES = GIB // 4
MIN_OPEN_FILES = 1024
MIN_SHARED_BYTES = 256 * 2**20
MAX_CLOCK_S = 5.0
TORCH_PATIENCE_S = 120


class Grade(StrEnum):
    """How a thing stands: fine, fine with something to know, or in the way of a run."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that was looked at, what was found, and what to do where it is a fault."""

    name: str
    grade: Grade
    text: str


def check_up(url: str, run_folder: Path) -> list[Check]:
    """Every check of this machine, for runs that store at the URL and in the run folder."""
    checks: dict[str, Callable[[], Iterator[Check]]] = {
        "versions": _versions,
        "gpus": _gpus,
        "torch": _torch,
        "run folder": lambda: _disk("run folder", run_folder),
        "database's disk": lambda: _database_disk(url),
        "database": lambda: _database(url),
        "open files": _open_files,
        "shared memory": _shared_memory,
    }
    return [found for name, check in checks.items() for found in _made(name, check)]


def _made(name: str, check: Callable[[], Iterator[Check]]) -> list[Check]:
    try:
        return list(check())
    except SweepError as error:
        return [_fault(name, str(error))]


def _ok(name: str, text: str) -> Check:
    return Check(name=name, grade=Grade.OK, text=text)


def _note(name: str, text: str) -> Check:
    return Check(name=name, grade=Grade.NOTE, text=text)


def _fault(name: str, text: str) -> Check:
    return Check(name=name, grade=Grade.FAULT, text=text)


def _versions() -> Iterator[Check]:
    kernel = f"{platform.system()} {platform.release()}"
    yield _ok("versions", f"sweep {__version__}, Python {platform.python_version()}, {kernel}")


def _gpus() -> Iterator[Check]:
    gpus = visible_gpus()
    if not gpus:
        yield _note("gpus", "no GPU is visible here: trials run on the CPU")
        return
    yield _ok("driver", f"NVIDIA {driver_version()}")
    for gpu in gpus:
        memory = "" if gpu.memory_bytes is None else f", {gpu.memory_bytes / GIB:.0f} GiB"
        yield _ok(gpu.short_name, f"{gpu.name}, {gpu.uuid}{memory}")


def _torch() -> Iterator[Check]:
    found = _asked_of_torch()
    if isinstance(found, str):
        yield _fault("torch", found)
        return
    cuda = f"with CUDA {found['cuda']}" if found["cuda"] else "without CUDA"
    devices = found["devices"]
    num_cuda = sum(each["device"] != "cpu" for each in devices)
    num_visible = len(visible_gpus())
    if num_cuda < num_visible:
        yield _fault(
            "torch",
            f"torch {found['torch']} {cuda} sees {num_cuda} of {num_visible} GPUs: install a "
            "build of torch for this driver, or a newer driver",
        )
    else:
        yield _ok("torch", f"torch {found['torch']} {cuda}")
    for each in devices:
        if "error" in each:
            yield _fault("torch", each["error"])


def _asked_of_torch() -> dict[str, Any] | str:
    try:
        done = run_child("sweep.worker.device_check", patience_s=TORCH_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return f"torch did not answer in {TORCH_PATIENCE_S} s"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        return f"torch cannot be loaded: {lines[-1]}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _database_disk(url: str) -> Iterator[Check]:
    folder = folder_of(url)
    if folder is not None:
        yield from _disk("database's disk", folder)


def _disk(name: str, folder: Path) -> Iterator[Check]:
    place = folder.absolute()
    there = next(each for each in (place, *place.parents) if each.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        yield _fault(name, f"{there} cannot be written; name another one")
        return
    free = shutil.disk_usage(there).free
    text = f"{free / GIB:.1f} GiB free for {place}"
    if free < TOO_LITTLE_BYTES:
        yield _fault(name, f"{text}: too little for checkpoints; make room")
    else:
        yield (_note if free < LITTLE_BYTES else _ok)(name, text)


def _database(url: str) -> Iterator[Check]:
    health = health_of(url)
    if health is None:
        yield _note("database", "none is there yet: the first run makes it")
        return
    yield _revision(health)
    ahead = health.clock_ahead_s
    way = "ahead of" if ahead > 0 else "behind"
    text = f"the database's is {abs(ahead):.1f} s {way} this machine's"
    yield (_ok if abs(ahead) <= MAX_CLOCK_S else _note)("clock", text)


def _revision(health: Health) -> Check:
    name = f"{health.kind} {health.version}, {health.shown}"
    mode = "" if health.journal_mode is None else f", {health.journal_mode.upper()}"
    if health.revision is None:
        return _note("database", f"{name}: no study was ever stored there")
    if health.revision > health.newest:
        return _fault(
            "database",
            f"{name} has schema revision {health.revision}, this version knows up to "
            f"{health.newest}: pip install --upgrade sweep-trials",
        )
    if health.revision < health.newest:
        return _note(
            "database",
            f"{name} has schema revision {health.revision}; sweep storage upgrade makes it "
            f"{health.newest}",
        )
    return _ok("database", f"{name}, schema revision {health.revision}{mode}")


def _open_files() -> Iterator[Check]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = soft == resource.RLIM_INFINITY or soft >= MIN_OPEN_FILES
    advice = "" if is_enough else f": fewer than {MIN_OPEN_FILES}; raise it with ulimit -n 4096"
    yield (_ok if is_enough else _note)("open files", f"at most {soft}{advice}")


def _shared_memory() -> Iterator[Check]:
    place = Path("/dev/shm")
    if not place.is_dir():
        yield _note("shared memory", "there is no /dev/shm")
        return
    free = shutil.disk_usage(place).free
    is_enough = free >= MIN_SHARED_BYTES
    advice = "" if is_enough else ": little for loading pictures; in a container: --shm-size=1g"
    yield (_ok if is_enough else _note)("shared memory", f"{free / 2**20:.0f} MiB free{advice}")
