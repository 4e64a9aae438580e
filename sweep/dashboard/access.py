"""Access: a token that a browser shows once and then has as a cookie, or a script as a header."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

from sweep.errors import UsageError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

TOKEN = "token"
MIN_LENGTH = 16
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_HINT = "Open the address with ?token=... once, or send the header Authorization: Bearer ..."


@dataclass(frozen=True, slots=True)
class Token:
    """A secret that opens the dashboard; it is compared in constant time and never shown."""

    secret: str

    def __repr__(self) -> str:
        return "Token(***)"

    def matches(self, offered: str) -> bool:
        """Whether what was offered is the token."""
        return hmac.compare_digest(_digest(offered), _digest(self.secret))

    @property
    def cookie(self) -> str:
        """What a browser keeps in its place, which does not tell the token."""
        return hmac.new(self.secret.encode(), b"sweep dashboard", hashlib.sha256).hexdigest()


def new_token() -> Token:
    """A token that nobody can guess: 192 random bits."""
    return Token(secrets.token_urlsafe(24))


def given_token(secret: str) -> Token:
    """The user's own token. Raises UsageError where it is short or has letters that an address
    cannot carry as they are."""
    if len(secret) < MIN_LENGTH or not set(secret) <= _ALPHABET:
        raise UsageError(
            f"SWEEP_TOKEN is no token: it needs at least {MIN_LENGTH} letters, digits or -_.~, "
            "such as `openssl rand -hex 24` writes"
        )
    return Token(secret)


def with_token(app: "WSGIApplication", token: Token) -> "WSGIApplication":
    """`app` for those who have the token. A browser that shows it in an address is sent on to the
    same address without it, and has a cookie from then on."""

    def opened(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        pairs = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        offered = [value for key, value in pairs if key == TOKEN]
        if offered and token.matches(offered[0]):
            rest = [(key, value) for key, value in pairs if key != TOKEN]
            return _send_on(environ, start_response, token, rest)
        if not offered and _has_shown(environ, token):
            return app(environ, start_response)
        return _refuse(environ, start_response)

    return opened


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _has_shown(environ: "WSGIEnvironment", token: Token) -> bool:
    scheme, _, offered = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "bearer" and token.matches(offered.strip()):
        return True
    try:
        kept = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(_cookie_name(environ))
    except CookieError:
        return False
    return kept is not None and hmac.compare_digest(_digest(kept.value), _digest(token.cookie))


def _cookie_name(environ: "WSGIEnvironment") -> str:
    """Cookies know no ports: two dashboards under one name must not take each other's.

    The port is the one that the browser asked, which through a tunnel is not the server's own.
    """
    asked = environ.get("HTTP_HOST", "").rpartition("]")[2].rpartition(":")[2]
    is_port = asked.isascii() and asked.isdecimal()
    return f"sweep-{asked if is_port else environ.get('SERVER_PORT', '')}"


def _send_on(
    environ: "WSGIEnvironment",
    start_response: "StartResponse",
    token: Token,
    query: list[tuple[str, str]],
) -> Iterable[bytes]:
    raw = environ.get("REQUEST_URI") or quote(environ["PATH_INFO"], encoding="latin-1")
    path = "/" + raw.partition("?")[0].lstrip("/\\") if raw.startswith("/") else "/"
    place = f"{path}?{urlencode(query)}" if query else path
    cookie = f"{_cookie_name(environ)}={token.cookie}; Path=/; HttpOnly; SameSite=Lax"
    headers = [
        ("Location", place),
        ("Set-Cookie", cookie),
        ("Cache-Control", "no-store"),
        ("Content-Length", "0"),
    ]
    start_response("303 See Other", headers)
    return []


def _refuse(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    body = f"401: this dashboard is opened by a token. {_HINT}\n".encode()
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("WWW-Authenticate", 'Bearer realm="sweep"'),
    ]
    start_response("401 Unauthorized", headers)
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
