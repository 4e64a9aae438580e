"""Figures on the plane of params: one against the objective, and two with it as a contour."""

from typing import Any

import plotly.graph_objects as go

from sweep.views.figures.style import (
    GREY,
    GROUP_COLORS,
    SCALE,
    axis_look,
    by_state,
    label,
    markers,
    on_screen,
    param_label,
    placed,
    plain,
    rounded,
    shown_place,
    styled,
    text,
    unit,
)
from sweep.views.series.contour import ContourSeries
from sweep.views.series.param_scatter import ScatterSeries


def scatter_figure(series: ScatterSeries) -> go.Figure:
    """The objective against a param; colour is the group, shape the state."""
    figure = go.Figure()
    for index, group in enumerate(series.groups):
        color = GROUP_COLORS[index % len(GROUP_COLORS)]
        name = "" if group.label is None else f"{text(group.label)}, "
        for state, points in by_state(group.points):
            trace = markers(
                points,
                name=f"{name}{state}",
                color=color,
                x=(series.axis.param, series.axis),
                y_measure=series.metric,
            )
            figure.add_trace(trace)
    figure.update_xaxes(**axis_look(series.axis))
    figure.update_yaxes(title_text=label(series.metric))
    return styled(figure)


def contour_figure(series: ContourSeries) -> go.Figure:
    """The objective over two params as a surface of colours, and the trials that it rests on."""
    figure = go.Figure([_surface(series), _points(series)])
    figure.update_xaxes(**axis_look(series.x_axis))
    figure.update_yaxes(**axis_look(series.y_axis))
    return styled(figure)


def _surface(series: ContourSeries) -> Any:
    kind = go.Heatmap if series.y_axis.is_even else go.Contour
    trace = kind(
        x=[placed(series.x_axis, x) for x in series.xs],
        y=[placed(series.y_axis, y) for y in series.ys],
        z=[
            [None if z is None else rounded(on_screen(series.metric, z)) for z in line]
            for line in series.surface
        ],
        colorscale=SCALE,
        colorbar={"title": {"text": label(series.metric), "side": "right"}, "thickness": 14},
        hoverinfo="skip",
        name="smoothed",
    )
    if kind is go.Contour:
        trace.update(line={"width": 0.5}, connectgaps=False)
    return trace


def _points(series: ContourSeries) -> Any:
    metric = series.metric
    return go.Scatter(
        x=[placed(series.x_axis, point.x) for point in series.points],
        y=[placed(series.y_axis, point.y) for point in series.points],
        customdata=[
            [point.trial, rounded(on_screen(metric, value)), *_labels(series, point.x, point.y)]
            for point, value in zip(series.points, series.values, strict=True)
        ],
        mode="markers",
        name="complete",
        marker={"size": 8, "color": "white", "line": {"color": "#404040", "width": 1.5}},
        hovertemplate="trial %{customdata[0]}"
        f"<br>{param_label(series.x_axis.param)} %{{customdata[2]}}"
        f"<br>{param_label(series.y_axis.param)} %{{customdata[3]}}"
        f"<br>{plain(metric)} %{{customdata[1]:.5~g}}{unit(metric)}",
        hoverlabel={"namelength": 0, "bordercolor": GREY},
    )


def _labels(series: ContourSeries, x: float, y: float) -> list[str]:
    return [shown_place(series.x_axis, x), shown_place(series.y_axis, y)]
