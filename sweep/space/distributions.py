"""Distributions: what one param may be, as inclusive bounds or listed values."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias, TypeGuard

from sweep.records import ParamValue


@dataclass(frozen=True, kw_only=True, slots=True)
class Float:
    """A real number from `low` to `high`, both included; with `step`, only low + k * step."""

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __str__(self) -> str:
        step = "" if self.step is None else f" in steps of {self.step!r}"
        return f"float from {self.low!r} to {self.high!r}{step}{_scale(self.log)}"

    @property
    def num_points(self) -> int | None:
        if self.step is None:
            return None
        return int((_exact(self.high) - _exact(self.low)) // _exact(self.step)) + 1

    def values(self) -> Iterator[ParamValue]:
        """Every value from low to high, as short decimals: 0.3 and not 0.30000000000000004."""
        assert self.num_points is not None, "a range without step has no list of values"
        return (self.at(index) for index in range(self.num_points))

    def contains(self, value: object) -> bool:
        if not _is_number(value):
            return False
        if self.step is None:
            return self.low <= value <= self.high
        # a sampler that adds up steps may leave the range by the last digit
        if not self.low - self.step < value < self.high + self.step:
            return False
        tolerance = self.step * 1e-6
        return math.isclose(value, self.at(self.index(value)), abs_tol=tolerance)

    def settle(self, value: ParamValue) -> ParamValue:
        """The contained value in the one form that this distribution gives it."""
        return float(value) if self.step is None else self.at(self.index(float(value)))

    def index(self, value: float) -> int:
        """The position of the stepped value that lies nearest."""
        assert self.step is not None
        assert self.num_points is not None
        index = round((value - self.low) / self.step)
        return min(max(index, 0), self.num_points - 1)

    def at(self, index: int) -> float:
        """The stepped value at a position: low + index * step, as a short decimal."""
        assert self.step is not None
        return float(_exact(self.low) + index * _exact(self.step))


@dataclass(frozen=True, kw_only=True, slots=True)
class Int:
    """A whole number from `low` to `high`, both included, in steps of `step` from low."""

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __str__(self) -> str:
        step = "" if self.step == 1 else f" in steps of {self.step}"
        return f"int from {self.low} to {self.high}{step}{_scale(self.log)}"

    @property
    def num_points(self) -> int | None:
        return (self.high - self.low) // self.step + 1

    def values(self) -> Iterator[ParamValue]:
        return iter(range(self.low, self.high + 1, self.step))

    def contains(self, value: object) -> bool:
        return (
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.low <= value <= self.high
            and (value - self.low) % self.step == 0
        )

    def settle(self, value: ParamValue) -> ParamValue:
        return int(value)


@dataclass(frozen=True, kw_only=True, slots=True)
class Categorical:
    """One of the listed choices. Text is found ignoring case; true and 1 are different."""

    choices: tuple[ParamValue, ...]

    def __str__(self) -> str:
        return f"one of {', '.join(shown(choice) for choice in self.choices)}"

    @property
    def num_points(self) -> int | None:
        return len(self.choices)

    def values(self) -> Iterator[ParamValue]:
        return iter(self.choices)

    def contains(self, value: object) -> bool:
        return any(is_same(choice, value) for choice in self.choices)

    def settle(self, value: ParamValue) -> ParamValue:
        return next(choice for choice in self.choices if is_same(choice, value))


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """A param that is not searched: always this value."""

    value: ParamValue

    def __str__(self) -> str:
        return f"always {shown(self.value)}"

    @property
    def num_points(self) -> int | None:
        return 1

    def values(self) -> Iterator[ParamValue]:
        return iter((self.value,))

    def contains(self, value: object) -> bool:
        return is_same(self.value, value)

    def settle(self, value: ParamValue) -> ParamValue:
        return self.value


Distribution: TypeAlias = Float | Int | Categorical | Constant


def identity(value: ParamValue) -> tuple[bool, ParamValue]:
    """Equal for two values that are one choice: 64 and 64.0, Adam and adam, but not true and 1."""
    return isinstance(value, bool), value.casefold() if isinstance(value, str) else value


def is_same(one: ParamValue, other: object) -> bool:
    """Whether two values are one choice."""
    return isinstance(other, bool | int | float | str) and identity(one) == identity(other)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact(number: float) -> Decimal:
    return Decimal(repr(number))


def _scale(log: bool) -> str:
    return ", log scale" if log else ""


def shown(value: ParamValue) -> str:
    """A value as a study file writes it, in one line."""
    if isinstance(value, str) and not value.isprintable():
        return repr(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
