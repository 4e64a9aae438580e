"""A kind: the contract of what a key's value may be, and how a value that is not is told."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

MAX_WHOLE = 2**53
"""The largest whole number that every table, plot and sampler keeps exactly."""

_NUMBER_TEXT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Unfit(ValueError):
    """A value is not of its kind; the message goes on from the name of the key."""


class Kind(Protocol):
    """What a value may be."""

    @property
    def allowed(self) -> str:
        """What is allowed, as the end of "it takes ..."."""
        ...

    def fit(self, value: Any) -> Any:
        """The value in its final form. Raises Unfit with what was found and what is allowed."""
        ...


def found(value: Any) -> str:
    """What a value is, for a message: short, and telling text from numbers."""
    if isinstance(value, str):
        return f"the text {_shortened(value)!r}"
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        is_enormous = isinstance(value, int) and abs(value) >= 10**60
        return "an enormous number" if is_enormous else repr(value)
    if isinstance(value, Mapping):
        return "a mapping"
    is_flat = not any(isinstance(each, Mapping | list) for each in value)
    return _shortened(f"[{', '.join(map(_entry, value))}]") if is_flat else "a list"


def unfit(value: Any, kind: Kind, advice: str = "") -> Unfit:
    """The usual complaint about a value: what it is, what is allowed, and what to do."""
    return Unfit(f"is {found(value)}; it takes {kind.allowed}{advice}")


def number_advice(value: Any) -> str:
    """What to do about text in place of a number."""
    text = value.strip() if isinstance(value, str) else ""
    if _NUMBER_TEXT.fullmatch(text):
        return ": write it without quotes"
    return ": write a decimal point" if _NUMBER_TEXT.fullmatch(text.replace(",", ".", 1)) else ""


def _entry(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return found(value)
    if value is None:
        return "~"
    return value if isinstance(value, str) and value.isprintable() else "..."


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
