"""Figures of several panels side by side: a param against three measures, and trade-offs."""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sweep.views.figures.style import (
    ORANGE,
    STATE_COLORS,
    axis_look,
    by_state,
    label,
    markers,
    on_screen,
    placed,
    plain,
    rounded,
    styled,
    unit,
)
from sweep.views.series.axis import Axis
from sweep.views.series.param_panels import Panel, PanelSeries
from sweep.views.series.trade_offs import TradeOff, TradeOffSeries

_NARROW = 24


def panels_figure(series: PanelSeries) -> go.Figure:
    """A panel for each measure: a point for each trial, and the means."""
    figure = _side_by_side([_panel_traces(panel, series.axis) for panel in series.panels])
    for column, panel in enumerate(series.panels, start=1):
        least = "normal" if panel.measure == series.metric else "nonnegative"
        title = label(panel.measure)
        figure.update_yaxes(title_text=title, rangemode=least, row=1, col=column)
    figure.update_xaxes(**axis_look(series.axis, _NARROW))
    return styled(figure)


def trade_offs_figure(series: TradeOffSeries) -> go.Figure:
    """The objective against time, memory and cost; a line joins what nothing beats."""
    figure = _side_by_side([_trade_off_traces(each, series.metric) for each in series.panels])
    for column, panel in enumerate(series.panels, start=1):
        is_one = len({point.x for point in panel.points}) == 1
        look = {"rangemode": "tozero" if is_one else "normal"}
        title = label(panel.measure, series.currency)
        figure.update_xaxes(title_text=title, **look, row=1, col=column)
    figure.update_yaxes(title_text=label(series.metric))
    return styled(figure)


def _side_by_side(panels: Sequence[Iterable[Any]]) -> go.Figure:
    """The panels' traces in columns; a name stands in the legend once, and switches them all."""
    figure = make_subplots(rows=1, cols=len(panels), horizontal_spacing=0.11)
    seen: set[str] = set()
    for column, traces in enumerate(panels, start=1):
        for trace in traces:
            trace.update(showlegend=trace.name not in seen, legendgroup=trace.name)
            seen.add(trace.name)
            figure.add_trace(trace, row=1, col=column)
    return figure


def _panel_traces(panel: Panel, axis: Axis) -> list[Any]:
    traces = [
        markers(
            points,
            name=str(state),
            color=STATE_COLORS[state],
            x=(axis.param, axis),
            y_measure=panel.measure,
        )
        for state, points in by_state(panel.points)
    ]
    return [*traces, _means(panel, axis)] if panel.means else traces


def _means(panel: Panel, axis: Axis) -> Any:
    return go.Scatter(
        x=[placed(axis, place) for place, _ in panel.means],
        y=[rounded(on_screen(panel.measure, mean)) for _, mean in panel.means],
        mode="lines+markers",
        name="mean",
        line={"color": ORANGE, "width": 2},
        marker={"symbol": "diamond-open", "size": 12, "color": ORANGE, "line": {"width": 2.5}},
        hovertemplate=f"mean {plain(panel.measure)}<br>%{{y:.5~g}}{unit(panel.measure)}",
        hoverlabel={"namelength": 0},
    )


def _trade_off_traces(panel: TradeOff, metric: str) -> list[Any]:
    traces = [
        markers(
            points,
            name=str(state),
            color=STATE_COLORS[state],
            x=(panel.measure, None),
            y_measure=metric,
        )
        for state, points in by_state(panel.points)
    ]
    front = go.Scatter(
        x=[rounded(point.x) for point in panel.front],
        y=[rounded(on_screen(metric, point.y)) for point in panel.front],
        customdata=[[point.trial] for point in panel.front],
        mode="lines+markers",
        name="Pareto front",
        line={"color": ORANGE, "width": 2, "shape": "hv"},
        marker={"symbol": "diamond-open", "size": 13, "color": ORANGE, "line": {"width": 2}},
        hoverinfo="skip",
    )
    return [*traces, front] if panel.front else traces
