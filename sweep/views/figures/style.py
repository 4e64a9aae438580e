"""Style: what all figures have in common: colours, shapes, axes and the words on them.

Colours are those of Okabe and Ito, which the colour-blind can tell apart; how a trial ended is
told by the marker's shape too. The ink is left to the page, so that a figure fits a light and a
dark one. Plotly reads its labels as HTML: every text from a user is escaped here.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from sweep.records import TrialState
from sweep.views.columns import is_accuracy
from sweep.views.display import one_line, shorten, show_param
from sweep.views.series.axis import Axis
from sweep.views.series.parts import Point

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#8A8A8A"
GROUP_COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)
GROUP_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
SCALE = "Cividis"
"""From dark blue to yellow; made for the colour-blind, and rising in grey too."""

LINE_SCALE = [
    [index / 8, sample_colorscale(SCALE, [0.2 + 0.085 * index])[0]] for index in range(9)
]
"""Without its darkest and brightest end, in which a thin line is lost on a dark or white page."""

STATE_COLORS = {
    TrialState.COMPLETE: BLUE,
    TrialState.PRUNED: GREY,
    TrialState.FAILED: VERMILION,
    TrialState.RUNNING: SKY,
    TrialState.WAITING: SKY,
}
STATE_SYMBOLS = {
    TrialState.COMPLETE: "circle",
    TrialState.PRUNED: "x",
    TrialState.FAILED: "triangle-down",
    TrialState.RUNNING: "square-open",
    TrialState.WAITING: "square-open",
}
HEIGHT = 420
_MEASURES = {
    "epoch_s": ("epoch time", "s"),
    "peak_memory_mib": ("peak memory", "MiB"),
}
_PARAMS = {"lr": "learning rate (lr)", "batch_size": "batch size"}
_MANY_POINTS = 50
_MAX_LABEL = 40
_MAX_TICK = 18
_MAX_TICKS = 24
_GRID = "rgba(128, 128, 128, 0.25)"


def styled(figure: go.Figure, height: int = HEIGHT) -> go.Figure:
    """The figure in the looks of this project; `height` is in pixels."""
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 64, "r": 16, "t": 60, "b": 56},
        modebar={"bgcolor": "rgba(0, 0, 0, 0)", "color": GREY, "activecolor": ORANGE},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        font={"family": "system-ui, Noto Sans, Noto Sans CJK SC, sans-serif", "size": 13},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="closest",
        showlegend=True,
    )
    figure.update_xaxes(gridcolor=_GRID, zeroline=False, automargin=True)
    return figure.update_yaxes(gridcolor=_GRID, zeroline=False, automargin=True, title_standoff=10)


def markers(
    points: Sequence[Point],
    *,
    name: str,
    color: str,
    x: tuple[str, Axis | None],
    y_measure: str,
) -> Any:
    """The points of one state as markers; the name and axis of x say what a hover tells.

    With an axis, x is a param; without one it is a measure. The first of a point's `customdata`
    is always its trial.
    """
    state = points[0].state
    x_name, axis = x
    size, opacity = _weight(len(points))
    return go.Scatter(
        x=[
            placed(axis, point.x + _aside(axis, point.trial, len(points)))
            if axis is not None
            else rounded(on_screen(x_name, point.x))
            for point in points
        ],
        y=[rounded(on_screen(y_measure, point.y)) for point in points],
        customdata=[
            [point.trial, *([] if axis is None else [shown_place(axis, point.x)])]
            for point in points
        ],
        mode="markers",
        name=name,
        marker={"symbol": STATE_SYMBOLS[state], "size": size, "color": color, "opacity": opacity},
        hovertemplate=f"trial %{{customdata[0]}}, {state}"
        f"<br>{_told_x(x_name, axis)}"
        f"<br>{plain(y_measure)} %{{y:.5~g}}{unit(y_measure)}",
        hoverlabel={"namelength": 0},
    )


def _weight(num_points: int) -> tuple[float, float]:
    """Size in pixels and opacity of markers, so that many of them remain a cloud."""
    return (9, 0.85) if num_points <= 200 else (7, 0.7) if num_points <= 600 else (5, 0.6)


def _aside(axis: Axis | None, trial: int, num_points: int) -> float:
    """Many points of one label stand a little beside each other."""
    is_crowded = axis is not None and axis.is_even and num_points > _MANY_POINTS
    return 0.16 * jitter(trial) if is_crowded else 0.0


def jitter(trial: int) -> float:
    """Between -1 and 1, the same for a trial each time; by the golden ratio, so evenly."""
    return 2 * (trial * 0.6180339887 % 1) - 1


def shown_place(axis: Axis, place: float) -> str:
    """The param's value at a place of its axis."""
    return text(axis.labels[int(place)]) if axis.is_even else show_param(place)


def _told_x(name: str, axis: Axis | None) -> str:
    if axis is not None:
        return f"{param_label(name)} %{{customdata[1]}}"
    return f"{plain(name)} %{{x:.4~g}}{unit(name)}"


def by_state(points: Iterable[Point]) -> list[tuple[TrialState, list[Point]]]:
    """The points of each state that has any, the complete ones first."""
    kept = list(points)
    groups = [(state, [p for p in kept if p.state is state]) for state in STATE_SYMBOLS]
    return [(state, members) for state, members in groups if members]


def axis_look(axis: Axis, width: int = _MAX_LABEL) -> dict[str, Any]:
    """What plotly is told of a param's axis: its title, scale and ticks.

    `width` is how many letters of a title have room.
    """
    title = {"title_text": param_label(axis.param, width)}
    if axis.is_even:
        return title | even_ticks(axis.labels, width // 2)
    if not axis.is_log:
        return title
    return title | log_ticks(axis.low, axis.high)


def even_ticks(labels: Sequence[str], width: int = _MAX_TICK) -> dict[str, Any]:
    """Ticks of an axis on which labels stand evenly; of very many only some are written."""
    step = -(-len(labels) // _MAX_TICKS)
    places = list(range(0, len(labels), step))
    return {
        "tickvals": places,
        "ticktext": [text(labels[place], width) for place in places],
        "range": [-0.5, len(labels) - 0.5],
        "showgrid": False,
        "ticklabeloverflow": "allow",
    }


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Ticks of a logarithmic axis: powers of ten, with more between them on a short one."""
    look: dict[str, Any] = {"type": "log", "minor": {"dtick": "D1"}}
    if high / low >= 100:
        return look | {"dtick": 1, "exponentformat": "power"}
    return look | {"dtick": "D2", "exponentformat": "power"}


def on_screen(measure: str, value: float) -> float:
    """The number as drawn: an accuracy in percent, anything else as it is."""
    return value * 100 if is_accuracy(measure) else value


def rounded(value: float) -> float:
    """Six digits: more than a screen shows, and a third of the bytes."""
    return float(f"{value:.6g}")


def placed(axis: Axis, place: float) -> float:
    """The place with as many digits as tell two apart, also on an axis whose ends are near."""
    return rounded(place) if axis.is_even else float(f"{place:.12g}")


def unit(measure: str, currency: str | None = None) -> str:
    """The unit after a number: %, s, MiB, a currency, or nothing."""
    if is_accuracy(measure):
        return "%"
    name = (
        text(currency) if measure == "cost" and currency else _MEASURES.get(measure, ("", ""))[1]
    )
    return f" {name}" if name else ""


def label(measure: str, currency: str | None = None, *, width: int = _MAX_LABEL) -> str:
    """An axis title: what is measured, in about `width` letters, with its unit in brackets."""
    symbol = unit(measure, currency).strip()
    return f"{plain(measure, width)} ({symbol})" if symbol else plain(measure, width)


def plain(measure: str, width: int = _MAX_LABEL) -> str:
    """What is measured, in words."""
    if measure in _MEASURES:
        return _MEASURES[measure][0]
    return text(measure.replace("_", " ") if is_accuracy(measure) else measure, width)


def param_label(param: str, width: int = _MAX_LABEL) -> str:
    """The name of a param; its values are numbers or labels, whatever a metric of that name is."""
    return text(_PARAMS.get(param, param), width)


def text(words: str, width: int = _MAX_LABEL) -> str:
    """A user's text as a label: one line, not too long, and no HTML."""
    return escape(shorten(one_line(words), width))
