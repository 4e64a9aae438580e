"""Filter form: what a person presses to see only some of the trials."""

from collections.abc import Iterable, Sequence
from math import inf, isinf

from sweep.dashboard.filters import (
    PREFIX,
    STATE,
    TRIAL,
    Choice,
    Ends,
    Filter,
    Option,
    Range,
    ends_of,
)
from sweep.records import TrialState
from sweep.views.display import one_line, shorten, show_param
from sweep.views.markup import Markup, element, void

_SHORT = 24


def form_markup(options: Iterable[Option], chosen: Filter) -> Markup:
    """A row for the states and one for each param that differs; nothing pressed is no filter.

    All that is chosen stands in the form, also what it offers to nobody: what it does not hold
    would be lost from the page's address.
    """
    states = [
        _chip(STATE, state.value, state.value, is_on=state in chosen.states)
        for state in TrialState
    ]
    offered = {option.param: option for option in options}
    params = dict.fromkeys((*offered, *sorted(chosen.words)))
    rows = [_row("state", states), *(_param(name, offered.get(name), chosen) for name in params)]
    kept = [
        void("input", type="hidden", name=TRIAL, value=str(number))
        for number in sorted(chosen.trials)
    ]
    clear = element("button", "show all", type="reset", class_="clear")
    return element("form", *rows, *kept, clear, id="filter", autocomplete="off")


def _param(param: str, option: Option | None, chosen: Filter) -> Markup:
    """What is offered of a param, then a pressed chip for each choice that is not among it."""
    name = f"{PREFIX}{param}"
    words = sorted(chosen.words.get(param, ()))
    controls: list[Markup] = []
    if isinstance(option, Choice):
        shown = _shown(option.labels)
        controls = [_chip(name, label, shown[label], is_on=label in words) for label in shown]
        words = [word for word in words if word not in option.labels]
    elif option is not None:
        typed = next(((word, ends) for word in words if (ends := ends_of(word))), None)
        controls = _ends(option, name, typed[1] if typed else None)
        words = [word for word in words if typed is None or word != typed[0]]
    chips = [_chip(name, word, one_line(word), is_on=True) for word in words]
    return _row(one_line(param), [*controls, *chips])


def _row(title: str, content: Iterable[Markup]) -> Markup:
    legend = element("legend", shorten(title, _SHORT), title=title)
    return element("fieldset", legend, *content)


def _chip(name: str, value: str, label: str, *, is_on: bool) -> Markup:
    checked = {"checked": ""} if is_on else {}
    box = void("input", type="checkbox", name=name, value=value, **checked)
    return element(
        "label", box, element("span", shorten(label, _SHORT)), class_="chip", title=value
    )


def _shown(labels: Sequence[str]) -> dict[str, str]:
    """How each label is shown: numbers as the tables do, unless two would look the same."""
    short = {label: _as_number(label) for label in labels}
    return short if len(set(short.values())) == len(short) else {each: each for each in labels}


def _as_number(label: str) -> str:
    try:
        return show_param(float(label) if "." in label or "e" in label else int(label))
    except ValueError:
        return label


def _ends(option: Range, name: str, chosen: Ends | None) -> list[Markup]:
    """Two inputs whose texts the page joins to one range."""
    values = ["" if isinf(end) else repr(end) for end in chosen or (-inf, inf)]
    return [
        void(
            "input",
            type="text",
            inputmode="decimal",
            data_range=name,
            value=value,
            placeholder=show_param(bound),
            aria_label=f"{one_line(option.param)} {word}",
        )
        for value, bound, word in zip(
            values, (option.low, option.high), ("from", "to"), strict=True
        )
    ]
