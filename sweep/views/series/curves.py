"""Curves: the objective over the epochs of each trial."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.records import Epoch, TrialState
from sweep.views.best import ranked
from sweep.views.display import one_line
from sweep.views.rows import TrialRow, epochs_by_trial, finite
from sweep.views.series.parts import Nothing, thinned
from sweep.views.series.subject import Subject

MAX_CURVES = 200
MAX_CURVE_POINTS = 20_000


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
    """The learning curves; of very many, the best ones and every so-many-th of the others.

    A very long one has every so-many-th epoch, and its last one.
    """

    metric: str
    curves: tuple[Curve, ...]
    num_total: int

    @property
    def num_drawn(self) -> int:
        return len(self.curves)


def curve_series(subject: Subject) -> CurveSeries | Nothing:
    """The objective over the epochs, for every trial that has it in any epoch.

    The best is marked where there is another one.
    """
    epochs = epochs_by_trial(subject.snapshot)
    order = [row.number for row in ranked(subject.rows, subject.snapshot.study.direction)]
    best = order[0] if order and len(subject.rows) > 1 else None
    curves = [
        _curve(row, epochs[row.number], subject.metric, is_best=row.number == best)
        for row in subject.rows
        if row.number in epochs
    ]
    drawable = [curve for curve in curves if any(value is not None for value in curve.values)]
    if not drawable:
        return Nothing(reason=f"no epoch has a {one_line(subject.metric)} yet")
    kept = _kept_curves(drawable, order)
    room = max(MAX_CURVE_POINTS // len(kept), 2)
    return CurveSeries(
        metric=subject.metric,
        curves=tuple(_short(curve, room) for curve in kept),
        num_total=len(drawable),
    )


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


def _short(curve: Curve, room: int) -> Curve:
    """The curve with at most `room` epochs, the last among them."""
    if len(curve.epochs) <= room:
        return curve
    pairs = list(zip(curve.epochs, curve.values, strict=True))
    kept = [*thinned(pairs[:-1], room - 1), pairs[-1]]
    return Curve(
        trial=curve.trial,
        state=curve.state,
        is_best=curve.is_best,
        epochs=tuple(epoch for epoch, _ in kept),
        values=tuple(value for _, value in kept),
    )
