"""Asset: the files that our pages are made with; nothing is fetched from anywhere else.

Each has a mark of its content in its path, so that a browser may keep it for good.
"""

import gzip
import hashlib
from functools import cache
from importlib.resources import files

from sweep.dashboard.answer import Answer
from sweep.errors import NotFoundError
from sweep.views.browser import plotly_library

ASSETS = "assets"
PLOTLY = "plotly.js"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_PLACES = {
    "report.css": "sweep.views",
    "pages.css": "sweep.dashboard",
    "pages.js": "sweep.dashboard",
    "figures.js": "sweep.dashboard",
    "icon.svg": "sweep.dashboard",
}
_FOR_GOOD = ("Cache-Control", "private, max-age=31536000, immutable")


def asset_path(name: str) -> str:
    """The path of a file of ours."""
    return f"/{ASSETS}/{_mark(name)}/{name}"


def asset(name: str) -> Answer:
    """The file of that name. Raises NotFoundError."""
    if name not in _PLACES and name != PLOTLY:
        raise NotFoundError(f"there is no file {name} here")
    return _answer(name)


@cache
def _answer(name: str) -> Answer:
    body = _content(name)
    return Answer(
        body=body,
        content_type=_TYPES[name.rpartition(".")[2]],
        headers=(_FOR_GOOD,),
        zipped=gzip.compress(body, mtime=0),
    )


@cache
def _mark(name: str) -> str:
    return hashlib.sha256(_content(name)).hexdigest()[:12]


@cache
def _content(name: str) -> bytes:
    if name == PLOTLY:
        return plotly_library().encode()
    return files(_PLACES[name]).joinpath(name).read_bytes()
