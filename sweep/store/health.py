"""Health of a database: what it is, how it is set up, and how its clock stands to ours."""

import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select, text

from sweep.store import migration, sqlite
from sweep.store.database import Database
from sweep.store.failures import translated
from sweep.store.schema import database_now_s
from sweep.store.url import locate


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """A database that answers. `revision` is None without our tables, `journal_mode` without
    SQLite. `clock_ahead_s` is how far its clock is before this machine's; negative: behind."""

    kind: str
    version: str
    shown: str
    revision: str | None
    newest: str
    journal_mode: str | None
    clock_ahead_s: float


def health_of(url: str) -> Health | None:
    """How the database at the URL is; None where there is no file yet. Nothing is made or changed.

    Raises UsageError for what is no URL of ours, StorageError for one that cannot be used, as a
    SQLite file on a network file system.
    """
    location = locate(url)
    if location.path is not None:
        sqlite.check_file(location.path)
        if not location.path.exists():
            return None
    database = Database(location)
    try:
        return _health(database)
    finally:
        database.close()


def folder_of(url: str) -> Path | None:
    """The folder of a SQLite file; None for a server. Raises UsageError."""
    path = locate(url).path
    return None if path is None else path.parent


def _health(database: Database) -> Health:
    is_file = database.location.path is not None
    with translated(database.location), database.engine.connect() as connection:
        version = "SELECT sqlite_version()" if is_file else "SHOW server_version"
        mode = connection.scalar(text("PRAGMA journal_mode")) if is_file else None
        before = time.time()
        theirs = connection.scalar(select(database_now_s()))
        ours = (before + time.time()) / 2
        return Health(
            kind="SQLite" if is_file else "PostgreSQL",
            version=str(connection.scalar(text(version))).split()[0],
            shown=str(database.location),
            revision=migration.found(connection),
            newest=migration.newest(),
            journal_mode=mode,
            clock_ahead_s=float(theirs or ours) - ours,
        )
