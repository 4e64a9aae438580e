"""Server: the guarded dashboard on a loopback port, until a signal ends it."""

import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import optuna_dashboard
from waitress import create_server, wasyncore

from sweep.dashboard.guard import guard, is_loopback
from sweep.dashboard.projection import open_projection
from sweep.errors import UnusableError, UsageError

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

NUM_THREADS = 8
MAX_BODY_BYTES = 64 * 1024
POLL_S = 1.0


def serve(
    url: str,
    host: str = "127.0.0.1",
    port: int = 8080,
    allow_hosts: Iterable[str] = (),
    announce: Callable[[str], None] | None = None,
) -> signal.Signals:
    """Serves the database at `url` until SIGINT or SIGTERM, which it returns.

    `port` 0 takes any free one. `announce` is called once with the address, when it answers; by
    default the address goes to stdout.

    Raises:
        UsageError: `host` is not this machine's loopback, or `port` is no port.
        NotFoundError, StorageError: there is nothing to show, or it cannot be read.
        UnusableError: the port is taken.
    """
    app = dashboard_app(url, allow_hosts=allow_hosts)
    with DashboardServer(app, host=host, port=port) as server, _signals_to(server.end):
        (announce or _announce)(server.url)
        return server.run()


def dashboard_app(url: str, *, allow_hosts: Iterable[str] = ()) -> "WSGIApplication":
    """Optuna's dashboard over the database at `url`, read-only, behind the guard."""
    pages = optuna_dashboard.wsgi(open_projection(url))
    return guard(pages, allow_hosts=allow_hosts)


class DashboardServer:
    """A threaded WSGI server on one loopback port; the port is bound while it is entered."""

    def __init__(self, app: "WSGIApplication", *, host: str, port: int) -> None:
        _check_address(host, port)
        self._app = app
        self._host = host
        self._port = port
        self._sockets: dict[int, Any] = {}
        self._ended_by: signal.Signals | None = None

    def __enter__(self) -> "DashboardServer":
        listener = _listen(self._host, self._port)
        self._port = listener.getsockname()[1]
        self._server = create_server(
            self._app,
            map=self._sockets,
            sockets=[listener],
            threads=NUM_THREADS,
            max_request_body_size=MAX_BODY_BYTES,
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
        """The address a browser on this machine opens."""
        name = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{name}:{self._port}"

    def run(self) -> signal.Signals:
        """Answers requests until `end` is called, and returns the signal it was called with."""
        while self._ended_by is None:
            wasyncore.loop(timeout=POLL_S, map=self._sockets, count=1)
        return self._ended_by

    def end(self, number: int, _frame: FrameType | None = None) -> None:
        """`run` returns soon; a signal handler."""
        self._ended_by = signal.Signals(number)
        self._server.pull_trigger()


def _check_address(host: str, port: int) -> None:
    if not is_loopback(host):
        raise UsageError(
            f"--host {host} would show the studies to the network without a password: keep"
            " 127.0.0.1, and from another machine use `ssh -L 8080:localhost:8080 THIS_MACHINE`"
        )
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port} is no port: give 1 to 65535, or 0 for any free one")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
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
