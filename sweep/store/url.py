"""Database URLs: which are taken, what they point at, and how they are shown to people."""

import contextlib
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from sweep.errors import UsageError

DEFAULT_URL = "sqlite:///runs/sweep.db"

ALLOWED = "sqlite:///PATH or postgresql://USER:PASSWORD@HOST:PORT/DATABASE"

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """Where a database is: its checked URL, and its absolute path if it is a SQLite file.

    `shown` is the place for people: the path, or the URL without its password.
    """

    url: URL
    path: Path | None
    shown: str

    def __str__(self) -> str:
        return self.shown

    @property
    def connection_string(self) -> str:
        """The URL with its password and an absolute path: for libraries, never for people."""
        return self.url.render_as_string(hide_password=False)


def default_url(environ: Mapping[str, str]) -> str:
    """The URL where no flag names one: SWEEP_STORAGE, OPTUNA_STORAGE, or a file in `runs`."""
    return environ.get("SWEEP_STORAGE") or environ.get("OPTUNA_STORAGE") or DEFAULT_URL


def storage_flag(location: "Location") -> str:
    """What a command needs after its study's name to find that database: nothing by default."""
    with contextlib.suppress(UsageError):
        if locate(default_url(os.environ)).shown == location.shown:
            return ""
    url = location.shown if location.path is None else f"sqlite:///{location.path}"
    return f" --storage {shlex.quote(url)}"


def hide_password(text: str) -> str:
    """The URL with its passwords replaced by ***, also when it is badly escaped."""
    text = re.sub(
        r"([?&][^=&]*(?:password|passwd|secret)[^=&]*=)[^&]*", r"\1***", text, flags=re.I
    )
    head, mark, tail = text.partition("://")
    if "@" in tail:
        users, _, place = tail.rpartition("@")
        user, colon, _ = users.partition(":")
        return f"{head}{mark}{user}{colon}{'***' if colon else ''}@{place}"
    # Without an @ a password may stand where the port should be.
    return head + mark + re.sub(r"^([^/:?\[]*):(?!\d{1,5}(?:[/?]|$))[^/?]+", r"\1:***", tail)


def locate(text: str) -> Location:
    """The place that a URL names; nothing is touched.

    Raises UsageError for a plain path, an unknown driver, and a URL that cannot be read.
    """
    if "://" not in text:
        raise UsageError(_not_a_url(text))
    scheme = text.partition("://")[0]
    if scheme not in _DRIVERS:
        raise UsageError(
            f"storage {hide_password(text)}: {scheme}:// is not known; write {ALLOWED}"
        )
    url = _parse(text).set(drivername=_DRIVERS[scheme])
    if url.drivername == "sqlite":
        return _locate_file(text, url)
    return Location(url=url, path=None, shown=hide_password(text))


def _not_a_url(text: str) -> str:
    shown = hide_password(text)
    if not text.strip():
        return f"the storage is empty; write {ALLOWED}"
    if re.match(r"^\w[\w+]*:", text):
        return f"storage {shown} is no URL; write {ALLOWED}"
    return f"{shown} is a path; write sqlite:///{shown}"


def _parse(text: str) -> URL:
    shown = hide_password(text)
    _refuse_unescaped(text)
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        # Not from the error: its text may be a part of the password.
        raise UsageError(
            f"storage {shown} cannot be read as a URL; write {ALLOWED}, "
            "with every special character of the password as %XX"
        ) from None


def _refuse_unescaped(text: str) -> None:
    """A bare @, / or ? in a password moves the rest of it into the host, which errors show."""
    authority, *rest = re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)
    if authority.count("@") > 1 or any("@" in part for part in rest if not _is_file(text)):
        raise UsageError(
            f"storage {hide_password(text)}: an @ that is not the one before the host; "
            "in a password write @ as %40, / as %2F, ? as %3F, # as %23, : as %3A"
        )


def _is_file(text: str) -> bool:
    return text.startswith("sqlite")


def _locate_file(text: str, url: URL) -> Location:
    if url.host or url.username:
        rest = text.partition("://")[2]
        raise UsageError(f"storage {text}: a SQLite URL has three slashes; write sqlite:///{rest}")
    if url.database in (None, "", ":memory:") or str(url.database).startswith("file:"):
        raise UsageError(f"storage {text} names no file that stays; write {DEFAULT_URL}")
    if url.query:
        raise UsageError(f"storage {text}: a SQLite URL takes no ?options; write sqlite:///PATH")
    path = Path(str(url.database)).absolute()
    if str(url.database).endswith("/"):
        raise UsageError(f"storage {text} names a folder; write sqlite:///{path}/sweep.db")
    return Location(url=url.set(database=str(path)), path=path, shown=str(path))
