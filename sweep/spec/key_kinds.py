"""Key kinds: values that one key alone takes: a study's name, epochs, a time."""

import re
from dataclasses import dataclass
from typing import Any

from sweep.spec.kind import MAX_WHOLE, Unfit, number_advice, unfit
from sweep.spec.kinds import Text, Whole

_MAX_NAME = 200
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_UNIT_BYTES = {
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(MB|GB|TB|MiB|GiB|TiB)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_EPOCHS = re.compile(r"\s*\d{1,9}(\s*,\s*\d{1,9})*\s*")


@dataclass(frozen=True, slots=True)
class StudyName:
    """A name that people can type and that a folder can be found for."""

    @property
    def allowed(self) -> str:
        return (
            f"1 to {_MAX_NAME} printable characters without / and \\, no blanks at the ends, "
            "and not . or .. alone"
        )

    def fit(self, value: Any) -> str:
        name = Text(_MAX_NAME).fit(value)
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
        if isinstance(value, str) and _EPOCHS.fullmatch(value):
            value = [int(part) for part in value.split(",")]
        if not isinstance(value, list | tuple) or not all(_is_epoch(each) for each in value):
            raise unfit(value, self)
        if list(value) != sorted(set(value)):
            raise unfit(value, self)
        return tuple(value)


@dataclass(frozen=True, slots=True)
class Duration:
    """A time as text with units; its final form is in seconds."""

    @property
    def allowed(self) -> str:
        return "a time with a unit, such as 90s, 30m, 2h or 1h30m"

    def fit(self, value: Any) -> float:
        text = value.replace(" ", "") if isinstance(value, str) else ""
        if len(text) > 40 or not _DURATION.fullmatch(text):
            is_bare = isinstance(value, int | float) and not isinstance(value, bool)
            raise unfit(value, self, ": add the unit" if is_bare else "")
        parts = _DURATION_PART.findall(text)
        seconds = sum(float(number) * _UNIT_S[unit] for number, unit in parts)
        if not 0 < seconds <= MAX_WHOLE:
            raise unfit(value, self)
        return seconds


@dataclass(frozen=True, slots=True)
class Size:
    """A size of memory or disk as text with a unit; its final form is in bytes."""

    @property
    def allowed(self) -> str:
        return "a size with a unit, such as 512MiB or 2GiB"

    def fit(self, value: Any) -> int:
        text = value.replace(" ", "") if isinstance(value, str) else ""
        match = _SIZE.fullmatch(text) if len(text) <= 40 else None
        num_bytes = float(match[1]) * _UNIT_BYTES[match[2]] if match else 0.0
        if not 1 <= num_bytes <= MAX_WHOLE:
            is_bare = isinstance(value, int | float) and not isinstance(value, bool)
            raise unfit(value, self, ": add the unit" if is_bare else "")
        return int(num_bytes)


@dataclass(frozen=True, slots=True)
class CountOrAuto:
    """A whole number of at least 1, or auto."""

    most: int

    @property
    def allowed(self) -> str:
        return f"auto or {Whole(1, self.most).allowed}"

    def fit(self, value: Any) -> int | str:
        if isinstance(value, str) and value.casefold() == "auto":
            return "auto"
        try:
            return Whole(1, self.most).fit(value)
        except Unfit as error:
            raise unfit(value, self, number_advice(value)) from error


GPU_COUNT = Whole(1, 64)
"""How many GPUs a trial may have."""


def _is_epoch(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_WHOLE
