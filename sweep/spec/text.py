"""Text: the characters of a study file, refused before any parser sees them if they are odd."""

import os
import re
from pathlib import Path

from sweep.errors import Problem, StudyFileError

MAX_BYTES = 256 * 1024

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_INDENTING_TAB = re.compile(r"^ *\t", re.MULTILINE)


def read_text(path: Path, source: str) -> str:
    """The text of a study file, without a byte order mark, lines ending in a newline.

    Raises StudyFileError for a file that is absent, unreadable, too large, or not UTF-8 text.
    """
    data = _read_bytes(path, source)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise _refusal(source, line, f"byte 0x{byte:02x} is no UTF-8; save it as UTF-8") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    check_text(text, source)
    return text


def check_text(text: str, source: str) -> None:
    """Raises StudyFileError for control characters, tabs that indent, and nothing at all."""
    control = _CONTROL.search(text)
    if control is not None:
        message = f"the character U+{ord(control[0]):04X}; only printable text is taken: remove it"
        raise _refusal(source, _line(text, control.start()), message)
    tab_lines = [_line(text, tab.end() - 1) for tab in _INDENTING_TAB.finditer(text)]
    if tab_lines:
        message = "a tab; YAML takes spaces only: replace it"
        raise StudyFileError(
            [Problem(source=source, line=line, message=message) for line in tab_lines]
        )


def _read_bytes(path: Path, source: str) -> bytes:
    try:
        if path.is_dir():
            raise _refusal(source, None, "a folder; name a study file in it")
        if path.exists() and not path.is_file():
            raise _refusal(source, None, "no regular file; name a study file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                message = f"{size} bytes; a study file has at most {MAX_BYTES}: shorten it"
                raise _refusal(source, None, message)
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "no usable path").lower()
        raise _refusal(source, None, f"cannot be read ({reason}); check the path") from error


def _refusal(source: str, line: int | None, message: str) -> StudyFileError:
    return StudyFileError([Problem(source=source, line=line, message=message)])


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
