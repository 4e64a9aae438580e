"""Arguments from Python: what a caller may have given, refused in a line where it is of no use."""

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar

from sweep.errors import UsageError
from sweep.spec.kind import Kind

_Type = TypeVar("_Type")


def given(name: str, value: Any, kind: Kind) -> Any:
    """The value as its kind has it, None where it was not given. Raises UsageError."""
    return None if value is None else fitted(name, value, kind)


def fitted(name: str, value: Any, kind: Kind) -> Any:
    """The value as its kind has it. Raises UsageError."""
    try:
        return kind.fit(_only_plain(value, name))
    except ValueError as error:
        raise UsageError(f"{name} {error}") from error


def of_type(name: str, value: Any, kind: type[_Type], allowed: str) -> _Type:
    """The value, which is of that type. Raises UsageError with what is allowed instead."""
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise UsageError(f"{name} is {described(value)}; it takes {allowed}")


def path_text(name: str, value: Any, allowed: str) -> str:
    """A name or path as text. Raises UsageError for anything else, and for no text at all."""
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if isinstance(text, str) and text:
            return text
    raise UsageError(f"{name} is {described(value)}; it takes {allowed}")


def plain(value: Any, place: str) -> Any:
    """The value, which JSON can hold. Raises UsageError that names the first part it cannot."""
    try:
        return _plain(value, place)
    except RecursionError as error:
        raise UsageError(f"{place} holds itself, or is nested too deeply; flatten it") from error


def described(value: Any) -> str:
    """What was given, in a few words."""
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    kind = type(value).__name__
    name = getattr(value, "__name__", None)
    return f"the {kind} {name}" if isinstance(name, str) else f"of type {kind}"


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, Mapping):
        return {_key(key, place): _plain(each, _inside(place, key)) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_plain(each, f"{place}[{index}]") for index, each in enumerate(value)]
    return _only_plain(value, place)


def _only_plain(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return _utf8(value, place)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Integral):  # NumPy's numbers count as Python's own
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if callable(value):
        raise UsageError(
            f"{place} is {described(value)}; it takes text: name what is in a file as in "
            "./mine.py:train"
        )
    raise UsageError(
        f"{place} is {described(value)}; it takes text, a number, True, False, None, or a list or "
        "mapping of these"
    )


def _utf8(text: str, place: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{place} is {text!r}, which is no UTF-8; write it otherwise") from error
    return text


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise UsageError(f"{place} has the key {described(key)}; it takes keys of text")
    return _utf8(key, place)


def _inside(place: str, key: Any) -> str:
    return f"{place}: {key}" if ":" not in place else f"{place}.{key}"
