"""Figure: a series drawn with plotly, readable in black and white and by the colour-blind.

Colours are those of Okabe and Ito; how a trial ended is told by the marker's shape. The ink is
left to the page, so that a figure fits a light and a dark one. Plotly reads its labels as HTML:
every text from a user is escaped here.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sweep.records import TrialState
from sweep.views.columns import is_accuracy
from sweep.views.display import one_line, shorten, show_number, show_param
from sweep.views.series import BatchSizeSeries, Curve, CurveSeries, LrSeries, Panel, Point

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#8A8A8A"
GROUP_COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)

_STATE_COLORS = {
    TrialState.COMPLETE: BLUE,
    TrialState.PRUNED: GREY,
    TrialState.FAILED: VERMILION,
    TrialState.RUNNING: SKY,
    TrialState.WAITING: SKY,
}
_STATE_SYMBOLS = {
    TrialState.COMPLETE: "circle",
    TrialState.PRUNED: "x",
    TrialState.FAILED: "triangle-down",
    TrialState.RUNNING: "square-open",
    TrialState.WAITING: "square-open",
}
_DASHES = {TrialState.FAILED: "dot", TrialState.RUNNING: "dash", TrialState.WAITING: "dash"}
_MEASURES = {"epoch_s": "epoch time (s)", "peak_memory_mib": "peak memory (MiB)"}
_MAX_LABEL = 40
_MAX_TICKS = 12
_GRID = "rgba(128, 128, 128, 0.25)"


def batch_size_figure(series: BatchSizeSeries) -> go.Figure:
    """A panel for each measure: a point for each trial, and the mean at each batch size."""
    figure = make_subplots(rows=1, cols=len(series.panels), horizontal_spacing=0.09)
    seen: set[str] = set()
    for column, panel in enumerate(series.panels, start=1):
        for trace in _panel_traces(panel):
            trace.showlegend = trace.name not in seen
            seen.add(trace.name)
            figure.add_trace(trace, row=1, col=column)
        figure.update_yaxes(title_text=_label(panel.measure), row=1, col=column)
    figure.update_xaxes(title_text="batch size", **_size_axis(series.sizes))
    return _styled(figure)


def lr_figure(series: LrSeries) -> go.Figure:
    """The objective against the learning rate; colour is the optimizer, shape the state."""
    figure = go.Figure()
    for index, group in enumerate(series.groups):
        color = GROUP_COLORS[index % len(GROUP_COLORS)]
        name = "" if series.group_param is None else f"{_text(show_param(group.label))}, "
        for state, points in _by_state(group.points):
            trace = _markers(points, series.metric, f"{name}{state}", color, "lr")
            figure.add_trace(trace)
    figure.update_xaxes(title_text="learning rate (lr)", type="log" if series.is_log else "linear")
    if series.is_log:
        figure.update_xaxes(dtick=1, exponentformat="power", minor={"dtick": "D1"})
    figure.update_yaxes(title_text=_label(series.metric))
    return _styled(figure)


def curves_figure(series: CurveSeries) -> go.Figure:
    """The objective over the epochs; a pruned trial ends in a cross, the best is drawn thick."""
    figure = go.Figure()
    for state in (TrialState.PRUNED, TrialState.FAILED, TrialState.RUNNING, TrialState.COMPLETE):
        curves = [c for c in series.curves if c.state is state and not c.is_best]
        figure.add_traces(_curve_traces(curves, series.metric, state))
    for curve in series.curves:
        if curve.is_best:
            figure.add_trace(_best_trace(curve, series.metric))
    last = 1 + max(epoch for curve in series.curves for epoch in curve.epochs)
    figure.update_xaxes(title_text="epoch", range=[0, last + 0.5], dtick=_tick_step(last))
    figure.update_yaxes(title_text=_label(series.metric))
    return _styled(figure)


def _panel_traces(panel: Panel) -> list[Any]:
    traces = [
        _markers(points, panel.measure, str(state), _STATE_COLORS[state], "batch size")
        for state, points in _by_state(panel.points)
    ]
    means = go.Scatter(
        x=[size for size, _ in panel.means],
        y=[_on_screen(panel.measure, mean) for _, mean in panel.means],
        mode="lines+markers",
        name="mean",
        line={"color": ORANGE, "width": 2},
        marker={"symbol": "diamond", "size": 11, "color": ORANGE},
        hovertemplate=f"mean at batch size %{{x}}<br>%{{y:.4~g}}{_unit(panel.measure)}",
        hoverlabel={"namelength": 0},
    )
    return [*traces, means] if panel.means else traces


def _size_axis(sizes: Sequence[float]) -> dict[str, Any]:
    """Few sizes stand evenly, many on a logarithmic axis."""
    if len(sizes) > _MAX_TICKS:
        return {"type": "log" if min(sizes) > 0 else "linear"}
    labels = [show_number(int(size) if size.is_integer() else size) for size in sizes]
    places = list(sizes)
    return {"type": "category", "categoryarray": places, "tickvals": places, "ticktext": labels}


def _by_state(points: Iterable[Point]) -> list[tuple[TrialState, list[Point]]]:
    grouped = [(state, [p for p in points if p.state is state]) for state in _STATE_SYMBOLS]
    return [(state, members) for state, members in grouped if members]


def _markers(points: Sequence[Point], metric: str, name: str, color: str, x_name: str) -> Any:
    state = points[0].state
    return go.Scatter(
        x=[point.x for point in points],
        y=[_on_screen(metric, point.y) for point in points],
        customdata=[point.trial for point in points],
        mode="markers",
        name=name,
        marker={"symbol": _STATE_SYMBOLS[state], "size": 9, "color": color, "opacity": 0.9},
        hovertemplate=f"trial %{{customdata}}, {state}<br>{x_name} %{{x:.4~g}}"
        f"<br>%{{y:.4~g}}{_unit(metric)}",
        hoverlabel={"namelength": 0},
    )


def _curve_traces(curves: Sequence[Curve], metric: str, state: TrialState) -> list[Any]:
    """One trace of lines with gaps between the trials, and one of markers at their ends."""
    if not curves:
        return []
    color = _STATE_COLORS[state]
    points = [point for curve in curves for point in (*_curve_points(curve, metric), _GAP)]
    lines = _curve_trace(points, state, mode="lines", name=str(state))
    lines.update(line={"color": color, "width": 1.3, "dash": _DASHES.get(state, "solid")})
    ends = [point for curve in curves for point in _end(_curve_points(curve, metric))]
    marks = _curve_trace(ends, state, mode="markers", name=str(state))
    marks.update(marker={"color": color, "symbol": _STATE_SYMBOLS[state], "size": 7})
    lines.update(opacity=0.5, legendgroup=str(state), showlegend=False)
    marks.update(legendgroup=str(state))
    return [lines, marks]


def _tick_step(last: int) -> int:
    """1, 2 or 5 times a power of ten, so that whole epochs have at most ten ticks."""
    power: int = 10 ** max(len(str(last)) - 2, 0)
    steps = (factor * power for factor in (1, 2, 5, 10))
    return next(step for step in steps if last <= 10 * step)


def _best_trace(curve: Curve, metric: str) -> Any:
    points = _curve_points(curve, metric)
    trace = _curve_trace(
        points, curve.state, mode="lines+markers", name=f"best: trial {curve.trial}"
    )
    return trace.update(line={"color": ORANGE, "width": 3.5}, marker={"size": 6})


_CurvePoint = tuple[int | None, float | None, int | None]
_GAP: _CurvePoint = (None, None, None)


def _curve_points(curve: Curve, metric: str) -> list[_CurvePoint]:
    return [
        (epoch + 1, None if value is None else _on_screen(metric, value), curve.trial)
        for epoch, value in zip(curve.epochs, curve.values, strict=True)
    ]


def _end(points: Sequence[_CurvePoint]) -> list[_CurvePoint]:
    return [point for point in points if point[1] is not None][-1:]


def _curve_trace(points: Sequence[_CurvePoint], state: TrialState, *, mode: str, name: str) -> Any:
    return go.Scatter(
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        customdata=[trial for _, _, trial in points],
        mode=mode,
        name=name,
        hovertemplate=f"trial %{{customdata}}, {state}<br>epoch %{{x}}: %{{y:.4~g}}",
        hoverlabel={"namelength": 0},
    )


def _styled(figure: go.Figure) -> go.Figure:
    figure.update_layout(
        template="none",
        height=420,
        margin={"l": 64, "r": 16, "t": 60, "b": 56},
        modebar={"bgcolor": "rgba(0, 0, 0, 0)", "color": GREY, "activecolor": ORANGE},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="closest",
        showlegend=True,
    )
    figure.update_xaxes(gridcolor=_GRID, zeroline=False, automargin=True)
    return figure.update_yaxes(gridcolor=_GRID, zeroline=False, automargin=True)


def _on_screen(metric: str, value: float) -> float:
    return value * 100 if is_accuracy(metric) else value


def _unit(measure: str) -> str:
    if is_accuracy(measure):
        return "%"
    return {"epoch_s": " s", "peak_memory_mib": " MiB"}.get(measure, "")


def _label(measure: str) -> str:
    """An axis title: what is measured, with its unit."""
    if is_accuracy(measure):
        return f"{_text(measure.replace('_', ' '))} (%)"
    return _MEASURES.get(measure) or _text(measure)


def _text(text: str) -> str:
    """A user's text as a label: one line, not too long, and no HTML."""
    return escape(shorten(one_line(text), _MAX_LABEL))
