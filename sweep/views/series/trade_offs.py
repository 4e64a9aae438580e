"""Trade-offs: the objective against time, memory and cost, and which trials nothing beats."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from sweep.records import Direction, TrialState
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, finite
from sweep.views.series.parts import MAX_POINTS, Nothing, Point, thinned_keeping
from sweep.views.series.subject import Subject

MEASURES = ("epoch_s", "peak_memory_mib", "cost")


@dataclass(frozen=True, kw_only=True, slots=True)
class TradeOff:
    """The objective (y) against one measure (x), of which less is better.

    `front` are the complete trials on the Pareto front, by rising x: no other complete trial is
    as good in both and better in one.
    """

    measure: str
    points: tuple[Point, ...]
    front: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TradeOffSeries:
    """A panel for each measure that any trial has. Of very many trials only some have points."""

    metric: str
    currency: str | None
    panels: tuple[TradeOff, ...]
    num_drawn: int
    num_total: int


def trade_off_series(subject: Subject) -> TradeOffSeries | Nothing:
    """What the objective takes in time, memory and money."""
    valued = [row for row in subject.rows if finite(row.value) is not None]
    if not valued:
        return Nothing(reason="no trial has a value yet")
    direction = subject.snapshot.study.direction
    panels = [_panel(valued, measure, direction) for measure in MEASURES]
    panels = [panel for panel in panels if panel.points]
    if not panels:
        return Nothing(reason="no trial has a time, a memory or a cost yet")
    return TradeOffSeries(
        metric=subject.metric,
        currency=plan_of(subject.snapshot).price.currency,
        panels=tuple(panels),
        num_drawn=min(len(valued), MAX_POINTS),
        num_total=len(valued),
    )


def _panel(rows: Sequence[TrialRow], measure: str, direction: Direction) -> TradeOff:
    number = attrgetter(measure)
    points = [
        Point(trial=row.number, state=row.state, x=x, y=row.value)
        for row in rows
        if row.value is not None and (x := finite(number(row))) is not None
    ]
    front = front_of([p for p in points if p.state is TrialState.COMPLETE], direction)
    ahead = {point.trial for point in front}
    drawn = thinned_keeping(points, MAX_POINTS, lambda point: point.trial in ahead)
    return TradeOff(measure=measure, points=tuple(drawn), front=tuple(front))


def front_of(points: Sequence[Point], direction: Direction) -> list[Point]:
    """The points that no other is as good as in both and better than in one, by rising x."""
    sign = -1 if direction is Direction.MAXIMIZE else 1
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.x, sign * p.y, p.trial)):
        if not front or direction.is_better(point.y, front[-1].y):
            front.append(point)
    return front
