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


def make_folder(folder: StudyFolder) -> None:
    """The folder is there and can be written. Raises UnusableError."""
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
