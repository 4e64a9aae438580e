"""Folders: where a study's logs and checkpoints lie inside the run folder."""

import contextlib
import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sweep.errors import UnusableError
from sweep.store.url import locate

_OWNER = ".database"
_DEPTH = 4  # the run folder, the study's, that of its trials, the trial's
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
    """The folder of one study. `database` says in which one the study is, for people too."""

    path: Path
    database: str

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
        _claim(folder)
    except OSError as error:
        raise UnusableError(
            f"the run folder {folder.path} cannot be written: {error.strerror}; "
            "name another one with --run-dir"
        ) from error


def study_folder(run_folder: Path, study: str, url: str) -> StudyFolder:
    """The folder of the study in the database at `url`, absolute; it need not exist.

    Of two databases with a study of that name, as a copy makes them, only one owns the folder of
    the name; the other's is told apart by its database, so that neither touches the other's files.
    """
    database = owner_name(url)
    path = (run_folder / folder_name(study)).absolute()
    if not is_owned(path, database):
        path = path.with_name(f"{path.name}-{hashlib.sha256(database.encode()).hexdigest()[:8]}")
    return StudyFolder(path=path, database=database)


def is_log_of(path: Path, study: str, number: int, attempt: int) -> bool:
    """Whether a run of the study, in whichever folder and database, puts that log there."""
    if not path.is_absolute() or ".." in path.parts or len(path.parents) < _DEPTH:
        return False
    folder = StudyFolder(path=path.parents[2], database="")
    is_named = re.fullmatch(rf"{re.escape(folder_name(study))}(-[0-9a-f]{{8}})?", folder.path.name)
    return bool(is_named) and path == folder.log(number, attempt)


def owner_name(url: str) -> str:
    """What a folder calls its database: the same however its URL is written, and no secret."""
    location = locate(url)
    if location.path is not None:
        return str(location.path)
    found = location.url
    options = found.query.get("options", "")
    host = found.host or found.query.get("host", "")
    return f"postgresql {host}:{found.port or 5432}/{found.database} {options}".rstrip()


def is_owned(path: Path, database: str) -> bool:
    """Whether a study's folder belongs to that database, or to none so far."""
    try:
        return (path / _OWNER).read_text(encoding="utf-8").strip() == database
    except OSError:
        return True


def disown(path: Path, database: str) -> None:
    """The folder no longer belongs to that database: whoever uses it then may own it."""
    if is_owned(path, database):
        (path / _OWNER).unlink(missing_ok=True)


def _claim(folder: StudyFolder) -> None:
    """The folder belongs to its database from now on, if it belonged to none."""
    with contextlib.suppress(FileExistsError), (folder.path / _OWNER).open("x") as file:
        file.write(f"{folder.database}\n")
    if not is_owned(folder.path, folder.database):
        raise UnusableError(
            f"{folder.path} was just taken by a study in another database: run this again"
        )
