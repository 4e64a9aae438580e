"""Part: what several series are made of: a trial's point, a group of them, or nothing to draw."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from sweep.records import TrialState
from sweep.views.comparison import sort_key
from sweep.views.rows import TrialRow, finite
from sweep.views.series.axis import OTHER, UNSET, Axis, label_of

MAX_POINTS = 2_000
MAX_GROUPS = 7

T = TypeVar("T")
Number: TypeAlias = Callable[[TrialRow], float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """There is nothing to draw, and why in one line."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One trial in a plot: where it lies and how it ended."""

    trial: int
    state: TrialState
    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PointGroup:
    """The points of one colour: the trials with one value of the grouping param, as text.

    The label is None where nothing groups them.
    """

    label: str | None
    points: tuple[Point, ...]


def points_on(axis: Axis, rows: Iterable[TrialRow], number: Number) -> tuple[Point, ...]:
    """A point for each row that has a place on the axis and a finite number."""
    return tuple(
        Point(trial=row.number, state=row.state, x=x, y=y)
        for row in rows
        if (x := axis.place(row.param(axis.param))) is not None
        and (y := finite(number(row))) is not None
    )


def grouped(rows: Sequence[TrialRow], param: str | None) -> dict[str | None, list[TrialRow]]:
    """The rows by their value of a param, sorted; of many values the most frequent have groups.

    The trials in which the param is not active are the last but one, those with rare values the
    last. Without a param all rows are one group named None.
    """
    if param is None:
        return {None: list(rows)} if rows else {}
    groups: dict[str | None, list[TrialRow]] = {}
    for row in sorted(rows, key=lambda row: sort_key(row.param(param))):
        groups.setdefault(_label(row, param), []).append(row)
    if len(groups) <= MAX_GROUPS:
        return groups
    frequent = sorted(groups, key=lambda label: -len(groups[label]))[: MAX_GROUPS - 1]
    kept: dict[str | None, list[TrialRow]] = {
        key: groups[key] for key in groups if key in frequent
    }
    kept[OTHER] = [
        row for key, members in groups.items() if key not in frequent for row in members
    ]
    return kept


def _label(row: TrialRow, param: str) -> str:
    value = row.param(param)
    return UNSET if value is None else label_of(value)


def thinned(items: Sequence[T], most: int) -> list[T]:
    """At most `most` of the items, evenly spread over them, the first among them."""
    if len(items) <= most:
        return list(items)
    return [items[index * len(items) // most] for index in range(most)]


def thinned_keeping(items: Sequence[T], most: int, is_kept: Callable[[T], bool]) -> list[T]:
    """At most `most` of the items in their order; of those to be kept as many as have room."""
    if len(items) <= most:
        return list(items)
    kept = thinned([index for index, item in enumerate(items) if is_kept(item)], most)
    among = set(kept)
    others = [index for index in range(len(items)) if index not in among]
    chosen = among.union(thinned(others, most - len(kept)))
    return [items[index] for index in sorted(chosen)]
