"""Boxes: how the objective is spread over the complete trials with each value of a param."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sweep.records import TrialState
from sweep.views.averages import scale_for
from sweep.views.display import one_line
from sweep.views.rows import TrialRow, finite
from sweep.views.series.parts import MAX_POINTS, Nothing, Point, grouped, thinned
from sweep.views.series.subject import Subject

_WHISKER = 1.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Five numbers of a set: the quartiles, and how far the whiskers reach.

    Whiskers end at the furthest values within 1.5 times the distance of the quartiles (Tukey,
    Exploratory Data Analysis, 1977).
    """

    num: int
    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """The trials with one value of the param: the spread of the complete ones, and all points.

    The spread is None where none is complete. Points have the box's place as x.
    """

    label: str
    spread: Spread | None
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BoxSeries:
    """A box for each value of a param; of very many trials only `num_drawn` have points."""

    param: str
    metric: str
    boxes: tuple[Box, ...]
    num_drawn: int
    num_total: int


def box_series(subject: Subject) -> BoxSeries | Nothing:
    """How far each value of the subject's group param reaches."""
    if subject.group is None:
        return Nothing(reason="no param with two or more labels was searched")
    valued = [row for row in subject.rows if finite(row.value) is not None]
    if not valued:
        return Nothing(reason=f"no trial with a {one_line(subject.group)} has a value yet")
    drawn = {row.number for row in thinned(valued, MAX_POINTS)}
    groups = grouped(valued, subject.group)
    return BoxSeries(
        param=subject.group,
        metric=subject.metric,
        boxes=tuple(
            _box(str(label), place, rows, drawn)
            for place, (label, rows) in enumerate(groups.items())
        ),
        num_drawn=len(drawn),
        num_total=len(valued),
    )


def _box(label: str, place: int, rows: Sequence[TrialRow], drawn: set[int]) -> Box:
    complete = [row.value for row in rows if row.state is TrialState.COMPLETE]
    return Box(
        label=label,
        spread=spread_of([value for value in complete if value is not None]),
        points=tuple(
            Point(trial=row.number, state=row.state, x=place, y=row.value)
            for row in rows
            if row.number in drawn and row.value is not None
        ),
    )


def spread_of(values: Sequence[float]) -> Spread | None:
    """The spread of finite numbers; None of none."""
    if not values:
        return None
    scale = scale_for(values)
    scaled = np.quantile([value * scale for value in values], (0.25, 0.5, 0.75))
    first, middle, third = (float(quartile) / scale for quartile in scaled)
    reach = _WHISKER * (third - first)
    return Spread(
        num=len(values),
        low=min(value for value in values if value >= first - reach),
        first_quartile=first,
        median=middle,
        third_quartile=third,
        high=max(value for value in values if value <= third + reach),
    )
