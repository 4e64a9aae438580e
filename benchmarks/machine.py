"""Machine: on what, with what, and beside how much other work something was measured."""

import os
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from sweep.fleet.devices import visible_gpus
from sweep.fleet.slots import num_cores

ROOT = Path(__file__).parents[1]
LIBRARIES = (
    "torch",
    "torchvision",
    "numpy",
    "optuna",
    "sqlalchemy",
    "psycopg",
    "pandas",
    "plotly",
    "ray",
)


def machine() -> dict[str, Any]:
    """The processor, the memory and the GPUs of this machine, and its system."""
    return {
        "processor": _processor(),
        "cores": num_cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "gpus": [gpu.name for gpu in visible_gpus()],
        "system": platform.platform(),
    }


def versions() -> dict[str, str]:
    """The version of Python, of this package, and of each library that is installed."""
    return {"python": platform.python_version(), **dict(_installed())}


def commit() -> str | None:
    """The commit that is checked out, with `+` where files differ from it; None without git."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return None
    return f"{head}+" if _git("status", "--porcelain", "--untracked-files=no") else head


def load_average() -> float:
    """How many threads wanted to run in the last minute: above `cores`, some had to wait."""
    return round(os.getloadavg()[0], 2)


def _installed() -> Iterator[tuple[str, str]]:
    for library in ("sweep-trials", *LIBRARIES):
        try:
            yield library, version(library)
        except PackageNotFoundError:
            continue


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
