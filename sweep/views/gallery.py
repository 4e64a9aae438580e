"""Gallery: every figure that there is, by name; the report, the notebook and the dashboard loop
over this one list.

    for kind in GALLERY:
        drawn = draw(kind, subject_of(snapshot))        # a Drawing, or a Blank with the reason

A figure is numbers first (views/series), then a picture (views/figures).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import plotly.graph_objects as go

from sweep.errors import UsageError
from sweep.space.names import hint
from sweep.views import captions
from sweep.views.figures.bars import importance_figure, timeline_figure
from sweep.views.figures.boxes import boxes_figure, studies_figure
from sweep.views.figures.lines import curves_figure, history_figure
from sweep.views.figures.panels import panels_figure, trade_offs_figure
from sweep.views.figures.parallel import parallel_figure
from sweep.views.figures.scatter import contour_figure, scatter_figure
from sweep.views.series.boxes import box_series
from sweep.views.series.contour import contour_series
from sweep.views.series.curves import curve_series
from sweep.views.series.history import history_series
from sweep.views.series.importance import importance_series
from sweep.views.series.parallel import parallel_series
from sweep.views.series.param_panels import panel_series
from sweep.views.series.param_scatter import scatter_series
from sweep.views.series.parts import Nothing
from sweep.views.series.studies import studies_series
from sweep.views.series.subject import Subject
from sweep.views.series.timeline import timeline_series
from sweep.views.series.trade_offs import trade_off_series

Figure: TypeAlias = go.Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class FigureKind:
    """One kind of figure: what it is called, what it needs, and how it comes about.

    `title` is for a study whose params have the usual names; `series` makes numbers or says why
    there are none, `figure` draws them, `caption` tells what is seen and what is left out.
    """

    name: str
    title: str
    needs: str
    series: Callable[[Subject], Any]
    figure: Callable[[Any], go.Figure]
    caption: Callable[[Any], str]
    titled: Callable[[Any], str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    """A figure that was drawn, with its words."""

    name: str
    title: str
    caption: str
    figure: go.Figure


@dataclass(frozen=True, kw_only=True, slots=True)
class Blank:
    """A figure that has nothing to draw, and why in one line."""

    name: str
    title: str
    reason: str


GALLERY: tuple[FigureKind, ...] = (
    FigureKind(
        name="batch_size",
        title="Batch size",
        needs="an epoch",
        series=panel_series,
        figure=panels_figure,
        caption=captions.panels,
        titled=lambda series: captions.heading(series.axis.param),
    ),
    FigureKind(
        name="lr",
        title="Learning rate",
        needs="a param of numbers, and a trial with a value",
        series=scatter_series,
        figure=scatter_figure,
        caption=captions.scatter,
        titled=lambda series: captions.heading(series.axis.param),
    ),
    FigureKind(
        name="optimizer",
        title="Optimizer",
        needs="a param of labels, and a trial with a value",
        series=box_series,
        figure=boxes_figure,
        caption=captions.boxes,
        titled=lambda series: captions.heading(series.param),
    ),
    FigureKind(
        name="curves",
        title="Learning curves",
        needs="an epoch with the objective",
        series=curve_series,
        figure=curves_figure,
        caption=captions.curves,
    ),
    FigureKind(
        name="history",
        title="History",
        needs="a trial with a value",
        series=history_series,
        figure=history_figure,
        caption=captions.history,
    ),
    FigureKind(
        name="importance",
        title="Importance of the params",
        needs="10 complete trials",
        series=importance_series,
        figure=importance_figure,
        caption=captions.importance,
    ),
    FigureKind(
        name="parallel",
        title="Parallel coordinates",
        needs="a param that differs, and a trial with a value",
        series=parallel_series,
        figure=parallel_figure,
        caption=captions.parallel,
    ),
    FigureKind(
        name="contour",
        title="Two params at once",
        needs="two params, one of them of numbers, and 4 complete trials",
        series=contour_series,
        figure=contour_figure,
        caption=captions.contour,
    ),
    FigureKind(
        name="trade_offs",
        title="Time, memory and cost",
        needs="a trial with a value and an epoch",
        series=trade_off_series,
        figure=trade_offs_figure,
        caption=captions.trade_offs,
    ),
    FigureKind(
        name="timeline",
        title="Timeline",
        needs="a trial that has started",
        series=timeline_series,
        figure=timeline_figure,
        caption=captions.timeline,
    ),
)
"""The figures of one study, in the order of a report."""

STUDIES = "studies"
"""The name of the one figure that lays several studies over each other."""


def kind_named(name: str) -> FigureKind:
    """The kind of that name. Raises UsageError with the near or all names."""
    for kind in GALLERY:
        if kind.name == name:
            return kind
    if name == STUDIES:
        raise UsageError(f"the figure {STUDIES} takes two studies or more; name another study too")
    known = [*(kind.name for kind in GALLERY), STUDIES]
    raise UsageError(f"there is no figure {name!r}; {hint(name, known)}")


def draw(kind: FigureKind, subject: Subject) -> Drawing | Blank:
    """The study drawn in one way, or why it cannot be."""
    series = kind.series(subject)
    if isinstance(series, Nothing):
        reason = f"{series.reason}{_but_for_excluded([subject])}"
        return Blank(name=kind.name, title=kind.title, reason=reason)
    title = kind.title if kind.titled is None else kind.titled(series)
    return Drawing(
        name=kind.name, title=title, caption=kind.caption(series), figure=kind.figure(series)
    )


def draw_studies(subjects: Sequence[Subject]) -> Drawing | Blank:
    """The studies laid over each other, or why they cannot be."""
    title = "Studies compared"
    series = studies_series(subjects)
    if isinstance(series, Nothing):
        reason = f"{series.reason}{_but_for_excluded(subjects)}"
        return Blank(name=STUDIES, title=title, reason=reason)
    return Drawing(
        name=STUDIES, title=title, caption=captions.studies(series), figure=studies_figure(series)
    )


def _but_for_excluded(subjects: Iterable[Subject]) -> str:
    """What a reason leaves unsaid where trials are missing because they were set apart."""
    is_any = any(len(subject.rows) < len(subject.snapshot.trials) for subject in subjects)
    return "; trials that were set apart by hand are not drawn" if is_any else ""


def figure_of(drawn: Drawing | Blank) -> Figure:
    """The figure alone. Raises UsageError with the reason when there is nothing to draw."""
    if isinstance(drawn, Blank):
        raise UsageError(f"no figure {drawn.name}: {drawn.reason}")
    return drawn.figure


def gallery_markdown() -> str:
    """The figures as a Markdown table for the documentation."""
    rows = [f"| `{kind.name}` | {kind.title} | {kind.needs} |" for kind in GALLERY]
    several = f"| `{STUDIES}` | Studies compared | two studies or more with one objective |"
    return "\n".join(
        ("| figure | what it shows | what it needs |", "|---|---|---|", *rows, several)
    )
