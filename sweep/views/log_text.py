"""Log text: what an attempt printed, as it is read where no terminal obeys it."""

import re

_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_OVERWRITTEN = re.compile(r"[^\n\r]*\r(?=[^\n\r])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def without_escapes(data: bytes) -> bytes:
    """The bytes without the sequences that colour a terminal or move its cursor."""
    return _ESCAPES.sub(b"", data)


def readable(data: bytes) -> str:
    """The text as a terminal would leave it: of a line that was written over, the last writing.

    What is no UTF-8 and what controls a terminal is left out or marked.
    """
    text = without_escapes(data).decode(errors="replace").replace("\r\n", "\n")
    return _CONTROLS.sub("", _OVERWRITTEN.sub("", text).replace("\r", ""))
