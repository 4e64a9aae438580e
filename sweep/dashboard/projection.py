"""Projection: Optuna's tables in our database, opened so that nothing can be written."""

import sqlite3
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, RDBStorage

from sweep.errors import NotFoundError, StorageError, UnusableError

NEVER_RAN = "the database holds no study yet: start one with `sweep run --study quickstart`"


def open_projection(url: str) -> BaseStorage:
    """Optuna's view of the database at `url`; it reads only and creates neither file nor table.

    Raises:
        NotFoundError: there is no database, or no study ever ran in it.
        StorageError: it cannot be read, or was written by another Optuna.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        backend = RDBStorage(
            _as_template(_with_driver(url)),
            engine_kwargs=_read_only(url),
            skip_table_creation=True,
        )
    except (StorageInternalError, ImportError, RuntimeError) as error:
        raise _explained(error) from error
    return optuna.storages.get_storage(backend)


def _with_driver(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if scheme in ("postgres", "postgresql"):
        scheme = "postgresql+psycopg"
    return f"{scheme}{separator}{rest}"


def _as_template(url: str) -> str:
    """Optuna fills the URL as a format string; a brace in a password must survive that."""
    return url.replace("{", "{{").replace("}", "}}")


def _read_only(url: str) -> dict[str, Any]:
    """Engine arguments under which the database itself refuses every write."""
    scheme, _, rest = url.partition("://")
    match scheme.partition("+")[0]:
        case "sqlite":
            path = _existing_file(rest)
            return {"creator": lambda: _connect_to_file(path)}
        case "postgres" | "postgresql":
            read_only = {"postgresql_readonly": True}
            return {"pool_pre_ping": True, "execution_options": read_only}
    raise StorageError("the database URL must start with sqlite:/// or postgresql://")


def _existing_file(rest: str) -> Path:
    path = Path(rest.removeprefix("/").partition("?")[0])
    if not path.is_file():
        raise NotFoundError(f"there is no database at {path}: {NEVER_RAN}")
    return path.absolute()


def _connect_to_file(path: Path) -> sqlite3.Connection:
    """A connection that never makes the file; mode=rw, as a crashed writer's log is replayed."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, check_same_thread=False)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA busy_timeout = 60000")
    return connection


def _explained(error: Exception) -> NotFoundError | UnusableError:
    if isinstance(error, ImportError):
        return StorageError("PostgreSQL needs its driver: pip install 'sweep-trials[postgres]'")
    cause = getattr(error.__cause__, "orig", None) or error
    if "no such table" in str(cause) or type(cause).__name__ == "UndefinedTable":
        return NotFoundError(NEVER_RAN)
    lines = str(cause).strip().splitlines() or [type(cause).__name__]
    return StorageError(f"the database cannot be read: {lines[0]}")
