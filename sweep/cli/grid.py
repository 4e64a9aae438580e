"""Grids: cells as lines of aligned columns, the last of which takes the room that is left."""

from collections.abc import Sequence

from sweep.views.display import shorten, width_of

GAP = "  "


def grid(rows: Sequence[Sequence[str]], width: int, *, left: Sequence[int] = (0,)) -> list[str]:
    """Each row as a line of at most `width` columns; the columns in `left` and the last are text.

    Columns that are empty in every row but the first, which names them, are left out.
    """
    kept = [i for i in range(len(rows[0])) if len(rows) == 1 or any(row[i] for row in rows[1:])]
    widths = {i: max(width_of(row[i]) for row in rows) for i in kept}
    return [_line(row, widths, kept, width, left) for row in rows]


def _line(
    row: Sequence[str],
    widths: dict[int, int],
    kept: Sequence[int],
    width: int,
    left: Sequence[int],
) -> str:
    *most, last = kept
    cells = [_aligned(row[i], widths[i], is_left=i in left) for i in most]
    begin = GAP.join([*cells, ""])
    end = row[last] if last in left or last == len(row) - 1 else row[last].rjust(widths[last])
    return shorten(f"{begin}{end}", width).rstrip()


def _aligned(text: str, width: int, *, is_left: bool) -> str:
    space = " " * (width - width_of(text))
    return text + space if is_left else space + text
