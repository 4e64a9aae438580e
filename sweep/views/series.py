"""Series: the numbers of the plots, without a plot library, so that they can be tested.

Each builder answers with a series, or with `Nothing` and the reason in one line.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean
from typing import TypeAlias, TypeVar

from sweep.records import Epoch, ParamValue, Snapshot, TrialState
from sweep.views.best import ranked
from sweep.views.comparison import sort_key
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, epochs_by_trial, finite

MAX_POINTS = 2_000
MAX_CURVES = 200

T = TypeVar("T")
Measure: TypeAlias = Callable[[TrialRow], float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """There is nothing to draw, and why."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One trial in a plot: where it lies and how it ended."""

    trial: int
    state: TrialState
    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """One measure against a param: a point for each trial, and the mean for each value.

    `means` are of complete trials where `only_complete`, else of all that have an epoch.
    """

    measure: str
    points: tuple[Point, ...]
    means: tuple[tuple[float, float], ...]
    only_complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchSizeSeries:
    """Batch size against epoch time, memory and the objective; a measure nobody has is absent.

    Of very many trials only `num_drawn` have points; the means are of all `num_total`.
    """

    metric: str
    sizes: tuple[float, ...]
    panels: tuple[Panel, ...]
    num_drawn: int
    num_total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PointGroup:
    """The points of one colour: the trials with one value of the grouping param."""

    label: ParamValue | None
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LrSeries:
    """Learning rate against the objective, grouped by optimizer where there is one.

    `num_total` counts the trials that could be drawn; of very many only some are.
    """

    metric: str
    group_param: str | None
    groups: tuple[PointGroup, ...]
    is_log: bool
    num_total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The objective over the epochs (zero-based) of one trial; None where it was not finite."""

    trial: int
    state: TrialState
    is_best: bool
    epochs: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveSeries:
    """The learning curves; of very many, the best ones and every so-many-th of the others."""

    metric: str
    curves: tuple[Curve, ...]
    num_total: int


def batch_size_series(snapshot: Snapshot, rows: Sequence[TrialRow]) -> BatchSizeSeries | Nothing:
    """What each batch size takes and reaches."""
    if "batch_size" not in plan_of(snapshot).params:
        return Nothing(reason="no figure by batch size: the study has no param batch_size")
    drawn = {row.number for row in thinned(rows, MAX_POINTS)}
    panels = [
        _panel(rows, drawn, "epoch_s", attrgetter("epoch_s"), only_complete=False),
        _panel(rows, drawn, "peak_memory_mib", attrgetter("peak_memory_mib"), only_complete=False),
        _panel(rows, drawn, snapshot.study.metric, attrgetter("value"), only_complete=True),
    ]
    panels = [panel for panel in panels if panel.points]
    if not panels:
        return Nothing(reason="no figure by batch size: no trial has an epoch yet")
    return BatchSizeSeries(
        metric=snapshot.study.metric,
        sizes=tuple(sorted({point.x for panel in panels for point in panel.points})),
        panels=tuple(panels),
        num_drawn=len(drawn),
        num_total=len(rows),
    )


def _panel(
    rows: Iterable[TrialRow],
    drawn: Container[int],
    measure: str,
    number: Measure,
    *,
    only_complete: bool,
) -> Panel:
    points = _points(rows, "batch_size", number)
    by_size: dict[float, list[float]] = {}
    for point in points:
        if point.state is TrialState.COMPLETE or not only_complete:
            by_size.setdefault(point.x, []).append(point.y)
    return Panel(
        measure=measure,
        points=tuple(point for point in points if point.trial in drawn),
        means=tuple((size, fmean(by_size[size])) for size in sorted(by_size)),
        only_complete=only_complete,
    )


def _points(rows: Iterable[TrialRow], param: str, number: Measure) -> tuple[Point, ...]:
    return tuple(
        Point(trial=row.number, state=row.state, x=float(x), y=y)
        for row in rows
        if isinstance(x := row.param(param), int | float)
        and (y := finite(number(row))) is not None
    )


def lr_series(snapshot: Snapshot, rows: Sequence[TrialRow]) -> LrSeries | Nothing:
    """What each learning rate reaches, by optimizer; trials that failed have no value."""
    params = plan_of(snapshot).params
    if "lr" not in params:
        return Nothing(reason="no figure by learning rate: the study has no param lr")
    drawable = [row for row in rows if _points([row], "lr", attrgetter("value"))]
    if not drawable:
        return Nothing(reason="no figure by learning rate: no trial has a value yet")
    group_param = "optimizer" if "optimizer" in params else None
    groups = _groups(thinned(drawable, MAX_POINTS), group_param)
    return LrSeries(
        metric=snapshot.study.metric,
        group_param=group_param,
        groups=groups,
        is_log=all(point.x > 0 for group in groups for point in group.points),
        num_total=len(drawable),
    )


def _groups(rows: Iterable[TrialRow], param: str | None) -> tuple[PointGroup, ...]:
    grouped: dict[ParamValue | None, list[TrialRow]] = {}
    for row in rows:
        grouped.setdefault(row.param(param) if param else None, []).append(row)
    return tuple(
        PointGroup(label=label, points=_points(grouped[label], "lr", attrgetter("value")))
        for label in sorted(grouped, key=sort_key)
    )


def curve_series(snapshot: Snapshot, rows: Sequence[TrialRow]) -> CurveSeries | Nothing:
    """The objective over the epochs, for every trial that has it in any epoch."""
    metric = snapshot.study.metric
    epochs = epochs_by_trial(snapshot)
    order = [row.number for row in ranked(rows, snapshot.study.direction)]
    best = order[0] if order else None
    curves = [
        _curve(row, epochs[row.number], metric, is_best=row.number == best)
        for row in rows
        if row.number in epochs
    ]
    drawable = [curve for curve in curves if any(value is not None for value in curve.values)]
    if not drawable:
        return Nothing(reason=f"no learning curves: no epoch has a {metric} yet")
    kept = _kept_curves(drawable, order)
    return CurveSeries(metric=metric, curves=tuple(kept), num_total=len(drawable))


def _curve(row: TrialRow, epochs: Sequence[Epoch], metric: str, *, is_best: bool) -> Curve:
    return Curve(
        trial=row.number,
        state=row.state,
        is_best=is_best,
        epochs=tuple(epoch.epoch for epoch in epochs),
        values=tuple(finite(epoch.metrics.get(metric)) for epoch in epochs),
    )


def _kept_curves(curves: Sequence[Curve], order: Sequence[int]) -> list[Curve]:
    """All curves if they are few; else half the room for the best, half spread over the rest."""
    if len(curves) <= MAX_CURVES:
        return list(curves)
    best = set(order[: MAX_CURVES // 2])
    others = thinned([curve for curve in curves if curve.trial not in best], MAX_CURVES // 2)
    chosen = best | {curve.trial for curve in others}
    return [curve for curve in curves if curve.trial in chosen]


def thinned(items: Sequence[T], most: int) -> list[T]:
    """At most `most` of the items, evenly spread over them, the first among them."""
    if len(items) <= most:
        return list(items)
    return [items[index * len(items) // most] for index in range(most)]
