"""Kinds: what a key's value may be, how that is said to people, and the value in its final form.

A kind knows one value; it knows neither keys nor lines nor other values.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sweep.space.names import nearest
from sweep.spec.words import CHOICE_SLIPS

MAX_WHOLE = 2**53
"""The largest whole number that every table, plot and sampler keeps exactly."""

_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
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


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `low` to `high`."""

    low: int
    high: int = MAX_WHOLE

    @property
    def allowed(self) -> str:
        if self.low == -MAX_WHOLE:
            return "a whole number"
        if self.high == MAX_WHOLE:
            return f"a whole number of at least {self.low}"
        return f"a whole number from {self.low} to {self.high}"

    def fit(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise unfit(value, self)
        if not self.low <= value <= self.high:
            raise unfit(value, self)
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number of at least `low` (above it, if `above`) and at most `high`."""

    low: float = -math.inf
    above: bool = False
    high: float = math.inf
    below: bool = False

    @property
    def allowed(self) -> str:
        words = []
        if self.low > -math.inf:
            words.append(f"above {self.low:g}" if self.above else f"of at least {self.low:g}")
        if self.high < math.inf:
            words.append(f"below {self.high:g}" if self.below else f"at most {self.high:g}")
        return " ".join(["a number", " and ".join(words)]).strip()

    def fit(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise unfit(value, self)
        if isinstance(value, int) and abs(value) > MAX_WHOLE:
            raise unfit(value, self)
        number = float(value)
        too_low = number < self.low or (self.above and number == self.low)
        too_high = number > self.high or (self.below and number == self.high)
        if too_low or too_high or not math.isfinite(number):
            raise unfit(value, self)
        return number


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some known words, in any case."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        return _listed(self.words)

    def fit(self, value: Any) -> str:
        if not isinstance(value, str):
            raise unfit(value, self)
        word = value.casefold()
        if word in self.words:
            return word
        slip = CHOICE_SLIPS.get(word, "")
        near = slip if slip.partition(" ")[0] in self.words else nearest(value, self.words)
        advice = f": did you mean {near}?" if near else ""
        raise Unfit(f"is {found(value)}; it takes {self.allowed}{advice}")


@dataclass(frozen=True, slots=True)
class Switch:
    """true or false."""

    @property
    def allowed(self) -> str:
        return "true or false"

    def fit(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise unfit(value, self)
        return value


@dataclass(frozen=True, slots=True)
class Text:
    """Printable text of one line, or of several."""

    max_chars: int
    several_lines: bool = False

    @property
    def allowed(self) -> str:
        return f"text of 1 to {self.max_chars} printable characters"

    def fit(self, value: Any) -> str:
        if isinstance(value, bool | int | float):
            raise Unfit(f"is {found(value)}, not text; put it in quotes")
        if not isinstance(value, str):
            raise unfit(value, self)
        printable = value.replace("\n", "") if self.several_lines else value
        if not 1 <= len(value) <= self.max_chars or not printable.isprintable():
            raise unfit(value, self)
        return value


@dataclass(frozen=True, slots=True)
class StudyName:
    """A name that people can type and that a folder can be found for."""

    @property
    def allowed(self) -> str:
        return "1 to 200 printable characters without / and \\"

    def fit(self, value: Any) -> str:
        name = Text(200).fit(value)
        if "/" in name or "\\" in name or name != name.strip() or name in (".", ".."):
            raise unfit(value, self)
        return name


@dataclass(frozen=True, slots=True)
class Epochs:
    """A rising list of epochs, or the same as text: "100, 150" (so that it can be a choice)."""

    @property
    def allowed(self) -> str:
        return "rising epochs of at least 1, as a list ([100, 150]) or as text ('100,150')"

    def fit(self, value: Any) -> tuple[int, ...]:
        if isinstance(value, str) and re.fullmatch(r"\s*\d{1,9}(\s*,\s*\d{1,9})*\s*", value):
            value = [int(part) for part in value.split(",")]
        if not isinstance(value, list | tuple) or not all(_is_epoch(each) for each in value):
            raise unfit(value, self)
        if list(value) != sorted(set(value)):
            raise unfit(value, self)
        return tuple(value)


@dataclass(frozen=True, slots=True)
class OrNone:
    """A number of a kind, or none (also 0, so that it can be searched)."""

    kind: Number

    @property
    def allowed(self) -> str:
        return f"none or {self.kind.allowed}"

    def fit(self, value: Any) -> float | None:
        if value is None or (isinstance(value, str) and value.casefold() == "none"):
            return None
        if not isinstance(value, bool) and value == 0:
            return None
        try:
            return self.kind.fit(value)
        except Unfit as error:
            raise unfit(value, self) from error


@dataclass(frozen=True, slots=True)
class Duration:
    """A time as text with units; its final form is in seconds."""

    @property
    def allowed(self) -> str:
        return "a time with a unit, such as 90s, 30m, 2h or 1h30m"

    def fit(self, value: Any) -> float:
        text = value.replace(" ", "") if isinstance(value, str) else ""
        if len(text) > 40 or not _DURATION.fullmatch(text):
            raise unfit(value, self)
        parts = _DURATION_PART.findall(text)
        seconds = sum(float(number) * _UNIT_S[unit] for number, unit in parts)
        if not 0 < seconds <= MAX_WHOLE:
            raise unfit(value, self)
        return seconds


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
    return _shortened(f"[{', '.join(map(str, value))}]") if is_flat else "a list"


def unfit(value: Any, kind: Kind) -> Unfit:
    """The usual complaint about a value, with the usual advice."""
    return Unfit(f"is {found(value)}; it takes {kind.allowed}{_advice(value, kind)}")


def _advice(value: Any, kind: Kind) -> str:
    if isinstance(kind, Switch):
        return _switch_advice(value)
    if isinstance(kind, Whole | Number | OrNone) and isinstance(value, str):
        if _NUMBER_TEXT.fullmatch(value.strip()):
            return ": write it without quotes"
        if _NUMBER_TEXT.fullmatch(value.strip().replace(",", ".", 1)):
            return ": write a decimal point"
    if isinstance(kind, Duration) and isinstance(value, int | float):
        return ": add the unit"
    return ""


def _switch_advice(value: Any) -> str:
    if isinstance(value, str) and value.casefold() in ("yes", "on", "y"):
        return ": write true"
    if isinstance(value, str) and value.casefold() in ("no", "off", "n"):
        return ": write false"
    return ""


def _is_epoch(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_WHOLE


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(words: tuple[str, ...]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
