"""The database: one engine, and whole transactions that are repeated when a connection drops.

A read sees one moment; a write is serialised against the others. Both are short, so that any
thread may ask at any time. A transaction may be run again after its answer was lost: it must
come to the same end when it was carried out already.
"""

import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import tenacity
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from sweep.clock import monotonic_s
from sweep.errors import StorageError
from sweep.store.failures import explain, is_full, is_locked, translated
from sweep.store.sqlite import uri
from sweep.store.url import Location

BUSY_TIMEOUT_S = 60.0
CONNECT_TIMEOUT_S = 10
PATIENCE_S = 60.0
_LOOK_S = 0.25
_LOCKED_S = 0.5  # what SQLite itself waits: not long, as no signal is heard meanwhile
_SILENT_TRIES = 10

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)

# SQLSTATE classes and codes that say nothing against the transaction itself: connection
# exceptions, rollbacks for concurrency, operator intervention, too many connections.
_PASSING = ("08", "40", "57P", "53300")


class Database:
    """An engine on one database. `patience_s`: how long a lost connection is sought again.

    `may_wait` is asked while a transaction cannot be carried out, and ends the waiting; with it a
    full disk is waited for without end, without it that is an error at once.
    """

    def __init__(
        self,
        location: Location,
        *,
        patience_s: float = PATIENCE_S,
        may_wait: Callable[[], bool] | None = None,
    ) -> None:
        self.location = location
        self.patience_s = patience_s
        self._may_wait = may_wait
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
        *,
        is_worth_a_try: Callable[[BaseException], bool] | None = None,
    ) -> Answer:
        def transaction() -> Answer:
            with engine.begin() as connection:
                return step(connection)

        repeated = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_worth_a_try or self._is_worth_a_try),
            wait=_wait_s,
            stop=self._is_over,
            sleep=self._sleep,
            before_sleep=self._say,
            reraise=True,
        )
        with translated(self.location):
            return repeated(transaction)

    def _is_worth_a_try(self, error: BaseException) -> bool:
        if _is_passing(error) or is_locked(error):
            return True
        return self._may_wait is not None and is_full(error)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        if self._may_wait is not None and not self._may_wait():
            return True
        error = state.outcome and state.outcome.exception()
        assert isinstance(error, BaseException)
        if is_full(error):
            return False
        patience_s = BUSY_TIMEOUT_S if is_locked(error) else self.patience_s
        return tenacity.stop_after_delay(patience_s)(state)

    def _sleep(self, seconds: float) -> None:
        deadline = monotonic_s() + seconds
        while (rest_s := deadline - monotonic_s()) > 0:
            if self._may_wait is not None and not self._may_wait():
                return
            time.sleep(min(rest_s, _LOOK_S))

    def _say(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome and state.outcome.exception()
        if not isinstance(error, Exception):
            return
        if state.attempt_number == (_SILENT_TRIES if is_locked(error) else 1):
            found = f"database {self.location} is locked by another process"
            said = found if is_locked(error) else explain(self.location, error)
            _log.warning("%s; trying again", said)


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


_growing_s = tenacity.wait_random_exponential(multiplier=0.1, max=5)


def _wait_s(state: tenacity.RetryCallState) -> float:
    error = state.outcome and state.outcome.exception()
    is_waited = isinstance(error, BaseException) and is_locked(error)
    return 0.0 if is_waited else _growing_s(state)


def _is_passing(error: BaseException) -> bool:
    """Whether the same transaction may well succeed a moment later."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return False
    return _is_lost(error) or str(getattr(error.orig, "sqlstate", "")).startswith(_PASSING)


def _is_lost(error: DBAPIError) -> bool:
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) is None
