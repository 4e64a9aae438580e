"""Panels of a param: what its values take and reach; batch size against time, memory, accuracy."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from sweep.records import TrialState
from sweep.views.averages import mean_of
from sweep.views.display import one_line
from sweep.views.rows import TrialRow
from sweep.views.series.axis import Axis, axis_of
from sweep.views.series.parts import MAX_POINTS, Nothing, Number, Point, points_on, thinned
from sweep.views.series.subject import Subject

_NUM_MEANS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One measure against a param: a point for each trial, and the means along the axis.

    A mean stands at each value, or in the middle of each tenth of a scale. They are of complete
    trials where `only_complete`, else of all that have an epoch.
    """

    measure: str
    points: tuple[Point, ...]
    means: tuple[tuple[float, float], ...]
    only_complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelSeries:
    """A param against epoch time, memory and the objective; a measure nobody has is absent.

    Of very many trials only `num_drawn` have points; the means are of all `num_total`.
    """

    axis: Axis
    metric: str
    panels: tuple[Panel, ...]
    num_drawn: int
    num_total: int


def panel_series(subject: Subject) -> PanelSeries | Nothing:
    """What each value of the subject's size param takes and reaches."""
    if subject.size is None:
        return Nothing(reason="no param was searched, so there is nothing to compare by")
    axis = axis_of(subject.size, subject.values(subject.size))
    drawn = {row.number for row in thinned(subject.rows, MAX_POINTS)}
    panels = [
        _panel(subject.rows, drawn, axis, "epoch_s", attrgetter("epoch_s"), only_complete=False),
        _panel(subject.rows, drawn, axis, "peak_memory_mib", _memory, only_complete=False),
        _panel(subject.rows, drawn, axis, subject.metric, _value, only_complete=True),
    ]
    panels = [panel for panel in panels if panel.points]
    if not panels:
        return Nothing(reason=f"no trial with a {one_line(subject.size)} has an epoch yet")
    return PanelSeries(
        axis=axis,
        metric=subject.metric,
        panels=tuple(panels),
        num_drawn=len(drawn),
        num_total=len(subject.rows),
    )


_memory: Number = attrgetter("peak_memory_mib")
_value: Number = attrgetter("value")


def _panel(
    rows: Sequence[TrialRow],
    drawn: Container[int],
    axis: Axis,
    measure: str,
    number: Number,
    *,
    only_complete: bool,
) -> Panel:
    points = points_on(axis, rows, number)
    averaged = [p for p in points if p.state is TrialState.COMPLETE or not only_complete]
    return Panel(
        measure=measure,
        points=tuple(point for point in points if point.trial in drawn),
        means=_means(averaged, axis),
        only_complete=only_complete,
    )


def _means(points: Iterable[Point], axis: Axis) -> tuple[tuple[float, float], ...]:
    by_place: dict[float, list[float]] = {}
    for point in points:
        by_place.setdefault(_place_of_mean(point.x, axis), []).append(point.y)
    return tuple(
        (place, mean)
        for place in sorted(by_place)
        if (mean := mean_of(by_place[place])) is not None
    )


def _place_of_mean(place: float, axis: Axis) -> float:
    """The place itself on an even axis; on a scale the middle of the tenth that it lies in."""
    if axis.is_even:
        return place
    share = axis.share(place)
    assert share is not None
    return axis.at((min(int(share * _NUM_MEANS), _NUM_MEANS - 1) + 0.5) / _NUM_MEANS)
