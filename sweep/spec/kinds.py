"""Kinds: numbers, words, switches and text, as most keys take them.

A kind knows one value; it knows neither keys nor lines nor other values.
"""

import math
from dataclasses import dataclass
from typing import Any

from sweep.space.names import nearest
from sweep.spec.kind import MAX_WHOLE, Unfit, found, number_advice, unfit
from sweep.spec.words import CHOICE_SLIPS


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
        return self._span

    @property
    def _span(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def fit(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise unfit(value, self, number_advice(value))
        if value < self.low > -MAX_WHOLE:
            raise unfit(value, self)
        if not self.low <= value <= self.high:
            raise Unfit(f"is {found(value)}; it takes {self._span}")
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
            raise unfit(value, self, number_advice(value))
        if isinstance(value, int) and abs(value) > MAX_WHOLE:
            is_within = self.low <= value <= self.high
            advice = f": beyond {MAX_WHOLE} write a decimal point" if is_within else ""
            raise unfit(value, self, advice)
        number = float(value)
        too_low = number < self.low or (self.above and number == self.low)
        too_high = number > self.high or (self.below and number == self.high)
        if too_low or too_high or not math.isfinite(number):
            raise unfit(value, self, number_advice(value))
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
            raise unfit(value, self, _switch_advice(value))
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
            raise unfit(value, self, number_advice(value)) from error


def _switch_advice(value: Any) -> str:
    if isinstance(value, str) and value.casefold() in ("yes", "on", "y"):
        return ": write true"
    if isinstance(value, str) and value.casefold() in ("no", "off", "n"):
        return ": write false"
    return ""


def _listed(words: tuple[str, ...]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
