"""Parallel coordinates: each trial a line over its params, ending at what it reached."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.records import TrialState
from sweep.views.best import ranked
from sweep.views.comparison import num_values
from sweep.views.rows import TrialRow, finite
from sweep.views.series.axis import Axis, axis_of
from sweep.views.series.parts import Nothing, thinned_keeping
from sweep.views.series.subject import Subject

MAX_LINES = 300
MAX_AXES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One trial: its place on each param's axis as a fraction 0..1, and its objective.

    A place is None where the param is not active in the trial.
    """

    trial: int
    state: TrialState
    is_best: bool
    places: tuple[float | None, ...]
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ParallelSeries:
    """The params that differ, each an axis, and a line for each trial that has a value.

    Of very many lines the best ones and every so-many-th of the others; `num_params` counts the
    params that differ, of which the first few have axes.
    """

    metric: str
    axes: tuple[Axis, ...]
    lines: tuple[Line, ...]
    num_params: int
    num_total: int

    @property
    def num_drawn(self) -> int:
        return len(self.lines)


def parallel_series(subject: Subject) -> ParallelSeries | Nothing:
    """Complete and pruned trials as lines over their params."""
    valued = [row for row in subject.rows if finite(row.value) is not None]
    if not valued:
        return Nothing(reason="no trial has a value yet")
    trials = [row.trial for row in valued]
    differing = [name for name in subject.params if num_values(trials, name) > 1]
    if not differing:
        return Nothing(reason="all trials have the same params")
    axes = [_axis(subject, valued, name) for name in differing[:MAX_AXES]]
    order = [row.number for row in ranked(valued, subject.snapshot.study.direction)]
    leading = set(order[: MAX_LINES // 2])
    drawn = thinned_keeping(valued, MAX_LINES, lambda row: row.number in leading)
    return ParallelSeries(
        metric=subject.metric,
        axes=tuple(axes),
        lines=tuple(_line(row, axes, order[:1]) for row in drawn),
        num_params=len(differing),
        num_total=len(valued),
    )


def _axis(subject: Subject, rows: Sequence[TrialRow], name: str) -> Axis:
    return axis_of(name, [row.param(name) for row in rows], is_log=subject.is_log(name))


def _line(row: TrialRow, axes: Sequence[Axis], best: Sequence[int]) -> Line:
    assert row.value is not None
    return Line(
        trial=row.number,
        state=row.state,
        is_best=row.number in best,
        places=tuple(axis.share(row.param(axis.param)) for axis in axes),
        value=row.value,
    )
