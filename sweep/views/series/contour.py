"""Contour: the objective over two params at once; learning rate and batch size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.records import TrialState
from sweep.views.averages import scale_for
from sweep.views.comparison import num_values
from sweep.views.display import one_line
from sweep.views.rows import TrialRow, finite
from sweep.views.series.axis import Axis, axis_of, scale_axis
from sweep.views.series.parts import MAX_POINTS, Nothing, Point, thinned
from sweep.views.series.subject import Subject

GRID = 41
MIN_TRIALS = 4
_WIDTH = 0.12
_REACH = 0.3

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContourSeries:
    """The objective over two params, smoothed from the complete trials.

    `xs` and `ys` are places on the axes; `surface` has a row for each of ys and a number for each
    of xs, None where no trial is near. `values` are the objectives of the points.
    """

    x_axis: Axis
    y_axis: Axis
    metric: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    surface: tuple[tuple[float | None, ...], ...]
    points: tuple[Point, ...]
    values: tuple[float, ...]
    num_total: int

    @property
    def num_drawn(self) -> int:
        return len(self.points)


def contour_series(subject: Subject) -> ContourSeries | Nothing:
    """The objective over the subject's scale and size params."""
    names = _names(subject)
    if names is None:
        return Nothing(reason="it takes two params, and one of them of numbers")
    x_name, y_name = names
    rows = [row for row in subject.rows if row.state is TrialState.COMPLETE]
    rows = [row for row in rows if finite(row.value) is not None]
    is_log = subject.is_log(x_name)
    x_axis = scale_axis(x_name, [row.param(x_name) for row in rows], is_log=is_log)
    y_axis = axis_of(y_name, [r.param(y_name) for r in rows], is_log=subject.is_log(y_name))
    rows = [row for row in rows if _shares(row, x_axis, y_axis) is not None]
    if len(rows) < MIN_TRIALS or not _is_spread(rows, names):
        wanted = f"{MIN_TRIALS} complete trials that differ in {x_name} and in {y_name}"
        return Nothing(reason=f"it takes {one_line(wanted)}")
    return _series(subject.metric, x_axis, y_axis, rows)


def _names(subject: Subject) -> tuple[str, str] | None:
    if subject.scale is None:
        return None
    others = [subject.size, subject.group, *subject.params]
    other = next((name for name in others if name and name != subject.scale), None)
    return None if other is None else (subject.scale, other)


def _is_spread(rows: Sequence[TrialRow], names: Sequence[str]) -> bool:
    trials = [row.trial for row in rows]
    return all(num_values(trials, name) > 1 for name in names)


def _shares(row: TrialRow, x_axis: Axis, y_axis: Axis) -> tuple[float, float] | None:
    x, y = x_axis.share(row.param(x_axis.param)), y_axis.share(row.param(y_axis.param))
    return None if x is None or y is None else (x, y)


def _series(metric: str, x_axis: Axis, y_axis: Axis, rows: Sequence[TrialRow]) -> ContourSeries:
    shares = np.array([_shares(row, x_axis, y_axis) for row in rows])  # N, 2
    values = np.array([row.value for row in rows], dtype=float)  # N
    x_grid = np.linspace(0, 1, GRID)
    y_grid = np.linspace(0, 1, len(y_axis.labels) if y_axis.is_even else GRID)
    scale = scale_for(values.tolist())
    surface = smoothed(shares, values * scale, x_grid, y_grid) / scale
    drawn = thinned(rows, MAX_POINTS)
    return ContourSeries(
        x_axis=x_axis,
        y_axis=y_axis,
        metric=metric,
        xs=tuple(x_axis.at(float(share)) for share in x_grid),
        ys=tuple(y_axis.at(float(share)) for share in y_grid),
        surface=tuple(tuple(None if np.isnan(v) else float(v) for v in line) for line in surface),
        points=tuple(_point(row, x_axis, y_axis) for row in drawn),
        values=tuple(row.value for row in drawn if row.value is not None),
        num_total=len(rows),
    )


def _point(row: TrialRow, x_axis: Axis, y_axis: Axis) -> Point:
    x, y = x_axis.place(row.param(x_axis.param)), y_axis.place(row.param(y_axis.param))
    assert x is not None
    assert y is not None
    return Point(trial=row.number, state=row.state, x=x, y=y)


def smoothed(shares: Floats, values: Floats, xs: Floats, ys: Floats) -> Floats:
    """The mean of the values around each place of a grid, near ones counting most; (Y, X).

    `shares` are the values' own places, (N, 2) in 0..1. A Gaussian kernel regression (Nadaraya,
    Theory of Probability and its Applications, 1964); NaN where no value is near.
    """
    across = (xs[:, None] - shares[:, 0]) ** 2  # X, N
    along = (ys[:, None] - shares[:, 1]) ** 2  # Y, N
    x_weights, y_weights = (np.exp(-d / (2 * _WIDTH**2)) for d in (across, along))
    total = y_weights @ x_weights.T  # Y, X
    mean = (y_weights * values) @ x_weights.T / np.maximum(total, 1e-300)
    nearest = np.array([np.min(line + across, axis=1) for line in along])
    return np.where(nearest <= _REACH**2, mean, np.nan)
