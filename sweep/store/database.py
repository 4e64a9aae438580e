"""The database: one engine, and whole transactions that are repeated when a connection drops.

A read sees one moment; a write is serialised against the others. Both are short, so that any
thread may ask at any time. A transaction may be run again after its answer was lost: it must
come to the same end when it was carried out already.
"""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from sweep.errors import StorageError
from sweep.store.failures import is_locked, translated
from sweep.store.repetition import Repetition
from sweep.store.sqlite import uri
from sweep.store.url import Location

CONNECT_TIMEOUT_S = 10
PATIENCE_S = 60.0
_LOCKED_S = 0.5  # what SQLite itself waits: not long, as no signal is heard meanwhile

Answer = TypeVar("Answer")


class Database:
    """An engine on one database; `patience_s` and `may_wait` are a Repetition's."""

    def __init__(
        self,
        location: Location,
        *,
        patience_s: float = PATIENCE_S,
        may_wait: Callable[[], bool] | None = None,
    ) -> None:
        self.location = location
        self._repetition = Repetition(location, patience_s, may_wait)
        self._file: tuple[int, int] | None = None
        self.engine = _engine(location)
        self._reading = self.engine.execution_options(**_READING[self.engine.dialect.name])
        self._writing = self.engine.execution_options(**_WRITING[self.engine.dialect.name])

    def close(self) -> None:
        self.engine.dispose()

    def read(self, question: Callable[[Connection], Answer]) -> Answer:
        """The answer to a question, all of it from one moment."""
        return self._repeat(self._reading, question)

    def write(self, change: Callable[[Connection], Answer]) -> Answer:
        """The answer of a change that is now stored; if it raises, nothing of it is."""
        self._check_file()
        return self._repeat(self._writing, change)

    def once(self, question: Callable[[Connection], Answer]) -> Answer:
        """As `read`, but a server that is not there is an error at once."""
        return self._repeat(self._reading, question, is_worth_a_try=is_locked)

    def write_once(self, change: Callable[[Connection], Answer]) -> Answer:
        """As `write`, tried once: a database that is not there is an error."""
        with translated(self.location), self._writing.begin() as connection:
            return change(connection)

    def _check_file(self) -> None:
        """Raises StorageError where the SQLite file is no longer the one that was opened: what is
        written to a file without a name is lost."""
        path = self.location.path
        if path is None:
            return
        found = _identity(path)
        self._file = self._file or found
        if found != self._file:
            what = "is gone" if found is None else "was replaced by another"
            raise StorageError(
                f"the database file {path} {what} while it was in use; put it back, then run the "
                "same command again"
            )

    def _repeat(
        self,
        engine: Engine,
        step: Callable[[Connection], Answer],
        is_worth_a_try: Callable[[BaseException], bool] | None = None,
    ) -> Answer:
        def transaction() -> Answer:
            with engine.begin() as connection:
                return step(connection)

        with translated(self.location):
            return self._repetition.run(transaction, is_worth_a_try)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


_READING: dict[str, dict[str, Any]] = {
    "sqlite": {"sweep_begin": "BEGIN"},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
_WRITING: dict[str, dict[str, Any]] = {
    "sqlite": {"sweep_begin": "BEGIN IMMEDIATE"},
    "postgresql": {},
}


def _engine(location: Location) -> Engine:
    return _sqlite_engine(location) if location.path else _postgresql_engine(location)


def _sqlite_engine(location: Location) -> Engine:
    assert location.path is not None
    path = location.path

    def connect() -> sqlite3.Connection:
        # A mode that never makes the file: only `sqlite.make_file` does that, under a lock.
        connection = sqlite3.connect(
            uri(path), uri=True, timeout=_LOCKED_S, check_same_thread=False
        )
        # The driver must not begin transactions by itself: `_begin` does, in the right mode.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("sweep_begin", "BEGIN"))


def _postgresql_engine(location: Location) -> Engine:
    options = {
        "connect_timeout": CONNECT_TIMEOUT_S,
        "application_name": "sweep",
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
    }
    given = {name: value for name, value in options.items() if name not in location.url.query}
    try:
        engine = create_engine(location.url, pool_pre_ping=True, connect_args=given)
    except ImportError as error:
        raise StorageError(
            "PostgreSQL needs a driver that is not installed: pip install 'sweep-trials[postgres]'"
        ) from error
    event.listen(engine, "connect", _use_utc)
    return engine


def _use_utc(connection: Any, record: object) -> None:
    # Outside a transaction, or the pool's rollback would undo it.
    connection.autocommit = True
    connection.execute("SET TIME ZONE 'UTC'")
    connection.autocommit = False
