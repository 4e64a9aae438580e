"""SQLite files: what may be one, where one may lie, and how it is made."""

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import tenacity

from sweep.errors import DiskError, StorageError
from sweep.progress import Watch

LOCK_TIMEOUT_S = 60.0

_PAGES_AT_ONCE = 1_024

_MAGIC = b"SQLite format 3\x00"

_UNWRITTEN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC)

_NETWORK = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "lustre",
    "ceph",
    "glusterfs",
    "beegfs",
    "gpfs",
)


def uri(path: Path) -> str:
    """The SQLite URI that opens the file and never makes it.

    A file in a folder that cannot be written, without a write-ahead log beside it, is opened as
    unchanging: otherwise SQLite would have to make files there merely to read it.
    """
    wal = Path(f"{path}-wal")
    is_fixed = not os.access(path.parent, os.W_OK) and not wal.exists()
    return f"file:{quote(str(path))}?" + ("immutable=1" if is_fixed else "mode=rw")


def check_file(path: Path) -> None:
    """The path is, or can become, a SQLite file on a local disk; nothing is made.

    Raises StorageError, saying what is in the way.
    """
    if path.is_dir():
        raise StorageError(f"{path} is a folder; name a file in it: sqlite:///{path}/sweep.db")
    if not path.exists():
        _check_room(path)
    _check_disk(path, Path("/proc/mounts"))
    if path.exists():
        _check_content(path)


def is_database(path: Path) -> bool:
    """Whether the file has a database in it, or nothing yet. Raises StorageError as a check."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}") from error
    return head in (b"", _MAGIC)


def make_file(path: Path) -> None:
    """The file is there, empty or as it was; its mode is that of the umask."""
    path.touch(exist_ok=True)


def files_of(path: Path) -> list[Path]:
    """The file and those that SQLite keeps beside it while it is open."""
    return [Path(f"{path}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


def remove_file(path: Path) -> None:
    """The file is gone, with its log; nobody may have it open."""
    for each in files_of(path):
        each.unlink(missing_ok=True)


def use_write_ahead_log(path: Path) -> None:
    """Readers no longer block the writer, nor the writer the readers; the file remembers it."""
    with closing(sqlite3.connect(uri(path), uri=True, timeout=LOCK_TIMEOUT_S)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def back_up(path: Path, revision: str) -> Path:
    """A complete copy lies beside the file, named after the schema revision that it has."""
    target = backup_path(path, revision)
    part = path.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(uri(path), uri=True, timeout=LOCK_TIMEOUT_S)) as source:
        source.execute("VACUUM INTO ?", (str(part),))
    part.replace(target)
    return target


def backup_path(path: Path, revision: str) -> Path:
    """Where the copy lies that is made before the schema is changed from the revision."""
    return path.with_name(f"{path.name}.backup-{revision}")


def copy_online(path: Path, target: Path, watch: Watch) -> None:
    """A complete copy is at the target, whole, with the file's own mode; others may write on.

    `watch` hears of the pages that are copied. Raises DiskError where the target cannot be
    written.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _blamed_on(target):
            part.touch(mode=0o600, exist_ok=False)
            _copy(path, part, watch)
            part.chmod(stat.S_IMODE(path.stat().st_mode))
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _copy(path: Path, target: Path, watch: Watch) -> None:
    with (
        closing(sqlite3.connect(uri(path), uri=True, timeout=LOCK_TIMEOUT_S)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        # Who reads sees one moment of the file; else each write meanwhile would begin it anew.
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(
            copy,
            pages=_PAGES_AT_ONCE,
            progress=lambda _, remaining, total: watch(total - remaining, total),
        )
        source.rollback()
        copy.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def _blamed_on(target: Path) -> Iterator[None]:
    """Inside, the target is named in what only comes of writing it."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DiskError(f"{target} cannot be written ({reason}); name another file") from error
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) not in _UNWRITTEN:
            raise
        reason = "no space left on device" if _is_full(error) else str(error)
        raise DiskError(f"{target} cannot be written ({reason}); name another file") from error


def _is_full(error: sqlite3.Error) -> bool:
    return error.sqlite_errorcode == sqlite3.SQLITE_FULL


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Inside, no other process of this host that asks for it holds the folder's lock.

    The folder itself is locked: a lock file would stay behind, and closing any handle on the
    database file would drop SQLite's own locks on it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(BlockingIOError),
            wait=tenacity.wait_fixed(0.02),
            stop=tenacity.stop_after_delay(LOCK_TIMEOUT_S),
            reraise=True,
        )(fcntl.flock, handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StorageError(
            f"another process has been making a database in {folder} for {LOCK_TIMEOUT_S:.0f} s; "
            "end it, then retry"
        ) from error


def _check_room(path: Path) -> None:
    base = path.parent
    while not base.exists() and base != base.parent:
        base = base.parent
    if not base.is_dir():
        raise StorageError(f"{base} is a file, so {path} cannot be made")
    if not os.access(base, os.W_OK | os.X_OK):
        raise StorageError(f"the folder {base} cannot be written, so {path} cannot be made")


def _check_content(path: Path) -> None:
    if not is_database(path):
        raise StorageError(
            f"the file is not a database: {path}; name another one with --storage sqlite:///PATH"
        )


def _check_disk(path: Path, mounts: Path) -> None:
    kind = network_kind(path.parent.resolve(), mounts.read_text())
    if kind is not None:
        raise StorageError(
            f"{path} lies on a network file system ({kind}), where SQLite loses data; use a local "
            f"disk, as in --storage sqlite:///{_local_folder(mounts)}/sweep.db, or PostgreSQL"
        )


def network_kind(folder: Path, mounts: str) -> str | None:
    """The type of the network file system that the folder lies on; None on a local disk.

    `mounts` is the text of /proc/mounts.
    """
    best, kind = Path("/"), ""
    for line in mounts.splitlines():
        point, found = (field.replace("\\040", " ") for field in line.split()[1:3])
        if folder.is_relative_to(point) and len(Path(point).parts) >= len(best.parts):
            best, kind = Path(point), found
    return kind if kind in _NETWORK or kind.startswith("fuse.") else None


def _local_folder(mounts: Path) -> Path:
    text = mounts.read_text()
    candidates = (Path.home(), Path("/var/tmp"), Path("/tmp"))
    return next((c for c in candidates if network_kind(c, text) is None), Path("/tmp"))
