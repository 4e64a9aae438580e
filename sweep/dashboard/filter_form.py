"""Filter form: what a person presses to see only some of the trials."""

from collections.abc import Iterable

from sweep.dashboard.filters import PREFIX, STATE, TRIAL, Choice, Filter, Option, Range
from sweep.records import TrialState
from sweep.views.display import one_line, shorten, show_number
from sweep.views.markup import Markup, element, void

_SHORT = 24


def form_markup(options: Iterable[Option], chosen: Filter) -> Markup:
    """A row for the states and one for each param that differs; nothing pressed is no filter."""
    states = [
        _chip(STATE, state.value, state.value, is_on=state in chosen.states)
        for state in TrialState
    ]
    rows = [_row("state", states), *(_option(option, chosen) for option in options)]
    kept = [
        void("input", type="hidden", name=TRIAL, value=str(number))
        for number in sorted(chosen.trials)
    ]
    clear = element("button", "show all", type="reset", class_="clear")
    return element("form", *rows, *kept, clear, id="filter", autocomplete="off")


def _option(option: Option, chosen: Filter) -> Markup:
    name = f"{PREFIX}{option.param}"
    title = one_line(option.param)
    if isinstance(option, Choice):
        on = chosen.labels.get(option.param, frozenset())
        chips = [_chip(name, label, label, is_on=label in on) for label in option.labels]
        return _row(title, chips)
    return _row(title, _ends(option, name, chosen))


def _row(title: str, content: Iterable[Markup]) -> Markup:
    legend = element("legend", shorten(title, _SHORT), title=title)
    return element("fieldset", legend, *content)


def _chip(name: str, value: str, label: str, *, is_on: bool) -> Markup:
    checked = {"checked": ""} if is_on else {}
    box = void("input", type="checkbox", name=name, value=value, **checked)
    return element(
        "label", box, element("span", shorten(label, _SHORT)), class_="chip", title=label
    )


def _ends(option: Range, name: str, chosen: Filter) -> list[Markup]:
    """Two inputs whose texts the page joins to one range."""
    ends = chosen.ranges.get(option.param)
    shown = ["" if ends is None or abs(end) == float("inf") else repr(end) for end in ends or ()]
    values = shown or ["", ""]
    return [
        void(
            "input",
            type="text",
            inputmode="decimal",
            data_range=name,
            value=value,
            placeholder=show_number(bound),
            aria_label=f"{one_line(option.param)} {word}",
        )
        for value, bound, word in zip(
            values, (option.low, option.high), ("from", "to"), strict=True
        )
    ]
