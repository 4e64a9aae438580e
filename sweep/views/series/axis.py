"""Axis: where the values of a param lie in a plot: on a scale of numbers, or evenly as labels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from sweep.records import ParamValue
from sweep.views.comparison import sort_key
from sweep.views.display import one_line, show_param

MAX_EVEN = 12
UNSET, OTHER = "not set", "other"
"""The labels of trials that have no value of a param, and of values that are too rare for one."""

_LOG_SPAN = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """The axis of one param.

    `labels` are the values at the places 0, 1, 2, ..., no two alike; empty where the places are
    the numbers themselves, then from `low` to `high`, on a log scale where `is_log`.
    """

    param: str
    labels: tuple[str, ...]
    low: float
    high: float
    is_log: bool
    places: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_even(self) -> bool:
        """Whether the values stand evenly beside each other, as labels."""
        return bool(self.labels)

    def place(self, value: ParamValue | None) -> float | None:
        """Where a value lies; None for a missing one, or one that has no place here."""
        if value is None:
            return None
        if self.is_even:
            place = self.places.get(label_of(value))
            return None if place is None else float(place)
        if isinstance(value, str | bool) or not math.isfinite(value):
            return None
        return None if self.is_log and value <= 0 else float(value)

    def share(self, value: ParamValue | None) -> float | None:
        """Where a value lies between the lowest and the highest place, as a fraction 0..1."""
        place = self.place(value)
        return None if place is None else self.share_at(place)

    def share_at(self, place: float) -> float:
        """How far a place is from the lowest to the highest, as a fraction 0..1."""
        low, high = self.bounds
        place = math.log(place) if self.is_log else place
        return share_of(place, low, high)

    def at(self, share: float) -> float:
        """The place at a fraction 0..1 of the axis; the inverse of `share`."""
        low, high = self.bounds
        place = low * (1 - share) + high * share
        return math.exp(place) if self.is_log else place

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest place, as logarithms where the axis is logarithmic."""
        return (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)


def even_axis(param: str, values: Iterable[ParamValue | None]) -> Axis:
    """The values evenly beside each other, sorted; missing ones have no place."""
    known = {label_of(value): value for value in values if value is not None}
    exact = sorted(known, key=lambda label: sort_key(known[label]))
    short = [show_param(known[label]) for label in exact]
    labels = short if len(set(short)) == len(exact) else exact
    places = {label: place for place, label in enumerate(exact)}
    high = max(len(labels) - 1, 0)
    return Axis(param=param, labels=tuple(labels), low=0, high=high, is_log=False, places=places)


def axis_of(
    param: str, values: Iterable[ParamValue | None], *, is_log: bool | None = None
) -> Axis:
    """An axis that has a place for each of the values that is not missing.

    Numbers lie on a scale, logarithmic as asked for, and never where some are not above 0. Where
    nothing is asked for, few numbers lie evenly, as all does that is no number, and a scale is
    logarithmic where they span more than a factor of 20.
    """
    known = [value for value in values if value is not None]
    numbers = [float(v) for v in known if not isinstance(v, str | bool) and math.isfinite(v)]
    if len(numbers) < len(known) or len(set(numbers)) <= (MAX_EVEN if is_log is None else 0):
        return even_axis(param, known)
    low, high = min(numbers), max(numbers)
    return Axis(
        param=param,
        labels=(),
        low=low,
        high=high,
        is_log=_is_log(low, high, is_log),
    )


def scale_axis(
    param: str, values: Iterable[ParamValue | None], *, is_log: bool | None = None
) -> Axis:
    """As `axis_of`, but numbers lie on a scale however few they are."""
    known = [value for value in values if value is not None]
    if not known or any(isinstance(value, str | bool) for value in known):
        return even_axis(param, known)
    low, high = float(min(known)), float(max(known))
    return Axis(param=param, labels=(), low=low, high=high, is_log=_is_log(low, high, is_log))


def _is_log(low: float, high: float, asked: bool | None) -> bool:
    return low > 0 and (high / low > _LOG_SPAN if asked is None else asked)


def share_of(value: float, low: float, high: float) -> float:
    """How far a number is from low to high, as a fraction 0..1; the middle where they are one."""
    if high <= low:
        return 0.5
    half = high / 2 - low / 2  # of two numbers that a float barely holds the difference is none
    return (value / 2 - low / 2) / half if half else 0.5


def label_of(value: ParamValue) -> str:
    """A value as a label that no other value has; 64 and 64.0 have the same.

    Text that could be taken for something else, such as a number, stands in quotes.
    """
    if isinstance(value, str):
        shown = one_line(value)
        return f"'{shown}'" if shown != value or _is_ambiguous(value) else shown
    if isinstance(value, bool):
        return show_param(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return repr(value)


def _is_ambiguous(text: str) -> bool:
    if text in ("", UNSET, OTHER, "true", "false") or text.startswith("'"):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
