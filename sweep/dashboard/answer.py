"""Answer: what a page of ours answers, as a value, and how it is sent."""

import gzip
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
CSV = "text/csv; charset=utf-8"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'"
)
_GZIP = re.compile(r"gzip(;.*)?")
_REFUSED = re.compile(r";q=0(\.0*)?$")
_SMALL_BYTES = 1024
_FAST = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A status, a type, bytes, and headers of its own; `zipped` is the body gzipped before."""

    body: bytes
    content_type: str = HTML
    status: str = "200 OK"
    headers: tuple[tuple[str, str], ...] = ()
    zipped: bytes | None = None


def page(text: str, status: str = "200 OK") -> Answer:
    """A page or a piece of one."""
    return Answer(body=text.encode(errors="backslashreplace"), status=status)


def json_text(text: str, status: str = "200 OK") -> Answer:
    """JSON that is text already."""
    return Answer(body=text.encode(), content_type=JSON, status=status)


def json_value(value: Any, status: str = "200 OK") -> Answer:
    """A value as strict JSON: a number that is not finite is a bug of ours."""
    return json_text(json.dumps(value, ensure_ascii=False, allow_nan=False), status)


def elsewhere(path: str) -> Answer:
    """What was asked for is at the path."""
    return Answer(body=b"", status="303 See Other", headers=(("Location", path),))


def send(
    answer: Answer, environ: "WSGIEnvironment", start_response: "StartResponse"
) -> Iterable[bytes]:
    """The answer is sent, gzipped for who takes that: a tunnel is often the slowest part."""
    answer = _zipped(answer) if _takes_gzip(environ) else answer
    names = {name for name, _ in answer.headers}
    headers = [
        ("Content-Type", answer.content_type),
        ("Content-Length", str(len(answer.body))),
        ("Content-Security-Policy", PAGE_POLICY),
        ("Vary", "Accept-Encoding"),
        *answer.headers,
        *(() if "Cache-Control" in names else (("Cache-Control", "no-store"),)),
    ]
    start_response(answer.status, headers)
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer.body]


def _takes_gzip(environ: "WSGIEnvironment") -> bool:
    offers = environ.get("HTTP_ACCEPT_ENCODING", "").replace(" ", "").lower().split(",")
    return any(_GZIP.fullmatch(offer) and not _REFUSED.search(offer) for offer in offers)


def _zipped(answer: Answer) -> Answer:
    if len(answer.body) < _SMALL_BYTES:
        return answer
    body = answer.zipped or gzip.compress(answer.body, _FAST, mtime=0)
    return replace(answer, body=body, headers=(*answer.headers, ("Content-Encoding", "gzip")))
