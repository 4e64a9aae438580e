"""Fact markup: names with their values as cards, and lines as a list, in HTML."""

from collections.abc import Iterable

from sweep.views.markup import Markup, element, joined
from sweep.views.recipe_facts import Facts


def cards_markup(facts: Facts, class_: str) -> Markup:
    """A card for each fact; nothing without any."""
    cards = [element("div", element("dt", name), element("dd", value)) for name, value in facts]
    return element("dl", *cards, class_=class_) if cards else Markup("")


def listed_markup(title: str, lines: Iterable[str]) -> Markup:
    """The lines as a list under a title; nothing without any."""
    items = [element("li", line) for line in lines]
    return joined([element("h3", title), element("ul", *items)]) if items else Markup("")
