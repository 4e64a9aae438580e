"""Figures of bars: the importance of params, and the timeline of slots."""

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from sweep.records import TrialState
from sweep.views.display import show_device, show_moment
from sweep.views.figures.style import BLUE, PURPLE, STATE_COLORS, rounded, styled, text
from sweep.views.series.importance import ImportanceSeries
from sweep.views.series.timeline import CUT_SHORT, Bar, Lane, TimelineSeries

_LOOKS = {
    **{
        state.value: (STATE_COLORS[state], pattern)
        for state, pattern in (
            (TrialState.COMPLETE, ""),
            (TrialState.PRUNED, "x"),
            (TrialState.FAILED, "/"),
            (TrialState.RUNNING, "."),
        )
    },
    CUT_SHORT: (PURPLE, "-"),
}
"""The colour and the pattern of each ending."""

_FEW_BARS = 25
_UNITS = ((172_800, "d", 86_400), (7_200, "h", 3_600), (120, "min", 60))


def importance_figure(series: ImportanceSeries) -> go.Figure:
    """A bar for each param, the most important on top."""
    rows = list(reversed(series.importances))
    bars = go.Bar(
        x=[rounded(100 * share) for _, share in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker={"color": BLUE},
        text=[f"{100 * share:.0f}%" for _, share in rows],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x:.3~g}%",
        hoverlabel={"namelength": 0},
    )
    figure = styled(go.Figure([bars]), 150 + 34 * len(rows))
    figure.update_layout(showlegend=False, margin={"t": 20, "r": 48})
    names = [text(name) for name, _ in rows]
    figure.update_yaxes(title_text="param", showgrid=False)
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names)
    return figure.update_xaxes(title_text="importance (% of all)", range=[0, 105])


def timeline_figure(series: TimelineSeries) -> go.Figure:
    """Each slot a lane with its attempts; below, how many slots were in use."""
    size_s, unit = _time_unit(series.span_s)
    lanes = len(series.lanes)
    height = 200 + 34 * min(lanes, 32)
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.06,
        row_heights=[1 - 90 / height, 90 / height],
    )
    for ending, bars in _by_ending(series.bars):
        edge = 1.0 if len(series.bars) <= _FEW_BARS * lanes else 0.0
        figure.add_trace(_bars(bars, ending, size_s, unit, edge), row=1, col=1)
    figure.add_trace(_in_use(series, size_s), row=2, col=1)
    styled(figure, height).update_layout(barmode="overlay", bargap=0)
    names = _lane_names(series.lanes)
    figure.update_yaxes(row=1, col=1, tickvals=list(range(lanes)), ticktext=names, showgrid=False)
    figure.update_yaxes(row=1, col=1, range=[lanes - 0.4, -0.6], title_text="slot")
    figure.update_yaxes(row=2, col=1, title_text="in use", range=[0, lanes * 1.1])
    figure.update_yaxes(row=2, col=1, dtick=max(lanes // 2, 1))
    since = f"time since {show_moment(series.start)} ({unit})"
    return figure.update_xaxes(row=2, col=1, title_text=since)


def _time_unit(span_s: float) -> tuple[float, str]:
    return next(((size, unit) for least, unit, size in _UNITS if span_s >= least), (1, "s"))


def _by_ending(bars: Iterable[Bar]) -> list[tuple[str, list[Bar]]]:
    kept = list(bars)
    groups = [(ending, [bar for bar in kept if bar.ending == ending]) for ending in _LOOKS]
    return [(ending, members) for ending, members in groups if members]


def _bars(bars: list[Bar], ending: str, size_s: float, unit: str, edge: float) -> Any:
    color, pattern = _LOOKS[ending]
    return go.Bar(
        base=[rounded(bar.start_s / size_s) for bar in bars],
        x=[rounded((bar.end_s - bar.start_s) / size_s) for bar in bars],
        y=[bar.lane for bar in bars],
        orientation="h",
        width=0.7,
        name=ending,
        customdata=[
            [bar.first_trial, _told(bar), rounded((bar.end_s - bar.start_s) / size_s)]
            for bar in bars
        ],
        marker={
            "color": color,
            "pattern": {"shape": pattern, "size": 5},
            "line": {"color": "rgba(255, 255, 255, 0.8)", "width": edge},
        },
        hovertemplate=f"%{{customdata[1]}}, {ending}<br>from %{{base:.4~g}} {unit}, "
        f"for %{{customdata[2]:.4~g}} {unit}",  # a bar's value is its end
        hoverlabel={"namelength": 0},
    )


def _told(bar: Bar) -> str:
    if bar.count == 1:
        return f"trial {bar.first_trial}"
    return f"{bar.count} attempts, trials {bar.first_trial} to {bar.last_trial}"


def _in_use(series: TimelineSeries, size_s: float) -> Any:
    return go.Scatter(
        x=[rounded(moment / size_s) for moment, _ in series.in_use],
        y=[count for _, count in series.in_use],
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": BLUE},
        fill="tozeroy",
        fillcolor="rgba(0, 114, 178, 0.25)",
        showlegend=False,
        hovertemplate=_told_in_use(series),
        hoverlabel={"namelength": 0},
    )


def _told_in_use(series: TimelineSeries) -> str:
    if series.used is None:
        return "%{y} slots in use by these trials"
    return f"%{{y}} of {len(series.lanes)} slots in use"


def _lane_names(lanes: Sequence[Lane]) -> list[str]:
    """Device and use; the host too where there are several, and of a UUID what tells it apart."""
    hosts = {lane.host for lane in lanes}
    devices = {lane.device for lane in lanes}
    short = {device: show_device(device) for device in devices}
    if len(set(short.values())) < len(devices):
        short = {device: device for device in devices}
    return [
        text(f"{lane.host} " if len(hosts) > 1 else "")
        + text(short[lane.device])
        + ("" if lane.used is None else f", {100 * lane.used:.0f}% used")
        for lane in lanes
    ]
