"""History: what the trials reached one after the other, and the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.records import Direction, TrialState
from sweep.views.rows import TrialRow, finite
from sweep.views.series.parts import MAX_POINTS, Nothing, Point, thinned_keeping
from sweep.views.series.subject import Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class HistorySeries:
    """The objective against the number of the trial.

    `best` are the steps of the best so far, complete trials only: (trial, value), then the last
    trial. `failed` are trials without a value. Of very many trials only some have points, those
    that raised the best among them.
    """

    metric: str
    direction: Direction
    points: tuple[Point, ...]
    failed: tuple[int, ...]
    best: tuple[tuple[int, float], ...]
    num_total: int

    @property
    def num_drawn(self) -> int:
        return len(self.points) + len(self.failed)

    @property
    def worst(self) -> float:
        """The worst value of any point; there is always one."""
        worst = min if self.direction is Direction.MAXIMIZE else max
        return worst(point.y for point in self.points)


def history_series(subject: Subject) -> HistorySeries | Nothing:
    """Trial after trial, and how the best one rose."""
    rows = subject.rows
    steps = best_steps(rows, subject.snapshot.study.direction)
    raised = {trial for trial, _ in steps}
    shown = [row for row in rows if finite(row.value) is not None or _failed(row)]
    if not any(finite(row.value) is not None for row in shown):
        return Nothing(reason="no trial has a value yet")
    drawn = thinned_keeping(shown, MAX_POINTS, lambda row: row.number in raised)
    last = [(rows[-1].number, steps[-1][1])] if steps and rows[-1].number > steps[-1][0] else []
    return HistorySeries(
        metric=subject.metric,
        direction=subject.snapshot.study.direction,
        points=tuple(
            Point(trial=row.number, state=row.state, x=row.number, y=value)
            for row in drawn
            if (value := finite(row.value)) is not None
        ),
        failed=tuple(row.number for row in drawn if finite(row.value) is None),
        best=(*steps, *last),
        num_total=len(shown),
    )


def best_steps(rows: Sequence[TrialRow], direction: Direction) -> list[tuple[int, float]]:
    """The trials that were better than all before them, in the order of the rows, with values."""
    steps: list[tuple[int, float]] = []
    for row in rows:
        value = row.value if row.is_complete else None
        if value is not None and (not steps or direction.is_better(value, steps[-1][1])):
            steps.append((row.number, value))
    return steps


def _failed(row: TrialRow) -> bool:
    return row.state is TrialState.FAILED
