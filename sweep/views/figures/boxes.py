"""Figures of spreads: boxes for the values of a param, and studies overlaid."""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sweep.records import TrialState
from sweep.views.figures.style import (
    GROUP_COLORS,
    GROUP_DASHES,
    STATE_SYMBOLS,
    by_state,
    even_ticks,
    jitter,
    label,
    on_screen,
    rounded,
    styled,
    text,
    unit,
)
from sweep.views.series.boxes import Box, BoxSeries, Spread
from sweep.views.series.parts import Point
from sweep.views.series.studies import StudiesSeries, StudyLine

_MANY = 2
_BOX_WIDTH = 0.4
_NARROW = 12


def boxes_figure(series: BoxSeries) -> go.Figure:
    """A box for each value; beside it every trial, a cross for one that was pruned."""
    figure = go.Figure()
    for place, box in enumerate(series.boxes):
        figure.add_traces(box_traces(box, place, series.metric))
    figure.add_traces(_shapes(box.points for box in series.boxes))
    figure.update_xaxes(
        title_text=text(series.param), **even_ticks([b.label for b in series.boxes])
    )
    figure.update_yaxes(title_text=label(series.metric))
    return styled(figure)


def studies_figure(series: StudiesSeries) -> go.Figure:
    """How each study rose, by trials and by time, and where its complete trials ended."""
    figure = make_subplots(rows=1, cols=3, horizontal_spacing=0.09)
    for place, study in enumerate(series.studies):
        for column, steps in ((1, study.by_trials), (2, study.by_hours)):
            line = _stairs(study, steps, place, series.metric)
            figure.add_trace(line.update(showlegend=column == 1), row=1, col=column)
        figure.add_traces(box_traces(study.box, place, series.metric), rows=1, cols=3)
    figure.update_xaxes(title_text="finished trials", row=1, col=1)
    figure.update_xaxes(title_text="slot time (h)", row=1, col=2)
    names = [study.name for study in series.studies]
    figure.update_xaxes(title_text="study", **even_ticks(names, _NARROW), row=1, col=3)
    figure.update_yaxes(title_text=f"best so far: {label(series.metric)}")
    figure.update_yaxes(title_text=label(series.metric), row=1, col=3)
    return styled(figure)


def _stairs(
    study: StudyLine, steps: Sequence[tuple[float, float]], place: int, metric: str
) -> Any:
    return go.Scatter(
        x=[rounded(x) for x, _ in steps],
        y=[rounded(on_screen(metric, y)) for _, y in steps],
        mode="lines+markers",
        name=text(study.name),
        legendgroup=study.name,
        line={"color": _color(place), "dash": _dash(place), "width": 2, "shape": "hv"},
        marker={"size": 5},
        hovertemplate=f"{text(study.name)}<br>best so far %{{y:.5~g}}{unit(metric)}",
        hoverlabel={"namelength": 0},
    )


def box_traces(box: Box, place: int, metric: str) -> list[Any]:
    """The box of a place, and the trials to its right, spread a little so that none is hidden."""
    spread = (
        []
        if box.spread is None or box.spread.num < _MANY
        else [_box_trace(box.spread, place, metric, box.label)]
    )
    return spread + [
        go.Scatter(
            x=[rounded(place + 0.33 + 0.09 * jitter(point.trial)) for point in points],
            y=[rounded(on_screen(metric, point.y)) for point in points],
            customdata=[[point.trial] for point in points],
            mode="markers",
            marker={
                "symbol": STATE_SYMBOLS[state],
                "size": 7,
                "color": _color(place),
                "opacity": 0.75,
            },
            showlegend=False,
            hovertemplate=f"trial %{{customdata[0]}}, {state}<br>%{{y:.5~g}}{unit(metric)}",
            hoverlabel={"namelength": 0},
        )
        for state, points in by_state(box.points)
    ]


def _box_trace(spread: Spread, place: int, metric: str, name: str) -> Any:
    numbers = {
        "lowerfence": spread.low,
        "q1": spread.first_quartile,
        "median": spread.median,
        "q3": spread.third_quartile,
        "upperfence": spread.high,
    }
    return go.Box(
        x=[place],
        width=_BOX_WIDTH,
        name=text(name),
        marker={"color": _color(place)},
        line={"width": 2},
        showlegend=False,
        hoverinfo="y",
        **{key: [rounded(on_screen(metric, value))] for key, value in numbers.items()},
    )


def _shapes(groups: Iterable[Iterable[Point]]) -> list[Any]:
    """Entries of the legend for the states that there are; the colours stand under the boxes."""
    present = {point.state for points in groups for point in points}
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=str(state),
            marker={"symbol": STATE_SYMBOLS[state], "size": 8, "color": "#8A8A8A"},
        )
        for state in TrialState
        if state in present
    ]


def _color(place: int) -> str:
    return GROUP_COLORS[place % len(GROUP_COLORS)]


def _dash(place: int) -> str:
    return GROUP_DASHES[place % len(GROUP_DASHES)]
