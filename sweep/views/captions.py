"""Caption: what a figure shows, and what it leaves out, in a sentence or two."""

from sweep.views.display import one_line, shorten, show_count, show_percent
from sweep.views.series.boxes import BoxSeries
from sweep.views.series.contour import ContourSeries
from sweep.views.series.curves import CurveSeries
from sweep.views.series.history import HistorySeries
from sweep.views.series.importance import ImportanceSeries
from sweep.views.series.parallel import ParallelSeries
from sweep.views.series.param_panels import PanelSeries
from sweep.views.series.param_scatter import ScatterSeries
from sweep.views.series.studies import StudiesSeries
from sweep.views.series.timeline import PAUSE_S, TimelineSeries
from sweep.views.series.trade_offs import TradeOffSeries

_HEADINGS = {"batch_size": "Batch size", "lr": "Learning rate", "optimizer": "Optimizer"}
_MAX_NAME = 60


def heading(param: str) -> str:
    """The title of a figure about a param."""
    return _HEADINGS.get(param) or f"By {shorten(one_line(param), _MAX_NAME)}"


def panels(series: PanelSeries) -> str:
    where = "" if series.axis.is_even else " in each tenth of the axis"
    return (
        f"A point is a trial. Epoch time and memory: mean over all trials{where}; the objective: "
        f"mean over the complete ones.{_some(series.num_drawn, series.num_total)}"
    )


def scatter(series: ScatterSeries) -> str:
    color = "" if series.group_param is None else f" Colour is the {one_line(series.group_param)}."
    return (
        f"A point is a trial; a cross was pruned, its value is of its last epoch.{color}"
        f"{_some(series.num_drawn, series.num_total)}"
    )


def boxes(series: BoxSeries) -> str:
    return (
        "A box holds the middle half of the complete trials, its line is their median; beside it "
        f"every trial, a cross was pruned.{_some(series.num_drawn, series.num_total)}"
    )


def curves(series: CurveSeries) -> str:
    return (
        "A cross ends a pruned trial, a triangle one that failed."
        f"{_some(series.num_drawn, series.num_total)}"
    )


def history(series: HistorySeries) -> str:
    failed = (
        " Failed trials without a value lie level with the worst one." if series.failed else ""
    )
    return (
        "Trials in their order; only a complete one can be the best."
        f"{failed}{_some(series.num_drawn, series.num_total)}"
    )


def importance(series: ImportanceSeries) -> str:
    return (
        f"How much each param decides whether a trial is among the best {series.num_top} of "
        f"{series.num_trials} complete ones (PED-ANOVA, arXiv:2304.10255). It tells nothing about "
        "params together, and little of few trials."
    )


def parallel(series: ParallelSeries) -> str:
    axes = len(series.axes)
    fewer = f" The first {axes} of {series.num_params} params." if axes < series.num_params else ""
    return (
        "A line is a trial, dotted where it was pruned; its colour is the objective."
        f"{fewer}{_some(series.num_drawn, series.num_total)}"
    )


def contour(series: ContourSeries) -> str:
    return (
        f"Smoothed over {show_count(series.num_total, 'complete trial')}, the white points; where "
        f"none is near, nothing is drawn.{_some(series.num_drawn, series.num_total)}"
    )


def trade_offs(series: TradeOffSeries) -> str:
    return (
        "A point is a trial. On the Pareto front are the complete trials that no other one beats "
        f"in both.{_some(series.num_drawn, series.num_total)}"
    )


def timeline(series: TimelineSeries) -> str:
    lanes = show_count(len(series.lanes), "slot")
    merged = sum(bar.count for bar in series.bars) - len(series.bars)
    fewer = " Attempts too short to be told apart are one bar." if merged else ""
    if series.used is None:
        return (
            "Which slot ran which trial when, of the trials that are looked at: in a gap it may "
            f"have run others.{fewer}"
        )
    return (
        "Which slot ran which trial when; a gap is idle time, or a pause where no slot ran any "
        f"for {PAUSE_S:g} s. Without the pauses, the time of {lanes} was used to "
        f"{show_percent(series.used)}.{fewer}"
    )


def studies(series: StudiesSeries) -> str:
    return (
        "The best complete trial so far, after so many finished trials and so many hours of all "
        "slots together, and the complete trials of each study. Studies with other data, models "
        "or epochs do not compare."
    )


def _some(num_drawn: int, num_total: int) -> str:
    return "" if num_drawn >= num_total else f" {num_drawn} of {num_total} are drawn."
