"""Remembered: what was measured on this machine, kept in the user's cache folder.

So it is measured once, and every run on the machine goes by the same numbers.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sweep.training.whole_file import write_whole

FOLDER_VARIABLE = "SWEEP_CACHE"
FILE = "measured.json"


def cache_folder() -> Path:
    """Where the user keeps what can be made anew: the environment's, else ~/.cache/sweep."""
    named = os.environ.get(FOLDER_VARIABLE)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(named if named else f"{base}/sweep").expanduser()


def remembered(subject: Mapping[str, object], measure: Callable[[], str]) -> str:
    """What was measured of the subject before, else what is measured now, by one process only.

    Where the folder cannot be used, it is measured each time.
    """
    key = json.dumps(subject, sort_keys=True)
    path = cache_folder() / FILE
    with _locked(path):
        known = _read(path)
        if key not in known:
            known[key] = measure()
            with contextlib.suppress(OSError):
                write_whole(path, json.dumps(known, indent=1, sort_keys=True).encode())
        return known[key]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f".{path.name}.lock").open("wb")
    except (OSError, RuntimeError):  # a home that nobody knows, or a folder that takes no files
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> dict[str, str]:
    """The file's entries; none where it is absent, damaged or somebody else's."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    is_ours = isinstance(content, dict) and all(isinstance(each, str) for each in content.values())
    return content if is_ours else {}
