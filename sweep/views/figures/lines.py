"""Figures of lines over trials and epochs: learning curves, and the history of the best."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from sweep.records import TrialState
from sweep.views.figures.style import (
    ORANGE,
    STATE_COLORS,
    STATE_SYMBOLS,
    by_state,
    label,
    markers,
    on_screen,
    plain,
    rounded,
    styled,
    unit,
)
from sweep.views.series.curves import Curve, CurveSeries
from sweep.views.series.history import HistorySeries

_DASHES = {TrialState.FAILED: "dot", TrialState.RUNNING: "dash", TrialState.WAITING: "dash"}
_ORDER = (TrialState.PRUNED, TrialState.FAILED, TrialState.RUNNING, TrialState.COMPLETE)

_CurvePoint = tuple[int | None, float | None, int | None]
_FEW = 10
_GAP: _CurvePoint = (None, None, None)


def curves_figure(series: CurveSeries) -> go.Figure:
    """The objective over the epochs; a pruned trial ends in a cross, the best is drawn thick."""
    figure = go.Figure()
    for state in (*_ORDER, TrialState.WAITING):
        curves = [c for c in series.curves if c.state is state and not c.is_best]
        figure.add_traces(_curve_traces(curves, series.metric, state))
    for curve in series.curves:
        if curve.is_best:
            figure.add_trace(_best_trace(curve, series.metric))
    last = 1 + max(epoch for curve in series.curves for epoch in curve.epochs)
    figure.update_xaxes(title_text="epoch", range=[0.5, last + 0.5], dtick=_tick_step(last))
    figure.update_yaxes(title_text=label(series.metric))
    return styled(figure)


def history_figure(series: HistorySeries) -> go.Figure:
    """What each trial reached, in their order, with the best so far as a staircase."""
    figure = go.Figure()
    for state, points in by_state(series.points):
        color = STATE_COLORS[state]
        trace = markers(
            points, name=str(state), color=color, x=("number", None), y_measure=series.metric
        )
        hover = f"trial %{{customdata[0]}}, {state}<br>{plain(series.metric)} %{{y:.5~g}}"
        figure.add_trace(trace.update(hovertemplate=f"{hover}{unit(series.metric)}"))
    if series.failed:
        figure.add_trace(_failed_trace(series))
    if series.best:
        figure.add_trace(_stairs(series))
    last = max((point.trial for point in series.points), default=0)
    figure.update_xaxes(title_text="trial", dtick=1 if last < _FEW else None)
    figure.update_yaxes(title_text=label(series.metric))
    return styled(figure)


def _failed_trace(series: HistorySeries) -> Any:
    """Trials without a value, on the level of the worst one that has any."""
    level = rounded(on_screen(series.metric, series.worst))
    return go.Scatter(
        x=list(series.failed),
        y=[level] * len(series.failed),
        customdata=[[trial] for trial in series.failed],
        mode="markers",
        name="failed (no value)",
        marker={
            "symbol": STATE_SYMBOLS[TrialState.FAILED],
            "size": 9,
            "color": STATE_COLORS[TrialState.FAILED],
        },
        hovertemplate="trial %{customdata[0]}, failed: no value",
        hoverlabel={"namelength": 0},
    )


def _stairs(series: HistorySeries) -> Any:
    return go.Scatter(
        x=[trial for trial, _ in series.best],
        y=[rounded(on_screen(series.metric, value)) for _, value in series.best],
        mode="lines",
        name="best so far",
        line={"color": ORANGE, "width": 3, "shape": "hv"},
        hovertemplate=f"best so far %{{y:.5~g}}{unit(series.metric)}",
        hoverlabel={"namelength": 0},
    )


def _curve_traces(curves: Sequence[Curve], metric: str, state: TrialState) -> list[Any]:
    """One trace of lines with gaps between the trials, and one of markers at their ends."""
    if not curves:
        return []
    color = STATE_COLORS[state]
    points = [point for curve in curves for point in (*_curve_points(curve, metric), _GAP)]
    lines = _curve_trace(points, state, metric, mode="lines", name=str(state))
    lines.update(line={"color": color, "width": 1.3, "dash": _DASHES.get(state, "solid")})
    ends = [point for curve in curves for point in _end(_curve_points(curve, metric))]
    marks = _curve_trace(ends, state, metric, mode="markers", name=str(state))
    marks.update(marker={"color": color, "symbol": STATE_SYMBOLS[state], "size": 7})
    lines.update(
        opacity=0.5 if len(curves) > _FEW else 0.9, legendgroup=str(state), showlegend=False
    )
    marks.update(legendgroup=str(state))
    return [lines, marks]


def _tick_step(last: int) -> int:
    """1, 2 or 5 times a power of ten, so that whole epochs have at most ten ticks."""
    power: int = 10 ** max(len(str(last)) - 2, 0)
    steps = (factor * power for factor in (1, 2, 5, 10))
    return next(step for step in steps if last <= 10 * step)


def _best_trace(curve: Curve, metric: str) -> Any:
    points = _curve_points(curve, metric)
    name = f"best: trial {curve.trial}"
    trace = _curve_trace(points, curve.state, metric, mode="lines+markers", name=name)
    return trace.update(line={"color": ORANGE, "width": 3.5}, marker={"size": 6})


def _curve_points(curve: Curve, metric: str) -> list[_CurvePoint]:
    return [
        (epoch + 1, None if value is None else rounded(on_screen(metric, value)), curve.trial)
        for epoch, value in zip(curve.epochs, curve.values, strict=True)
    ]


def _end(points: Sequence[_CurvePoint]) -> list[_CurvePoint]:
    return [point for point in points if point[1] is not None][-1:]


def _curve_trace(
    points: Sequence[_CurvePoint], state: TrialState, metric: str, *, mode: str, name: str
) -> Any:
    return go.Scatter(
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        customdata=[[trial] for _, _, trial in points],
        mode=mode,
        name=name,
        hovertemplate=f"trial %{{customdata[0]}}, {state}"
        f"<br>epoch %{{x}}: %{{y:.5~g}}{unit(metric)}",
        hoverlabel={"namelength": 0},
    )
