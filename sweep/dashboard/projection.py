"""Projection: Optuna's tables in our database, opened so that nothing can be written."""

import sqlite3
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, RDBStorage

from sweep.errors import NotFoundError, StorageError, SweepError
from sweep.store.sqlite import uri
from sweep.store.url import Location, locate

BUSY_TIMEOUT_MS = 2000
START_ONE = "start a study with `sweep run --study quickstart`"


def open_projection(url: str) -> BaseStorage:
    """Optuna's view of the database at `url`; it reads only and creates neither file nor table.

    Raises:
        UsageError: `url` is none that a database can have here.
        NotFoundError: there is no database, or no study ever ran in it.
        StorageError: it cannot be read, or was written by another Optuna.
    """
    location = locate(url)
    _check_file(location)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        backend = _ReadOnlyStorage(location)
    except (StorageInternalError, ImportError, RuntimeError) as error:
        raise _explained(error, location) from error
    return optuna.storages.get_storage(backend)


def close_projection(storage: BaseStorage) -> None:
    """The connections of an opened projection are closed; one in use, once it is given back."""
    backend = getattr(storage, "_backend", storage)  # Optuna's cache around the storage
    if isinstance(backend, RDBStorage):
        backend.engine.dispose()


class _ReadOnlyStorage(RDBStorage):
    """Optuna's storage over tables that exist already; its connections end where it cannot be."""

    def __init__(self, location: Location) -> None:
        url = _as_template(location.connection_string)
        try:
            super().__init__(url, _read_only(location.path), skip_table_creation=True)
        except Exception:
            if hasattr(self, "engine"):
                self.engine.dispose()
            raise


def _check_file(location: Location) -> None:
    if location.path is not None and not location.path.is_file():
        raise NotFoundError(f"there is no database at {location}: {START_ONE}")


def _as_template(url: str) -> str:
    """Optuna fills the URL as a format string; a brace in a password must survive that."""
    return url.replace("{", "{{").replace("}", "}}")


def _read_only(path: Path | None) -> dict[str, Any]:
    """Engine arguments under which the database itself refuses every write."""
    if path is not None:
        return {"creator": lambda: _connect_to_file(path)}
    return {"pool_pre_ping": True, "execution_options": {"postgresql_readonly": True}}


def _connect_to_file(path: Path) -> sqlite3.Connection:
    """A connection that never makes the file."""
    connection = sqlite3.connect(uri(path), uri=True, check_same_thread=False)
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return connection


def _explained(error: Exception, location: Location) -> SweepError:
    if isinstance(error, ImportError):
        return StorageError("PostgreSQL needs its driver: pip install 'sweep-trials[postgres]'")
    cause = getattr(error.__cause__, "orig", None) or error
    if "no such table" in str(cause) or type(cause).__name__ == "UndefinedTable":
        return NotFoundError(f"no study has run in {location} yet: {START_ONE}")
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return StorageError(f"{location} cannot be read: {lines[0]}")
