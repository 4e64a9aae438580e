"""The schema's revision: what a database has, what this version wants, and the way there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, column, inspect, select, table, text

from sweep.errors import NotFoundError, StorageError
from sweep.store import sqlite
from sweep.store.database import Database
from sweep.store.failures import translated
from sweep.store.schema import VERSION_TABLE
from sweep.store.url import Location

MIGRATIONS = Path(__file__).parent / "migrations"

_OPTUNAS_SIGN = "version_info"
_OPTUNAS_NAMES = {"studies", "trials"}

# Any number that no other program locks: "sweep" in ASCII.
_ADVISORY_LOCK = 0x7377656570


def newest(folder: Path = MIGRATIONS) -> str:
    """The revision that this version of the program works with."""
    return max(path.name[1:5] for path in (folder / "versions").glob("r????_*.py"))


def found(connection: Connection) -> str | None:
    """The revision that the database has; None without our tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))


def is_current(database: Database, folder: Path = MIGRATIONS) -> bool:
    """Whether the database can be used as it is; False if tables must be made or changed.

    Raises StorageError for a revision that only a newer version of the program knows.
    """
    revision = database.once(found)
    head = newest(folder)
    if revision is None:
        return False
    if not revision.isdecimal() or int(revision) > int(head):
        raise StorageError(
            f"database {database.location} has schema revision {revision}, this version knows "
            f"revisions up to {head}; upgrade it: pip install --upgrade sweep-trials"
        )
    return revision == head


def check_owner(database: Database) -> None:
    """Raises StorageError for a database without our tables that holds somebody else's.

    Optuna's are welcome. On a server others may lie beside ours, unless they have Optuna's names.
    """
    tables = database.once(lambda connection: set(inspect(connection).get_table_names()))
    if tables & {VERSION_TABLE, _OPTUNAS_SIGN}:
        return
    in_the_way = tables if database.location.path is not None else tables & _OPTUNAS_NAMES
    if in_the_way:
        raise StorageError(
            f"database {database.location} belongs to something else: it has the table "
            f"{min(in_the_way)!r}; name another one with --storage"
        )


def make(database: Database, folder: Path = MIGRATIONS) -> None:
    """The database has our tables at the newest revision, whoever else starts just now.

    An older SQLite file is copied to one beside it before anything is changed.
    """
    path = database.location.path
    if path is not None:
        with translated(database.location):
            path.parent.mkdir(parents=True, exist_ok=True)
    with schema_lock(database):
        is_new = path is not None and not path.exists()
        try:
            _make(database, folder)
        except BaseException:
            if is_new and path is not None:
                database.close()
                sqlite.remove_file(path)
            raise


def upgrade(database: Database, folder: Path = MIGRATIONS) -> None:
    """As `make`, for a database that must be there. Raises NotFoundError without our tables."""
    if database.once(found) is None:
        raise absent(database.location)
    make(database, folder)


def absent(location: Location) -> NotFoundError:
    return NotFoundError(
        f"no studies in {location}: nothing was stored there; start one with `sweep run`, "
        "or name another database with --storage"
    )


@contextmanager
def schema_lock(database: Database) -> Iterator[None]:
    """Inside, no other process makes or changes tables in the database, ours or Optuna's."""
    path = database.location.path
    if path is not None:
        with sqlite.folder_lock(path.parent):
            yield
    else:
        with _advisory_lock(database):
            yield


@contextmanager
def _advisory_lock(database: Database) -> Iterator[None]:
    with translated(database.location):
        connection = database.engine.connect()
    # The lock lasts as long as this connection's transaction; that of the tables is another.
    with connection:
        with translated(database.location):
            connection.execute(text(f"SET LOCAL lock_timeout = '{sqlite.LOCK_TIMEOUT_S:.0f}s'"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        yield


def _make(database: Database, folder: Path) -> None:
    path = database.location.path
    if path is not None:
        with translated(database.location):
            sqlite.make_file(path)
    check_owner(database)
    if path is not None:
        with translated(database.location):
            sqlite.use_write_ahead_log(path)
    if is_current(database, folder):
        return
    revision = database.once(found)
    if path is not None and revision is not None:
        with translated(database.location):
            sqlite.back_up(path, revision)
    database.write(lambda connection: _run(connection, folder))


def _run(connection: Connection, folder: Path) -> None:
    # Only here: alembic takes a quarter of a second, and most starts have nothing to change.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def is_own(item: object, name: str | None, kind: str, reflected: bool, compare_to: object) -> bool:
    """Whether alembic may look at the table: never at Optuna's, which it would drop."""
    return kind != "table" or (name or "").startswith("sweep_")
