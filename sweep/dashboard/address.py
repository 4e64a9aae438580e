"""Address: the paths of our pages, made from names of any kind and read back from a request."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from sweep.errors import NotFoundError

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

COMPARE = "compare"
EXPORT, TRIALS = "export.csv", "trials"
_PARTS = ("state.json", "overview", "tables", EXPORT)
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyAddress:
    """What of a study is asked for: a part of its pages, a figure, or a trial and a part of it."""

    study: str
    part: str = ""
    figure: str | None = None
    trial: int | None = None

    @property
    def is_page(self) -> bool:
        """Whether it is the study's own page, or else what is none below it."""
        return not self.part and self.figure is None and self.trial is None


def study_path(name: str, *more: str) -> str:
    """The path of a study's page, or of what lies below it; a slash in the name is no slash."""
    return "/".join(("", COMPARE, _segment(name), *(quote(each, safe="") for each in more)))


def trial_path(name: str, trial: int | str, *more: str) -> str:
    """The path of a trial's page, or of a part of it."""
    return study_path(name, TRIALS, str(trial), *more)


def segments(environ: "WSGIEnvironment") -> list[str]:
    """The parts of the path that was asked for, each decoded after it was split off.

    A server that does not hand on the path as it was sent leaves only the decoded one. Raises
    NotFoundError for what is no path, or no UTF-8.
    """
    raw = environ.get("REQUEST_URI")
    try:
        path = urlsplit(raw).path if raw else quote(environ["PATH_INFO"], encoding="latin-1")
        parts = [unquote(each, errors="strict") for each in path.split("/")[1:]]
    except ValueError as error:
        raise NotFoundError("there is no such page") from error
    if not parts:
        raise NotFoundError("there is no such page")
    return parts


def is_number(text: str) -> bool:
    """Whether the text is a whole number of at most nine digits."""
    return _NUMBER.fullmatch(text) is not None


def study_address(parts: list[str]) -> StudyAddress:
    """What the parts after /compare/ ask for; a name may also stand there with its slashes.

    A slash at the end says nothing.
    """
    match parts:
        case [*rest, ""] if any(rest):
            return study_address(rest)
        case [*name, "figures", figure] if name:
            return StudyAddress(study=_name(name), figure=figure)
        case [*name, "trials", trial] if name and is_number(trial):
            return StudyAddress(study=_name(name), trial=int(trial))
        case [*name, "trials", trial, "detail" | "log" as part] if name and _NUMBER.fullmatch(
            trial
        ):
            return StudyAddress(study=_name(name), trial=int(trial), part=part)
        case [*name, part] if name and part in _PARTS:
            return StudyAddress(study=_name(name), part=part)
    return StudyAddress(study=_name(parts))


def below_study(parts: list[str]) -> tuple[str, str]:
    """A study, its name being the first of the parts after /compare/, and the path below it."""
    return _name(parts[:1]), "/".join(parts[1:]).rstrip("/")


def _segment(name: str) -> str:
    """A browser takes dots alone for a way up, so such a name has a mark before it."""
    mark = "~" if name.startswith("~") or name in (".", "..") else ""
    return quote(f"{mark}{name}", safe="")


def _name(parts: list[str]) -> str:
    return "/".join(parts).removeprefix("~")
