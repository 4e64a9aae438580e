"""The engine: how Optuna reaches our database."""

import sqlite3
from typing import Any

from optuna.storages import RDBStorage


def escaped(url: str) -> str:
    """The URL as Optuna takes it."""
    # Optuna passes the URL through str.format, where a brace in a password would be a field.
    return url.replace("{", "%7B").replace("}", "%7D")


class _Connection(sqlite3.Connection):
    """A connection that does not wait for the disk: what a power cut takes is put again."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("PRAGMA synchronous = NORMAL")


def engine_arguments(url: str) -> dict[str, object]:
    """What SQLAlchemy is to know of the database."""
    if url.startswith("sqlite"):
        return {"connect_args": {"timeout": 60, "factory": _Connection}}
    reach = {"connect_timeout": 10, "keepalives_idle": 30, "tcp_user_timeout": 30_000}
    return {"pool_pre_ping": True, "connect_args": reach}


class ExistingTables(RDBStorage):
    """Optuna's storage over tables that are there; where they are not, that is an error.

    RDBStorage itself leaves its connections open when it cannot begin.
    """

    def __init__(self, url: str) -> None:
        try:
            super().__init__(escaped(url), engine_arguments(url), skip_table_creation=True)
        except Exception:
            if hasattr(self, "engine"):
                self.engine.dispose()
            raise
