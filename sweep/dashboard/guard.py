"""Guard: what a browser may ask of the dashboard, and nothing of what it answers."""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

READING_METHODS = ("GET", "HEAD")

SECURITY_HEADERS = (
    ("Content-Security-Policy", "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


def guard(app: "WSGIApplication", *, allow_hosts: Iterable[str] = ()) -> "WSGIApplication":
    """`app` behind a door that only lets reading requests in, and only under a known name.

    A name is known when it is this machine's loopback, with any port (a tunnel may end at another
    one), or one of `allow_hosts`, each a host or a host:port as it stands in the address bar.
    """
    known = frozenset(host.lower() for host in allow_hosts)

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        protected = _with_security_headers(start_response)
        reason = _reason_to_refuse(environ, known)
        if reason is not None:
            return _refuse(reason, protected)
        return app(environ, protected)

    return guarded


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address without a port, can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _reason_to_refuse(environ: "WSGIEnvironment", known: frozenset[str]) -> str | None:
    if environ["REQUEST_METHOD"] not in READING_METHODS:
        return "This dashboard is read-only: only GET and HEAD are answered."
    if not _is_known(environ.get("HTTP_HOST", "").lower(), known):
        return "This name is not allowed: use localhost, or start with --allow-host NAME."
    return None


def _is_known(authority: str, known: frozenset[str]) -> bool:
    """Refuses a foreign name that was made to point here (DNS rebinding)."""
    host = _without_port(authority)
    return authority in known or host in known or is_loopback(host)


def _without_port(authority: str) -> str:
    host, colon, port = authority.rpartition(":")
    return host if colon and port.isdecimal() and not host.endswith(":") else authority


def _refuse(reason: str, start_response: "StartResponse") -> Iterable[bytes]:
    body = f"{reason}\n".encode()
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start_response("403 Forbidden", headers)
    return [body]


def _with_security_headers(start_response: "StartResponse") -> "StartResponse":
    def protected(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
    ) -> Callable[[bytes], object]:
        return start_response(status, [*headers, *SECURITY_HEADERS], exc_info)

    return protected
