"""Log tail: the end of what an attempt printed, where its log is one of ours on this machine."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sweep.coordinator.folders import is_log_of
from sweep.records import Attempt
from sweep.views.display import one_line
from sweep.views.log_text import readable

TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class LogTail:
    """The last lines of a log of so many bytes, or why there are none."""

    text: str = ""
    size_bytes: int = 0
    reason: str | None = None

    @property
    def is_cut(self) -> bool:
        return self.size_bytes > TAIL_BYTES


def log_tail(study: str, attempt: Attempt) -> LogTail:
    """What the attempt printed last. Only a file where a run of the study puts its logs is read,
    and through no link: a database that came from elsewhere must not name any file of this user.
    """
    if attempt.log is None:
        return LogTail(reason="This attempt kept no log.")
    path = Path(attempt.log)
    if not is_log_of(path, study, attempt.trial, attempt.attempt):
        return LogTail(reason=f"The log {one_line(attempt.log)} does not lie where a run puts it.")
    try:
        return _read(path)
    except OSError as error:
        where = f"; the attempt ran on {one_line(attempt.host)}"
        said = (error.strerror or type(error).__name__).lower()
        return LogTail(reason=f"The log {one_line(attempt.log)} cannot be read ({said}){where}.")


def _read(path: Path) -> LogTail:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor that followed no link
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return LogTail(reason=f"The log {one_line(str(path))} is no file.")
        file.seek(max(found.st_size - TAIL_BYTES, 0))
        data = file.read(TAIL_BYTES)
    if found.st_size > TAIL_BYTES:
        data = data.partition(b"\n")[2] or data
    return LogTail(text=readable(data), size_bytes=found.st_size)
