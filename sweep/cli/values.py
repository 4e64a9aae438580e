"""Values: what the text behind a flag may be, refused in the words of a study file."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from sweep.errors import UsageError
from sweep.spec.kind import Kind
from sweep.spec.scalars import scalar_value

_Picked = TypeVar("_Picked")


def picked(kind: type[_Picked], flags: Mapping[str, Any]) -> _Picked:
    """A dataclass made of the flags that are named like its fields."""
    return kind(**{field.name: flags[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def number(flag: str, kind: Kind) -> Callable[[str], Any]:
    """A parser of a flag's text as a number of that kind. It raises UsageError."""
    return _parser(flag, kind, scalar_value)


def word(flag: str, kind: Kind) -> Callable[[str], Any]:
    """A parser of a flag's text, as it stands, as one of that kind. It raises UsageError."""
    return _parser(flag, kind, str)


def place(flag: str, example: str) -> Callable[[str], str]:
    """A parser of a flag's text as the name of a file or folder. It raises UsageError for none."""

    def parse(text: str) -> str:
        if not text:
            raise UsageError(f"{flag} is empty; it takes a name such as {example}")
        return text

    return parse


def _parser(flag: str, kind: Kind, read: Callable[[str], Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return kind.fit(read(text))
        except ValueError as error:
            raise UsageError(f"{flag} {error}") from error

    return parse


def settings_of(texts: list[str]) -> dict[str, str]:
    """What `--set key=value` asks for, the last one of a key. Raises UsageError."""
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals):
            raise UsageError(
                f"--set {text!r} is no key=value; write it as in --set training.epochs=3"
            )
        settings[key.strip()] = value
    return settings
