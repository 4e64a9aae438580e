"""Folders: where a study's logs and checkpoints lie inside the run folder."""

import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sweep.errors import UnusableError

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def folder_name(study: str) -> str:
    """A study's name as the name of a folder: itself where that is safe, else made so.

    Two names never share a folder: a changed name carries a piece of its SHA-256.
    """
    if _SAFE_NAME.fullmatch(study):
        return study
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", study).strip("-._")[:40] or "study"
    return f"{readable}-{hashlib.sha256(study.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFolder:
    """The folder of one study."""

    path: Path

    def trial(self, number: int) -> Path:
        """Where a trial's checkpoints and logs lie."""
        return self.path / "trials" / f"{number:05d}"

    def log(self, number: int, attempt: int) -> Path:
        """What an attempt printed."""
        return self.trial(number) / f"attempt-{attempt}.log"


def refuse_links(folder: StudyFolder, number: int | None = None) -> None:
    """Returns when no symbolic link would lead what is written out of the study's folder.

    Looks at the folder itself and at that of a trial. Raises UnusableError. The run folder may be
    a link: it is the user's own to place.
    """
    places = [folder.path, folder.path / "trials"]
    places += [] if number is None else [folder.trial(number)]
    for place in places:
        if place.is_symlink():
            raise UnusableError(
                f"{place} is a symbolic link, which is not followed: remove it, or name another "
                "folder with --run-dir"
            )


def make_folder(folder: StudyFolder) -> None:
    """The folder is there, no link, and can be written. Raises UnusableError."""
    refuse_links(folder)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder.path).close()
    except OSError as error:
        raise UnusableError(
            f"the run folder {folder.path} cannot be written: {error.strerror}; "
            "name another one with --run-dir"
        ) from error


def study_folder(run_folder: Path, study: str) -> StudyFolder:
    """The folder of a study, absolute; it need not exist."""
    return StudyFolder(path=(run_folder / folder_name(study)).absolute())
