"""Trial page: one trial with its params, attempts, learning curve, epochs and log."""

from collections.abc import Sequence

from sweep.dashboard.address import study_path, trial_path
from sweep.dashboard.answer import Answer
from sweep.dashboard.compare_page import drawing_scripts, figure_frame
from sweep.dashboard.filters import TRIAL
from sweep.dashboard.layout import live, whole_page
from sweep.dashboard.library import TrialView
from sweep.dashboard.log_tail import TAIL_BYTES, log_tail
from sweep.records import Attempt, Study, Trial, TrialState
from sweep.views.columns import objective_kinds
from sweep.views.display import (
    one_line,
    show_cost,
    show_device,
    show_duration,
    show_metric,
    show_moment,
    show_param,
)
from sweep.views.fact_markup import cards_markup
from sweep.views.markup import Markup, element, joined
from sweep.views.plan import plan_of
from sweep.views.recipe_facts import Facts
from sweep.views.table_markup import table_markup
from sweep.views.tables import attempts_table, epochs_table


def trial_page(view: TrialView) -> Answer:
    """The page of a trial; its log is fetched when it is open, and again while it may grow."""
    name, number = view.snapshot.study.name, view.trial.number
    return whole_page(
        f"trial {number} of {name}",
        element("p", element("a", one_line(name), href=study_path(name)), *_beside(view)),
        element("h1", f"Trial {number}"),
        live(trial_path(name, number, "detail"), detail_markup(view)),
        figure_frame(name, "curves", "Learning curve", f"?{TRIAL}={number}"),
        element("h2", "Log"),
        live(trial_path(name, number, "log"), _log_of_last(view)),
        drawing_scripts(),
        poll=study_path(name, "state.json"),
        study=study_path(name),
    )


def _beside(view: TrialView) -> list[Markup]:
    name = view.snapshot.study.name
    near = ((view.before, "previous"), (view.after, "next"))
    return [
        element("a", f"{word} trial", href=trial_path(name, number), class_="beside")
        for number, word in near
        if number is not None
    ]


def detail_markup(view: TrialView) -> Markup:
    """All that changes while a trial runs, but its curve and its log."""
    snapshot = view.snapshot
    kinds = objective_kinds([snapshot.study.metric])
    pieces = [
        cards_markup(_params(view.trial), "facts best"),
        cards_markup(_facts(view), "facts"),
        element("p", one_line(view.trial.message), class_="message") if view.trial.message else "",
    ]
    if snapshot.attempts:
        attempts = attempts_table([snapshot]).drop(columns=["study", "trial"])
        pieces += [element("h2", "Attempts"), table_markup(attempts, kinds)]
    if snapshot.epochs:
        epochs = epochs_table([snapshot]).drop(columns=["study", "trial"])
        shown = table_markup(epochs.loc[:, epochs.notna().any()], kinds)
        folded = element("details", element("summary", f"Epochs ({len(epochs)})"), shown)
        pieces.append(folded)
    return joined(pieces)


def _params(trial: Trial) -> Facts:
    return [(one_line(name), show_param(value)) for name, value in trial.params.items()]


def _facts(view: TrialView) -> Facts:
    trial, row, study = view.trial, view.row, view.snapshot.study
    plan = plan_of(view.snapshot)
    facts = [
        ("state", trial.state.value),
        ("cause", trial.cause.value.replace("_", " ") if trial.cause else ""),
        (one_line(study.metric), _value(study, trial)),
        ("epochs", f"{row.epochs}" if plan.epochs is None else f"{row.epochs} of {plan.epochs}"),
        ("epoch time", show_duration(row.epoch_s) if row.epoch_s is not None else ""),
        ("time", show_duration(row.duration_s) if row.duration_s is not None else ""),
        ("memory", f"{row.peak_memory_mib:.0f} MiB" if row.peak_memory_mib is not None else ""),
        ("cost", show_cost(row.cost, plan.price.currency) if row.cost is not None else ""),
        ("device", show_device(row.device) if row.device else ""),
        ("seed", str(trial.seed)),
        ("started", show_moment(trial.started_at) if trial.started_at else ""),
        ("ended", show_moment(trial.finished_at) if trial.finished_at else ""),
        ("set apart", "counts in no comparison" if trial.excluded else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _value(study: Study, trial: Trial) -> str:
    return "" if trial.value is None else show_metric(study.metric, trial.value)


def _log_of_last(view: TrialView) -> Markup:
    return log_markup(view.snapshot.study.name, view.snapshot.attempts, None)


def log_markup(study: str, attempts: Sequence[Attempt], number: int | None) -> Markup:
    """The end of the log of that attempt, or of the last, with a button for each.

    That of an attempt that runs is marked `data-growing`: the page asks for it again and again,
    also while nothing changes in the store, as between two epochs.
    """
    if not attempts:
        return element("p", "The trial has not begun yet.", class_="soft")
    by_number = {each.attempt: each for each in attempts}
    attempt = by_number.get(number or 0, attempts[-1])
    pieces = [_turns(attempts, attempt), *_tail(study, attempt)]
    if attempt.state is TrialState.RUNNING:
        return element("div", *pieces, data_growing="")
    return joined(pieces)


def _tail(study: str, attempt: Attempt) -> list[Markup]:
    tail = log_tail(study, attempt)
    if tail.reason is not None:
        return [element("p", tail.reason, class_="soft")]
    cut = (
        f"The last {TAIL_BYTES // 1024} KiB of {tail.size_bytes // 1024}. " if tail.is_cut else ""
    )
    whole = f"{cut}{one_line(attempt.log or '')}"
    text = element("pre", tail.text or "(nothing was printed)", class_="log", tabindex="0")
    return [element("p", whole, class_="soft"), text]


def _turns(attempts: Sequence[Attempt], shown: Attempt) -> Markup:
    if len(attempts) < 2:
        return Markup("")
    buttons = [
        element(
            "button",
            f"attempt {each.attempt}",
            type="button",
            data_attempt=str(each.attempt),
            aria_pressed="true" if each is shown else "false",
        )
        for each in attempts
    ]
    return element("p", *buttons, class_="turns")
