"""Sharing: who else may read what a run writes: nobody, or the colleagues of one group."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY_ELSE = 0o077
_NOBODY_OUTSIDE = 0o007
_OPEN = stat.S_ISGID | stat.S_IRWXG


@contextmanager
def files_of_ones_own(*, for_group: bool) -> Iterator[None]:
    """Within, new files and folders are this user's alone, or the group's too.

    So are those of the processes that are started meanwhile.
    """
    before = os.umask(_NOBODY_OUTSIDE if for_group else _NOBODY_ELSE)
    try:
        yield
    finally:
        os.umask(before)


def open_to_group(paths: Iterable[Path]) -> None:
    """The group may read and write these, and what will be in the folders among them.

    What belongs to another user stays as it is; links are not followed.
    """
    for path in paths:
        with contextlib.suppress(OSError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                path.chmod(stat.S_IMODE(status.st_mode) | _OPEN)
            elif stat.S_ISREG(status.st_mode):
                path.chmod(stat.S_IMODE(status.st_mode) | stat.S_IRGRP | stat.S_IWGRP)


def is_open_to_group(folder: Path) -> bool:
    """Whether the group may write there, as `open_to_group` has it: what is new is for it too.

    A folder that merely hands its group down, as many are given by their parents, is not.
    """
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & _OPEN == _OPEN


def shared_places(run_folder: Path, study_folder: Path, database: Path | None) -> list[Path]:
    """What colleagues need to look at a study and to go on with it, as far as it is there."""
    files = [] if database is None else [Path(f"{database}{end}") for end in ("", "-wal", "-shm")]
    folders = [run_folder, study_folder]
    inside = study_folder.rglob("*") if study_folder.is_dir() else ()
    return [path for path in (*folders, *inside, *files) if path.exists()]
