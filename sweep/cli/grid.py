"""Grids: cells as lines of aligned columns, the last of which takes the room that is left."""

import textwrap
from collections.abc import Iterable, Sequence

from sweep.views.display import shorten, width_of

GAP = "  "


def grid(rows: Sequence[Sequence[str]], width: int, *, left: Sequence[int] = (0,)) -> list[str]:
    """Each row as a line of at most `width` columns; the columns in `left` are text.

    The last column is text as well, and is cut where it has no room.
    """
    last = len(rows[0]) - 1
    widths = [max(width_of(row[index]) for row in rows) for index in range(last)]
    return [shorten(_line(row, widths, left), width).rstrip() for row in rows]


def facts_text(facts: Iterable[tuple[str, str]], width: int) -> str:
    """Each fact beside its name, on several lines where it is long; empty ones are left out."""
    told = [(name, " ".join(fact.split())) for name, fact in facts if fact.strip()]
    indent = max((len(name) for name, _ in told), default=0) + len(GAP)
    lines = (
        line
        for name, fact in told
        for line in textwrap.wrap(
            fact,
            width,
            initial_indent=name.ljust(indent),
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )
    )
    return "".join(f"{line}\n" for line in lines)


def _line(row: Sequence[str], widths: Sequence[int], left: Sequence[int]) -> str:
    *most, end = row
    cells = [
        _aligned(text, width, is_left=index in left)
        for index, (text, width) in enumerate(zip(most, widths, strict=True))
    ]
    return GAP.join([*cells, end])


def _aligned(text: str, width: int, *, is_left: bool) -> str:
    space = " " * (width - width_of(text))
    return text + space if is_left else space + text
