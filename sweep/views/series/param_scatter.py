"""Scatter of a param: the objective against its values; learning rate against accuracy."""

from dataclasses import dataclass
from operator import attrgetter

from sweep.views.display import one_line
from sweep.views.series.axis import Axis, scale_axis
from sweep.views.series.parts import MAX_POINTS, Nothing, PointGroup, grouped, points_on, thinned
from sweep.views.series.subject import Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class ScatterSeries:
    """A param against the objective, grouped by another param where there is one.

    `num_total` counts the trials that could be drawn; of very many only some are.
    """

    axis: Axis
    metric: str
    group_param: str | None
    groups: tuple[PointGroup, ...]
    num_total: int

    @property
    def num_drawn(self) -> int:
        return sum(len(group.points) for group in self.groups)


def scatter_series(subject: Subject) -> ScatterSeries | Nothing:
    """What each value of the subject's scale param reaches; trials that failed have no value."""
    if subject.scale is None:
        return Nothing(reason="no param of numbers was searched")
    param = subject.scale
    axis = scale_axis(param, subject.values(param), is_log=subject.is_log(param))
    drawable = [row for row in subject.rows if points_on(axis, [row], attrgetter("value"))]
    if not drawable:
        return Nothing(reason=f"no trial with a {one_line(param)} has a value yet")
    group_param = subject.group if subject.group != param else None
    groups = grouped(thinned(drawable, MAX_POINTS), group_param)
    return ScatterSeries(
        axis=axis,
        metric=subject.metric,
        group_param=group_param,
        groups=tuple(
            PointGroup(label=label, points=points_on(axis, rows, attrgetter("value")))
            for label, rows in groups.items()
        ),
        num_total=len(drawable),
    )
