"""Trials table: the trials of a study in the order that was asked for, a hundred at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sweep.dashboard.address import trial_path
from sweep.errors import UsageError
from sweep.records import Study
from sweep.views.columns import Kind
from sweep.views.comparison import sort_key
from sweep.views.display import one_line, show_count
from sweep.views.formats import columns_of
from sweep.views.frames import Frame
from sweep.views.markup import Markup, element, joined
from sweep.views.table_markup import table_markup

PER_PAGE = 100
SORT, PAGE = "sort", "page"
NEWEST = "-trial"


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """The column that trials are sorted by, which way, and which page of them (from 1)."""

    column: str
    is_falling: bool
    page: int

    @property
    def sign(self) -> str:
        return f"{'-' if self.is_falling else ''}{self.column}"


def order_of(query: Mapping[str, Sequence[str]]) -> Order:
    """The order that a query asks for; else the newest first. Raises UsageError."""
    asked = [*query.get(SORT, ()), NEWEST][0]
    number = [*query.get(PAGE, ()), "1"][0]
    if not (number.isascii() and number.isdecimal() and 0 < len(number) < 8 and int(number)):
        raise UsageError(f"{one_line(number)!r} is no page; they count from 1")
    return Order(
        column=asked.removeprefix("-"), is_falling=asked.startswith("-"), page=int(number)
    )


def trials_markup(study: Study, frame: Frame, kinds: Mapping[str, Kind], order: Order) -> Markup:
    """One page of the trials, with links to each, to other orders and to other pages."""
    if frame.empty:
        return element("p", "No trial is as the filter asks.", class_="soft")
    if order.column not in frame.columns:
        order = Order(column="trial", is_falling=True, page=order.page)
    last = -(-len(frame) // PER_PAGE)
    number = min(order.page, last)
    places = _sorted_places(frame, order)[(number - 1) * PER_PAGE : number * PER_PAGE]
    table = table_markup(
        frame.iloc[places],
        kinds,
        links={"trial": lambda cell: trial_path(study.name, cell)},
        header=lambda name, shown: _sorter(name, shown, order),
    )
    return joined([_count(len(frame), number, last), table])


def _sorted_places(frame: Frame, order: Order) -> list[int]:
    """Where the rows stand in the order; those without a value last, whichever way it goes."""
    (cells,) = columns_of(frame[[order.column]])
    known = [place for place, cell in enumerate(cells) if cell is not None]
    known.sort(key=lambda place: sort_key(cells[place]), reverse=order.is_falling)
    return [*known, *(place for place, cell in enumerate(cells) if cell is None)]


def _sorter(name: str, shown: Markup, order: Order) -> Markup:
    """A column's name that sorts by it when it is pressed, and turns the order around."""
    is_current = name == order.column
    asked = f"-{name}" if is_current and not order.is_falling else name
    mark = ("\u00a0▾" if order.is_falling else "\u00a0▴") if is_current else ""
    return element("button", shown, mark, type="button", data_sort=asked)


def _count(total: int, number: int, last: int) -> Markup:
    turns = [
        element("button", label, type="button", data_page=str(target))
        for label, target in (("previous page", number - 1), ("next page", number + 1))
        if 1 <= target <= last
    ]
    where = f", page {number} of {last} " if last > 1 else " "
    return element("p", f"{show_count(total, 'trial')}{where}", *turns, class_="soft turns")
