"""Figure of parallel coordinates, drawn with plain lines.

Plotly's own kind needs WebGL and a page that lets scripts make functions, which a report forbids;
its labels cannot follow a dark page, and a missing value has no place in it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from sweep.records import TrialState
from sweep.views.display import show_scale
from sweep.views.figures.style import (
    GREY,
    LINE_SCALE,
    ORANGE,
    label,
    on_screen,
    plain,
    rounded,
    styled,
    text,
    unit,
)
from sweep.views.series.axis import UNSET, Axis, share_of
from sweep.views.series.parallel import Line, ParallelSeries

_FIFTHS = 5
_BELOW = -0.12
_MAX_TICKS = 6
_MAX_TICK = 12


def parallel_figure(series: ParallelSeries) -> go.Figure:
    """A line for each trial over its params; the brighter, the higher the objective."""
    low, high = _range(series.lines)
    figure = go.Figure()
    for index in range(_FIFTHS):
        for state in (TrialState.PRUNED, TrialState.COMPLETE):
            lines = [
                line
                for line in series.lines
                if line.state is state
                and not line.is_best
                and _fifth(line.value, low, high) == index
            ]
            if lines:
                figure.add_trace(_lines_trace(lines, series, (low, high), index, state))
    for line in series.lines:
        if line.is_best:
            figure.add_trace(_best_trace(line, series, (low, high)))
    figure.add_trace(_color_bar(series.metric, low, high))
    return _with_axes(styled(figure, 460), series, low, high)


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    values = [line.value for line in lines]
    return min(values), max(values)


def _fifth(value: float, low: float, high: float) -> int:
    return min(int(_FIFTHS * share_of(value, low, high)), _FIFTHS - 1)


def _lines_trace(
    lines: Iterable[Line],
    series: ParallelSeries,
    ends: tuple[float, float],
    index: int,
    state: TrialState,
) -> Any:
    color = sample_colorscale(LINE_SCALE, [(index + 0.5) / _FIFTHS])[0]
    width, dash = (1.1, "dot") if state is TrialState.PRUNED else (1.6, "solid")
    trace = _trace(lines, series, ends)
    return trace.update(
        name=str(state), line={"color": color, "width": width, "dash": dash}, opacity=0.7
    )


def _best_trace(line: Line, series: ParallelSeries, ends: tuple[float, float]) -> Any:
    trace = _trace([line], series, ends)
    return trace.update(
        name=f"best: trial {line.trial}", line={"color": ORANGE, "width": 4}, showlegend=True
    )


def _trace(lines: Iterable[Line], series: ParallelSeries, ends: tuple[float, float]) -> Any:
    xs: list[int | None] = []
    ys: list[float | None] = []
    told: list[list[Any]] = []
    for line in lines:
        places = [_BELOW if place is None else rounded(place) for place in line.places]
        xs += [*range(len(places) + 1), None]
        ys += [*places, rounded(share_of(line.value, *ends)), None]
        value = rounded(on_screen(series.metric, line.value))
        told += [[line.trial, value]] * (len(places) + 1) + [[None, None]]
    return go.Scatter(
        x=xs,
        y=ys,
        customdata=told,
        mode="lines",
        showlegend=False,
        hovertemplate="trial %{customdata[0]}"
        f"<br>{plain(series.metric)} %{{customdata[1]:.5~g}}{unit(series.metric)}",
        hoverlabel={"namelength": 0},
    )


def _color_bar(metric: str, low: float, high: float) -> Any:
    """Draws nothing but the scale of the lines' colours."""
    ends = [rounded(on_screen(metric, low)), rounded(on_screen(metric, high))]
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        showlegend=False,
        marker={
            "color": [ends[0]],
            "colorscale": LINE_SCALE,
            "cmin": ends[0],
            "cmax": ends[1],
            "showscale": True,
            "colorbar": {"title": {"text": label(metric), "side": "right"}, "thickness": 14},
        },
    )


def _with_axes(figure: go.Figure, series: ParallelSeries, low: float, high: float) -> go.Figure:
    width = 70 // (len(series.axes) + 1) + 6
    names = [text(axis.param, width) for axis in series.axes]
    names.append(label(series.metric, width=width))
    has_unset = any(place is None for line in series.lines for place in line.places)
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[-0.35, len(names) - 0.55],
        showgrid=False,
        side="top",
    )
    figure.update_yaxes(visible=False, range=[_BELOW - 0.06 if has_unset else -0.05, 1.05])
    for place, axis in enumerate(series.axes):
        _add_axis(figure, place, _ticks(axis))
    if has_unset:
        _add_axis(figure, 0, [(_BELOW, UNSET)])
    _add_axis(figure, len(series.axes), _ticks_of(series.metric, low, high))
    return figure.update_layout(legend={"y": -0.02, "yanchor": "top"}, margin={"t": 40})


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Where on an axis something is written, and what."""
    if axis.is_even:
        step = -(-len(axis.labels) // (2 * _MAX_TICKS))
        shown = list(enumerate(axis.labels))[::step]
        return [(axis.share_at(place), text(label, _MAX_TICK)) for place, label in shown]
    shares = _shares(axis.low, axis.high, _MAX_TICKS)
    return list(zip(shares, show_scale([axis.at(share) for share in shares]), strict=True))


def _ticks_of(metric: str, low: float, high: float) -> list[tuple[float, str]]:
    """Where on the objective's axis a number is written, and which."""
    shares = _shares(low, high, _FIFTHS)
    numbers = [on_screen(metric, low * (1 - share) + high * share) for share in shares]
    return [
        (share, f"{shown}{unit(metric)}")
        for share, shown in zip(shares, show_scale(numbers, 4), strict=True)
    ]


def _shares(low: float, high: float, count: int) -> list[float]:
    """Places at equal distances from end to end; where the ends are one, their place alone."""
    return [index / (count - 1) for index in range(count)] if low < high else [0.5]


def _add_axis(figure: go.Figure, x: int, ticks: Sequence[tuple[float, str]]) -> None:
    figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, line={"color": GREY, "width": 1.5})
    for share, words in ticks:
        figure.add_annotation(
            x=x, y=share, text=words, showarrow=False, xanchor="left", xshift=4, font={"size": 11}
        )
