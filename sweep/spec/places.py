"""Places: the files and functions that a study file names, made absolute from its folder."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.spec.kind import Kind, Unfit, found, unfit
from sweep.spec.kinds import Text

_FUNCTION = re.compile(r"(?P<place>.+):(?P<name>[^\W\d]\w*)")
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class FolderPath:
    """A path, relative to the study file's folder; ~ is the home folder."""

    folder: Path

    @property
    def allowed(self) -> str:
        return "a path, relative to the study file"

    def fit(self, value: Any) -> str:
        return str(_absolute(_text(value, self), self.folder))


@dataclass(frozen=True, slots=True)
class ExistingFile:
    """A file that is there, relative to the study file's folder."""

    folder: Path

    @property
    def allowed(self) -> str:
        return "a file, relative to the study file"

    def fit(self, value: Any) -> str:
        path = _absolute(_text(value, self), self.folder)
        if not path.is_file():
            raise Unfit(f"names {path}, which is no file; correct it or put the file there")
        return str(path)


@dataclass(frozen=True, slots=True)
class Function:
    """A function in a Python file or in an importable module."""

    folder: Path

    @property
    def allowed(self) -> str:
        return "FILE.py:NAME or MODULE:NAME, such as ./mine.py:name"

    def fit(self, value: Any) -> str:
        match = _FUNCTION.fullmatch(_text(value, self))
        if match is None:
            raise unfit(value, self)
        place, name = match["place"], match["name"]
        if not place.endswith(".py"):
            if not _MODULE.fullmatch(place):
                raise unfit(value, self)
            return f"{place}:{name}"
        path = _absolute(place, self.folder)
        if not path.is_file():
            raise Unfit(
                f"is {found(value)}, but there is no file {path}; write it or correct this"
            )
        return f"{path}:{name}"


def _text(value: Any, kind: Kind) -> str:
    if not isinstance(value, str):
        raise unfit(value, kind)
    return Text(4096).fit(value)


def _absolute(text: str, folder: Path) -> Path:
    try:
        path = Path(text).expanduser()
    except RuntimeError as error:
        raise Unfit(f"is {found(text)}, whose home folder is unknown; write it out") from error
    # normalized without following links, so that the spec keeps the path that was written
    return Path(os.path.normpath(folder / path))
