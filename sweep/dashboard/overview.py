"""Overview: where studies stand, as pieces of pages: one in full, or all of them in a table."""

from collections.abc import Iterable, Sequence

from sweep.dashboard.address import study_path, trial_path
from sweep.dashboard.cache import Glance
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
from sweep.views.markup import Markup, element, joined
from sweep.views.recipe_facts import Facts
from sweep.views.sparkline import Span, sparkline
from sweep.views.summary import RunningTrial, Summary

_CURVE, _MAX_NAME = 16, 80
_COLUMNS = (
    "study",
    "state",
    "progress",
    "complete",
    "pruned",
    "failed",
    "best",
    "time",
    "created",
)
_NUMBERS = ("best", "complete", "pruned", "failed", "time")


def state_of(glance: Glance) -> str:
    """Where a study stands in a word or two."""
    if glance.lease is not None:
        return "running"
    return "finished" if glance.summary.is_finished else "not running"


def studies_markup(glances: Sequence[Glance]) -> Markup:
    """All studies, a row each: those that run first, then the newest."""
    if not glances:
        return element("p", "No study is stored here yet: start one with ", _code(), ".")
    ordered = sorted(glances, key=lambda each: (each.lease is None, -each.study.id))
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
    return element("div", element("table", *content, class_="studies"), class_="scroll")


def _code() -> Markup:
    return element("code", "sweep run --study quickstart")


def _cells(glance: Glance) -> list[str]:
    summary = glance.summary
    best = "" if summary.best is None else show_metric(summary.metric, summary.best.value)
    return [
        _link(summary.study),
        _badge(state_of(glance)),
        _progress(summary),
        joined([best, element("small", one_line(summary.metric))]) if best else "",
        *(str(summary.counts[TrialState(state)]) for state in ("complete", "pruned", "failed")),
        show_duration(summary.elapsed_s),
        show_moment(glance.study.created_at)[:16],
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


def overview_markup(glance: Glance) -> Markup:
    """One study: the answer so far, how far it is, what runs and what failed."""
    summary = glance.summary
    led = "" if glance.lease is None else f" by pid {glance.lease.holder.pid} on "
    host = "" if glance.lease is None else one_line(glance.lease.holder.host)
    return joined(
        [
            element("p", _badge(state_of(glance)), f"{led}{host} ", _progress(summary)),
            element("p", headline(summary), class_="headline"),
            _best(glance),
            _cards(study_facts(summary), "facts"),
            _running(glance),
            _listed("Failures", [failure_line(each) for each in summary.failures]),
        ]
    )


def _best(glance: Glance) -> Markup:
    best = glance.summary.best
    if best is None:
        return Markup("")
    name = glance.study.name
    link = element("a", f"trial {best.number}", href=trial_path(name, best.number))
    return _cards([("best", link), *best_facts(glance.summary)], "facts best")


def _cards(facts: Facts, class_: str) -> Markup:
    cards = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    return element("dl", *cards, class_=class_)


def _listed(title: str, lines: Iterable[str]) -> Markup:
    items = [element("li", line) for line in lines]
    return joined([element("h3", title), element("ul", *items)]) if items else Markup("")


def _running(glance: Glance) -> Markup:
    """The trials that run; without a leader none does, whatever the store says."""
    running = glance.summary.running if glance.lease is not None else ()
    if not running:
        return Markup("")
    span = Span.of(value for trial in running for value in trial.values)
    rows = [element("tr", *_running_cells(glance, trial, span)) for trial in running]
    names = ("trial", "epoch", glance.summary.metric, "", "device", "params")
    head = element("tr", *(element("th", one_line(name)) for name in names))
    table = element("table", element("thead", head), element("tbody", *rows))
    return joined([element("h3", "Running now"), element("div", table, class_="scroll")])


def _running_cells(glance: Glance, trial: RunningTrial, span: Span) -> list[Markup]:
    summary = glance.summary
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
