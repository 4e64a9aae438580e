"""The installed command, run as a user runs it, and the processes that belong to it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

SWEEP = str(Path(sys.executable).with_name("sweep"))
PATIENCE_S = 60.0


@contextmanager
def sweep_run(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """`sweep run` in a folder, its story in story.txt; whatever is left of it is killed."""
    with (folder / "story.txt").open("ab") as story:
        process = subprocess.Popen(
            [SWEEP, "run", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=story,
            stderr=story,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        for each in [*family(process.pid), psutil_process(process.pid)]:
            if each is not None and each.is_running():
                each.kill()
        process.wait(PATIENCE_S)


def sweep(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Another command in the same folder."""
    return subprocess.run(
        [SWEEP, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S
    )


def psutil_process(pid: int) -> psutil.Process | None:
    """The process, or None when it is gone."""
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def family(pid: int) -> list[psutil.Process]:
    """All that a process has started, and what those have."""
    process = psutil_process(pid)
    return [] if process is None else process.children(recursive=True)


def workers(pid: int) -> list[psutil.Process]:
    """The worker processes of a coordinator."""
    process = psutil_process(pid)
    return [] if process is None else process.children()


def wait_until(what: str, holds: Callable[[], object], folder: Path) -> None:
    """Wait until something holds; a miss shows what the command has said."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            story = (folder / "story.txt").read_text(errors="replace")
            raise AssertionError(f"waited {PATIENCE_S:g} s for {what}; the command said:\n{story}")
        time.sleep(0.05)


def wait_for_line(text: str, folder: Path, count: int = 1) -> None:
    """Wait until the command has said something so many times."""
    story = folder / "story.txt"
    wait_until(f"{text!r}", lambda: story.read_text(errors="replace").count(text) >= count, folder)


def wait_for_file(path: Path, folder: Path) -> None:
    """Wait until a file is there and is not empty."""
    wait_until(str(path), lambda: path.exists() and path.stat().st_size > 0, folder)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has collected yet has ended too."""
    process = psutil_process(pid)
    return process is None or process.status() == psutil.STATUS_ZOMBIE


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, for the coordinator alone: its workers have sessions of their own."""
    os.kill(process.pid, signal.SIGINT)
