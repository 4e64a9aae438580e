"""Overview: where studies stand, as pieces of pages: one in full, or all of them in a table."""

from collections.abc import Sequence

from sweep.dashboard.address import study_path, trial_path
from sweep.dashboard.cache import Standing
from sweep.records import TrialState
from sweep.views.chapter import best_facts, failure_line, headline, study_facts
from sweep.views.display import (
    one_line,
    shorten,
    show_device,
    show_duration,
    show_metric,
    show_moment,
    show_params,
)
from sweep.views.fact_markup import cards_markup, listed_markup
from sweep.views.markup import Markup, element, joined
from sweep.views.sparkline import Span, sparkline
from sweep.views.summary import RunningTrial, Summary

_CURVE, _MAX_NAME = 16, 80
_COLUMNS = (
    "study",
    "state",
    "progress",
    "best",
    "complete",
    "pruned",
    "failed",
    "time",
    "created",
)
_NUMBERS = ("best", "complete", "pruned", "failed", "time")


def state_of(standing: Standing) -> str:
    """Where a study stands in a word or two."""
    if standing.lease is not None:
        return "running"
    return "finished" if standing.summary.is_finished else "not running"


def studies_markup(standings: Sequence[Standing]) -> Markup:
    """All studies, a row each: those that run first, then the newest."""
    if not standings:
        return element("p", "No study is stored here yet: start one with ", _code(), ".")
    ordered = sorted(standings, key=lambda each: (each.lease is None, -each.study.id))
    sides = {name: "number" if name in _NUMBERS else "text" for name in _COLUMNS}
    head = [element("th", name, class_=side) for name, side in sides.items()]
    rows = [
        element(
            "tr",
            *(
                element("td", cell, class_=side)
                for cell, side in zip(_cells(each), sides.values(), strict=True)
            ),
        )
        for each in ordered
    ]
    content = (element("thead", element("tr", *head)), element("tbody", *rows))
    growing = {"data_growing": ""} if any(each.lease is not None for each in ordered) else {}
    table = element("table", *content, class_="studies")
    return element("div", table, class_="scroll", **growing)


def _code() -> Markup:
    return element("code", "sweep run --study quickstart")


def _cells(standing: Standing) -> list[str]:
    """In the order of the columns."""
    summary = standing.summary
    best = "" if summary.best is None else show_metric(summary.metric, summary.best.value)
    return [
        _link(summary.study),
        _badge(state_of(standing)),
        _progress(summary),
        joined([best, element("small", one_line(summary.metric))]) if best else "",
        *(str(summary.counts[TrialState(state)]) for state in ("complete", "pruned", "failed")),
        show_duration(summary.elapsed_s),
        show_moment(standing.study.created_at)[:16],
    ]


def _link(name: str) -> Markup:
    shown = one_line(name)
    path = study_path(name)
    return element("a", shorten(shown, _MAX_NAME), href=path, title=shown, class_="name")


def _badge(word: str) -> Markup:
    return element("span", word, class_=f"badge {word.replace(' ', '-')}")


def _progress(summary: Summary) -> Markup:
    planned, done = summary.planned_trials, summary.num_finished
    if planned is None:
        return element("span", f"{done} done")
    bar = element("progress", max=str(max(planned, 1)), value=str(min(done, planned)))
    return element("span", bar, f" {done}/{planned}", class_="progress")


def overview_markup(standing: Standing) -> Markup:
    """One study: the answer so far, how far it is, what runs and what failed.

    That of one that runs is marked `data-growing`: its time and cost rise also while nothing is
    stored, so the page asks for it again and again.
    """
    summary = standing.summary
    led = "" if standing.lease is None else f" by pid {standing.lease.holder.pid} on "
    host = "" if standing.lease is None else one_line(standing.lease.holder.host)
    growing = {} if standing.lease is None else {"data_growing": ""}
    pieces = joined(
        [
            element("p", _badge(state_of(standing)), f"{led}{host} ", _progress(summary)),
            element("p", headline(summary), class_="headline"),
            _best(standing),
            cards_markup(study_facts(summary), "facts"),
            _running(standing),
            listed_markup("Failures", [failure_line(each) for each in summary.failures]),
        ]
    )
    return element("div", pieces, **growing)


def _best(standing: Standing) -> Markup:
    best = standing.summary.best
    if best is None:
        return Markup("")
    name = standing.study.name
    link = element("a", f"trial {best.number}", href=trial_path(name, best.number))
    return cards_markup([("best", link), *best_facts(standing.summary)], "facts best")


def _running(standing: Standing) -> Markup:
    """The trials that run; without a leader none does, whatever the store says."""
    running = standing.summary.running if standing.lease is not None else ()
    if not running:
        return Markup("")
    span = Span.of(value for trial in running for value in trial.values)
    rows = [element("tr", *_running_cells(standing, trial, span)) for trial in running]
    names = ("trial", "epoch", standing.summary.metric, "", "device", "params")
    head = element("tr", *(element("th", one_line(name)) for name in names))
    table = element("table", element("thead", head), element("tbody", *rows))
    return joined([element("h3", "Running now"), element("div", table, class_="scroll")])


def _running_cells(standing: Standing, trial: RunningTrial, span: Span) -> list[Markup]:
    summary = standing.summary
    done = 0 if trial.epoch is None else trial.epoch + 1
    whole = summary.epochs_per_trial
    bar = "" if whole is None else element("progress", max=str(whole), value=str(done))
    of = "" if whole is None else f" of {whole}"
    value = "" if trial.value is None else show_metric(summary.metric, trial.value)
    curve = sparkline(trial.values, span, _CURVE).strip()
    return [
        element(
            "td",
            element("a", str(trial.number), href=trial_path(summary.study, trial.number)),
        ),
        element("td", bar, f" {done}{of}", class_="progress"),
        element("td", value, class_="number"),
        element("td", curve, class_="curve"),
        element("td", "" if trial.device is None else show_device(trial.device)),
        element("td", show_params(trial.params)),
    ]
