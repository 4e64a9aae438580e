"""Source: the database behind the pages, opened when asked, and again when it was replaced."""

import threading
from types import TracebackType
from typing import Self

from sweep.errors import StorageError
from sweep.store.store import Store, open_store
from sweep.store.url import locate

Identity = tuple[int, int] | None


class Source:
    """One database by its URL. A lock on it is not waited for: the page says so and asks again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._location = locate(url)
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._identity: Identity = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Every connection is closed; the next question opens them again."""
        with self._lock:
            self._forget()

    def store(self) -> Store:
        """The open store. Raises StorageError where it cannot be used or is gone, NotFoundError
        where it holds nothing of ours."""
        with self._lock:
            identity = self.identity()
            if self._store is None or identity != self._identity:
                self._forget()
                self._store = open_store(self._url, create=False, may_wait=lambda: False)
                self._identity = identity
            return self._store

    def is_present(self) -> bool:
        """Whether the database's file is there; of a server nothing is asked."""
        return self._location.path is None or self._location.path.exists()

    def identity(self) -> Identity:
        """What differs once the database's file was replaced; of a server None.

        Raises StorageError where the file is gone.
        """
        path = self._location.path
        if path is None:
            return None
        try:
            found = path.stat()
        except OSError as error:
            raise StorageError(
                f"database {self._location} is gone or out of reach: put it back, or start again "
                "with another --storage"
            ) from error
        return found.st_dev, found.st_ino

    def _forget(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = None
