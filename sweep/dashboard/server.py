"""Server: the guarded dashboard on one port of this machine, until a signal ends it."""

import errno
import logging
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import psutil
from waitress import create_server, wasyncore

from sweep.dashboard.access import Token, with_token
from sweep.dashboard.guard import guard, is_loopback
from sweep.dashboard.library import Library
from sweep.dashboard.optuna_pages import OptunaPages
from sweep.dashboard.pages import Pages
from sweep.dashboard.source import Source
from sweep.errors import NotFoundError, UnusableError, UsageError

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

NUM_THREADS = 8
MAX_BODY_BYTES = 64 * 1024
POLL_S = 1.0
MOST_CONNECTIONS = 500
IDLE_S = 15
"""How long a connection that says nothing is kept: who only connects must not shut others out."""
CLEANUP_S = 5
_log = logging.getLogger(__name__)
_EVERYWHERE = ("0.0.0.0", "::")
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?")
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the dashboard answers; `port` 0 is any free one, `allow_hosts` other names for it.

    `token` is who may ask: None lets in every user of this machine, and nobody else.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    allow_hosts: tuple[str, ...] = ()
    token: Token | None = None


def serve(
    url: str, place: Place = Place(), announce: Callable[[str], None] | None = None
) -> signal.Signals:
    """Serves the database at `url` until SIGINT or SIGTERM, which it returns.

    `announce` is called once with the address, when it answers; by default the address goes to
    stdout.

    Raises:
        UsageError: others can reach the host and there is no token, or the port is no port.
        NotFoundError, StorageError: there is nothing to show, or it cannot be read.
        UnusableError: the port is taken.
    """
    check_place(place)
    with Source(url) as source:
        library = Library(source)
        app = dashboard_app(url, source, library, place)
        with (
            DashboardServer(app, host=place.host, port=place.port) as server,
            _signals_to(server.end),
        ):
            (announce or _announce)(server.url)
            threading.Thread(target=_warm, args=[library], daemon=True).start()
            return server.run()


def _warm(library: Library) -> None:
    """Large studies are read before they are looked at; what fails is told to who looks."""
    try:
        library.warm()
    except Exception as error:
        _log.debug("nothing was read ahead: %s", error)


def dashboard_app(
    url: str, source: Source, library: Library, place: Place = Place()
) -> "WSGIApplication":
    """Our pages and Optuna's over the database at `url`, read-only, behind the guard."""
    optuna = OptunaPages(url, source)
    _check_stored(source, optuna)
    app: WSGIApplication = Pages(library, optuna)
    if place.token is not None:
        app = with_token(app, place.token)
    return guard(app, allow_hosts=(*place.allow_hosts, *own_names(place.host)))


def _check_stored(source: Source, optuna: OptunaPages) -> None:
    """Returns when there are studies of ours, or Optuna's tables. Raises as `serve` does."""
    if source.is_present():
        with suppress(NotFoundError):
            source.store()
            return
    optuna.open()


class DashboardServer:
    """A threaded WSGI server on one port of a host; the port is bound while it is entered."""

    def __init__(self, app: "WSGIApplication", *, host: str, port: int) -> None:
        self._app = app
        self._host = host
        self._port = port
        self._sockets: dict[int, Any] = {}
        self._ended_by: signal.Signals | None = None

    def __enter__(self) -> "DashboardServer":
        logging.getLogger("waitress").setLevel(logging.ERROR)  # it counts its queue aloud
        listener = _listen(self._host, self._port)
        self._port = listener.getsockname()[1]
        self._server = create_server(
            self._app,
            map=self._sockets,
            sockets=[listener],
            threads=NUM_THREADS,
            max_request_body_size=MAX_BODY_BYTES,
            connection_limit=MOST_CONNECTIONS,
            channel_timeout=IDLE_S,
            cleanup_interval=CLEANUP_S,
            ident=None,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.task_dispatcher.shutdown()
        wasyncore.close_all(self._sockets)

    @property
    def url(self) -> str:
        """The address that a browser opens."""
        host = socket.gethostname() if self._host in _EVERYWHERE else self._host
        return f"http://{_in_url(host)}:{self._port}"

    def run(self) -> signal.Signals:
        """Answers requests until `end` is called, and returns the signal it was called with."""
        while self._ended_by is None:
            wasyncore.loop(timeout=POLL_S, use_poll=True, map=self._sockets, count=1)
        return self._ended_by

    def end(self, number: int, _frame: FrameType | None = None) -> None:
        """`run` returns soon; a signal handler."""
        self._ended_by = signal.Signals(number)
        self._server.pull_trigger()


def check_place(place: Place) -> None:
    """Returns when only those can look who may. Raises UsageError."""
    if place.token is None and not is_loopback(place.host):
        raise UsageError(
            f"--host {place.host} would show the studies to the network without a token: set "
            "SWEEP_TOKEN, or keep 127.0.0.1 and use `ssh -L 8080:localhost:8080 THIS_MACHINE`"
        )
    if not place.host:
        raise UsageError("--host is empty: give 127.0.0.1, or 0.0.0.0 for every address")
    for name in place.allow_hosts:
        if not _HOST.fullmatch(name):
            raise UsageError(
                f"--allow-host {name!r} is no host: give it as it stands in the address bar, such "
                "as box.example or box.example:8080"
            )
    if not 0 <= place.port <= 65535:
        raise UsageError(f"--port {place.port} is no port: give 1 to 65535, or 0 for any free one")


def own_names(host: str) -> list[str]:
    """The names and addresses that a server beyond loopback is known by without being told."""
    if is_loopback(host):
        return []
    if host not in _EVERYWHERE:
        return [_in_url(host)]
    found = (each for addresses in psutil.net_if_addrs().values() for each in addresses)
    own = [each.address.partition("%")[0] for each in found if each.family in _FAMILIES]
    return [socket.gethostname(), *map(_in_url, own)]


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        is_unknown = (error.errno or 0) < 0  # a code of getaddrinfo's, and none of the system's
        if is_unknown or error.errno == errno.EADDRNOTAVAIL:
            raise UnusableError(
                f"--host {host} is no address of this machine: give one that is, or 127.0.0.1"
            ) from error
        raise UnusableError(
            f"port {port} on {host} cannot be used ({error.strerror}): give another --port,"
            " or 0 for any free one"
        ) from error


@contextmanager
def _signals_to(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGINT and SIGTERM go to `handler` inside, and where they went before afterwards."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
