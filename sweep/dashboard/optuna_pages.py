"""Optuna's pages: its dashboard over the projection, at the paths that its own links name."""

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import optuna_dashboard
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage

from sweep.dashboard.projection import close_projection, open_projection
from sweep.dashboard.source import Identity, Source
from sweep.errors import NotFoundError, SweepError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

ROOTS = frozenset(("dashboard", "api", "static", "csv", "artifacts", "favicon.ico"))
"""The first parts of its paths. They are absolute in its scripts, so it cannot lie elsewhere."""


class OptunaPages:
    """Optuna's dashboard, opened when it is first asked: its tables come with the first study.

    It is opened again where the database's file was replaced.
    """

    def __init__(self, url: str, source: Source) -> None:
        self._url = url
        self._source = source
        self._lock = threading.Lock()
        self._storage: BaseStorage | None = None
        self._identity: Identity = None
        self._app: WSGIApplication | None = None

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answers as Optuna does. Raises NotFoundError without its tables, and StorageError."""
        self._source.identity()
        environ.setdefault("HTTP_ACCEPT_ENCODING", "")  # its pages fail where it is absent
        try:
            app = self.open()
        except NotFoundError as error:
            raise NotFoundError(
                "Optuna has no tables in this database yet: the next `sweep run` makes them"
            ) from error
        return app(environ, start_response)

    def has(self, root: str) -> bool:
        """Whether a path that begins so is one of Optuna's."""
        return root in ROOTS

    def open(self) -> "WSGIApplication":
        """The application. Raises NotFoundError without Optuna's tables, and StorageError."""
        with self._lock:
            identity = self._source.identity() if self._source.is_present() else None
            if self._app is None or identity != self._identity:
                self._forget()
                self._storage = open_projection(self._url)
                self._app = optuna_dashboard.wsgi(self._storage)
                self._identity = identity
            return self._app

    def _forget(self) -> None:
        if self._storage is not None:
            close_projection(self._storage)
        self._storage = self._app = None

    def study_id(self, name: str) -> int | None:
        """The number that Optuna has given the study; None where it has none."""
        try:
            self.open()
            assert self._storage is not None
            return int(self._storage.get_study_id_from_name(name))
        except (KeyError, SweepError, StorageInternalError):
            return None
