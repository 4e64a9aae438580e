"""Studies overlaid: how two or more studies rose, by trials and by time, and where they ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from sweep.views.best import ranked
from sweep.views.display import one_line
from sweep.views.plan import SECONDS_PER_HOUR
from sweep.views.rows import TrialRow
from sweep.views.series.boxes import Box, spread_of
from sweep.views.series.parts import MAX_POINTS, Nothing, Point, thinned
from sweep.views.series.subject import Subject


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyLine:
    """One study: its best so far after so many finished trials and slot hours, and all values.

    The lines begin at the first complete trial, in the order in which trials ended.
    """

    name: str
    by_trials: tuple[tuple[int, float], ...]
    by_hours: tuple[tuple[float, float], ...]
    box: Box


@dataclass(frozen=True, kw_only=True, slots=True)
class StudiesSeries:
    """Two or more studies with one objective."""

    metric: str
    studies: tuple[StudyLine, ...]


def studies_series(subjects: Sequence[Subject]) -> StudiesSeries | Nothing:
    """The studies over each other."""
    if len(subjects) < 2:
        return Nothing(reason="it takes two studies or more")
    objectives = {(s.metric, s.snapshot.study.direction) for s in subjects}
    if len(objectives) > 1:
        names = ", ".join(sorted(one_line(f"{way} {metric}") for metric, way in objectives))
        return Nothing(reason=f"the studies have different objectives: {names}")
    lines = [_line(subject, place) for place, subject in enumerate(subjects)]
    if not any(line.by_trials for line in lines):
        return Nothing(reason="none of the studies has a complete trial yet")
    return StudiesSeries(metric=subjects[0].metric, studies=tuple(lines))


def _line(subject: Subject, place: int) -> StudyLine:
    steps = _steps(subject)
    complete = ranked(subject.rows, subject.snapshot.study.direction)
    values = [row.value for row in complete if row.value is not None]
    return StudyLine(
        name=subject.snapshot.study.name,
        by_trials=tuple((count, value) for count, _, value in steps),
        by_hours=tuple((hours, value) for _, hours, value in steps),
        box=Box(
            label=subject.snapshot.study.name,
            spread=spread_of(values),
            points=tuple(
                Point(trial=row.number, state=row.state, x=place, y=row.value)
                for row in thinned(complete, MAX_POINTS // 4)
                if row.value is not None
            ),
        ),
    )


def _steps(subject: Subject) -> list[tuple[int, float, float]]:
    """After how many finished trials and slot hours the best rose, and to what; then the end."""
    best: float | None = None
    steps, count, hours = [], 0, 0.0
    for row in sorted(subject.rows, key=_end_of):
        hours += (row.duration_s or 0.0) / SECONDS_PER_HOUR
        count += row.state.is_finished
        value = row.value if row.is_complete else None
        if value is not None and (
            best is None or subject.snapshot.study.direction.is_better(value, best)
        ):
            best = value
            steps.append((count, hours, best))
    if best is not None and steps[-1][0] < count:
        steps.append((count, hours, best))
    return steps


def _end_of(row: TrialRow) -> tuple[float, int]:
    ended = row.trial.finished_at
    return (inf if ended is None else ended.timestamp(), row.number)
