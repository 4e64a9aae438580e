"""Figure of parallel coordinates, drawn with plain lines.

Plotly's own kind needs WebGL and a page that lets scripts make functions, which a report forbids;
its labels cannot follow a dark page, and a missing value has no place in it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from sweep.records import TrialState
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
from sweep.views.series.axis import UNSET, Axis
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
    return min(int(_FIFTHS * _share(value, low, high)), _FIFTHS - 1)


def _share(value: float, low: float, high: float) -> float:
    return 0.5 if high == low else (value - low) / (high - low)


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
        ys += [*places, rounded(_share(line.value, *ends)), None]
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
    names = [*(axis.param for axis in series.axes), label(series.metric)]
    has_unset = any(place is None for line in series.lines for place in line.places)
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=[text_of_width(name, 70 // len(names) + 6) for name in names],
        range=[-0.35, len(names) - 0.55],
        showgrid=False,
        side="top",
    )
    figure.update_yaxes(visible=False, range=[_BELOW - 0.06 if has_unset else -0.05, 1.05])
    for place, axis in enumerate(series.axes):
        _add_axis(figure, place, _ticks(axis))
    if has_unset:
        _add_axis(figure, 0, [(_BELOW, UNSET)])
    ends = [(i / 4, _number(series.metric, low + i / 4 * (high - low))) for i in range(5)]
    _add_axis(figure, len(series.axes), ends)
    return figure.update_layout(legend={"y": -0.02, "yanchor": "top"}, margin={"t": 40})


def text_of_width(words: str, width: int) -> str:
    """A label of a few letters."""
    return text(words if len(words) <= width else f"{words[: width - 1]}…")


def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Where on an axis something is written, and what."""
    if axis.is_even:
        step = -(-len(axis.labels) // (2 * _MAX_TICKS))
        last = max(len(axis.labels) - 1, 1)
        shown = list(enumerate(axis.labels))[::step]
        return [(place / last, text_of_width(words, _MAX_TICK)) for place, words in shown]
    shares = [index / (_MAX_TICKS - 1) for index in range(_MAX_TICKS)]
    return [(share, f"{axis.at(share):.3g}") for share in shares]


def _number(metric: str, value: float) -> str:
    return f"{on_screen(metric, value):.4g}{unit(metric)}"


def _add_axis(figure: go.Figure, x: int, ticks: Sequence[tuple[float, str]]) -> None:
    figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, line={"color": GREY, "width": 1.5})
    for share, words in ticks:
        figure.add_annotation(
            x=x, y=share, text=words, showarrow=False, xanchor="left", xshift=4, font={"size": 11}
        )
