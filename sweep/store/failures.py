"""Failures: how a database library's errors become one line for people, without a password."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sweep.errors import StorageError
from sweep.store.url import Location

# What the driver says, as a pattern, and what that means for the user.
_MEANINGS = {
    "database is locked": "another process kept it locked for too long; end that one, then retry",
    "database or disk is full|could not extend|no space left": "the disk is full; make room there",
    "readonly database|read-only": "it cannot be written; check the file's permissions",
    "file is not a database": "the file is not a database; name another one with --storage",
    "malformed": "the file is damaged; restore a backup of it",
    "unable to open database file": "the file cannot be opened; check its permissions",
    "disk i/o error": "reading or writing it failed; check the disk",
    "password authentication failed": "the password or the user is wrong; check the URL",
    "no password supplied": "it wants a password; write one in the URL, or in ~/.pgpass",
    'database ".*" does not exist': "the server has no such database; make it with createdb",
    "connection refused|timeout expired|could not translate|failed to resolve|no such file|"
    "timed out|unreachable": "it does not answer; check that it runs, and the host and port",
}


_DISK_FULL = "53100"  # a SQLSTATE of PostgreSQL's


@contextmanager
def translated(location: Location) -> Iterator[None]:
    """Inside, what the database libraries or the file system raise becomes a StorageError."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise StorageError(explain(location, error)) from error


def is_full(error: BaseException) -> bool:
    """Whether the database had no room left on its disk."""
    if not isinstance(error, DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return getattr(error.orig, "sqlstate", None) == _DISK_FULL


def is_locked(error: BaseException) -> bool:
    """Whether another process had the SQLite file locked for as long as was waited."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF  # less what the extended code adds
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def explain(location: Location, error: Exception) -> str:
    """One line: which database, what went wrong, and what to do."""
    if isinstance(error, OSError):
        return f"database {location}: {error.filename} cannot be used: {error.strerror}"
    found = one_line(error)
    for pattern, meaning in _MEANINGS.items():
        if re.search(pattern, found, flags=re.IGNORECASE):
            return f"database {location}: {meaning}"
    password = location.url.password
    return f"database {location}: {found.replace(str(password), '***') if password else found}"


def one_line(error: Exception) -> str:
    """What the driver itself said, less the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    return " ".join(str(cause).split())[:400] or type(cause).__name__
