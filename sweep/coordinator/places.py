"""Places of a study on disk: the folders that hold its logs and checkpoints, and their removal.

A folder that a copy of the study uses too carries a mark, and stays when one of them is deleted.
"""

import contextlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from sweep.coordinator.folders import folder_name
from sweep.errors import UnusableError
from sweep.records import Attempt

_MARK = ".copied"
_DEPTH = 2  # above the log: the trial's folder, trials, and the study's


def named_folders(study: str, attempts: Iterable[Attempt]) -> list[Path]:
    """The study's folders that its logs lie in, as far as they are on this machine."""
    logs = {Path(each.log) for each in attempts if each.log is not None}
    tops = {log.parents[_DEPTH] for log in logs if len(log.parents) > _DEPTH}
    name = folder_name(study)
    is_one = re.compile(rf"{re.escape(name)}(-[0-9a-f]{{8}})?").fullmatch
    return sorted(top for top in tops if is_one(top.name) and (top / "trials").is_dir())


def mark_copied(folder: Path, where: str) -> None:
    """The folder serves a copy of the study too; `where` says in which database."""
    with contextlib.suppress(OSError), (folder / _MARK).open("a", encoding="utf-8") as mark:
        mark.write(f"{where}\n")


def is_shared(folder: Path) -> bool:
    """Whether a copy of the study uses the folder too."""
    return (folder / _MARK).exists()


def unmark_copied(folder: Path) -> None:
    """One study less uses the folder; the last one of them owns it."""
    mark = folder / _MARK
    with contextlib.suppress(OSError):
        left = mark.read_text(encoding="utf-8").splitlines()[:-1]
        mark.write_text("".join(f"{line}\n" for line in left), encoding="utf-8")
        if not left:
            mark.unlink()


def size_bytes(folder: Path) -> int:
    """How much the files in a folder take; links are not followed."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def remove_folder(folder: Path) -> None:
    """The folder is gone with all that is in it. Raises UnusableError; a link is not followed."""
    if folder.is_symlink():
        raise UnusableError(f"{folder} is a symbolic link and stays; remove what it leads to")
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnusableError(
            f"the study is deleted, but {folder} cannot be removed: {error.strerror}; remove it"
        ) from error
