"""Table markup: a table as HTML, its numbers as on a screen, its columns said what they are."""

import re
from collections.abc import Callable, Mapping

import pandas as pd

from sweep.views.columns import Kind, kind_of_column
from sweep.views.display import one_line, shorten
from sweep.views.formats import is_text_column, shown_columns
from sweep.views.markup import Markup, element, joined

_SHORT = 32
_BREAKS = re.compile(r"(?<=_)(?=.{4})")

Header = Callable[[str, Markup], Markup]
Links = Mapping[str, Callable[[str], str]]
"""For a column's name, where a cell of it leads to."""


def table_markup(
    frame: pd.DataFrame,
    kinds: Mapping[str, Kind],
    *,
    links: Links | None = None,
    header: Header | None = None,
) -> Markup:
    """The table in a box that scrolls; `header` may put something around a column's name."""
    names = [str(name) for name in frame.columns]
    classes = ["text" if is_text_column(frame, name) else "number" for name in names]
    told = [kinds.get(name, kind_of_column(name)) for name in names]
    head = [_head(*each, header) for each in zip(names, told, classes, strict=True)]
    columns = [
        [_cell(text, side, (links or {}).get(name)) for text in cells]
        for name, side, cells in zip(names, classes, shown_columns(frame, kinds), strict=True)
    ]
    rows = [element("tr", *cells) for cells in zip(*columns, strict=True)]
    content = (element("thead", element("tr", *head)), element("tbody", *rows))
    return element("div", element("table", *content), class_="scroll")


def _head(name: str, kind: Kind, side: str, header: Header | None) -> Markup:
    shown = _breakable(shorten(one_line(name), _SHORT))
    content = shown if header is None else header(name, shown)
    return element("th", content, class_=side, title=f"{one_line(name)}: {kind}")


def _cell(text: str, side: str, link: Callable[[str], str] | None) -> Markup:
    content = element("a", text, href=link(text)) if link is not None and text else text
    return element("td", content, class_=side if len(text) <= _SHORT else f"{side} long")


def _breakable(name: str) -> Markup:
    """A column's name that may be broken after an underscore, but not before a short rest."""
    head, *parts = _BREAKS.split(name)
    return joined([head, *(piece for part in parts for piece in (Markup("<wbr>"), part))])
