"""Failures: how a database library's errors become one line for people, without a password."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sweep.errors import StorageError
from sweep.store.url import Location

_REMEDIES = {
    "database is locked": "another process kept it locked for too long; end that one, then retry",
    "database or disk is full": "the disk is full; make room, then run the same command again",
    "readonly database": "it cannot be written; check the permissions of the file and its folder",
    "file is not a database": "the file is not a database; name another one with --storage",
    "disk image is malformed": "the file is damaged; restore a backup of it",
    "unable to open database file": "the file cannot be opened; check its permissions",
    "disk i/o error": "reading or writing it failed; check the disk",
    "password authentication failed": "the password is wrong for this user; check the URL",
    "no password supplied": "a password is needed; write it in the URL, or in ~/.pgpass",
}


@contextmanager
def translated(location: Location) -> Iterator[None]:
    """Inside, what the database library or the file system raises becomes a StorageError."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise StorageError(explain(location, error)) from error


def explain(location: Location, error: Exception) -> str:
    """One line: which database, what went wrong, and what to do."""
    found = first_line(error)
    for sign, remedy in _REMEDIES.items():
        if sign in found.lower():
            return f"database {location}: {remedy}"
    return f"database {location}: {_without_password(location, found)}"


def first_line(error: Exception) -> str:
    """What the driver itself said, in one line, less the statement and its values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else type(cause).__name__


def _without_password(location: Location, text: str) -> str:
    password = location.url.password
    return text.replace(str(password), "***") if password else text
