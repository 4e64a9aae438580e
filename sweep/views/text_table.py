"""Text table: a table that fits a terminal; what has no room is named below it."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from sweep.views.columns import Kind
from sweep.views.display import one_line, shorten, show_count, width_of
from sweep.views.formats import is_text_column, shown_columns

CHOSEN = "chosen"
"""What `attrs` of a frame has where somebody named its columns."""

_GAP = "  "
_MAX_TEXT = 32
_MAX_HEADER = 8
_FIRST_TO_GO = (
    "num_sharing",
    "num_devices",
    "baseline_memory_mib",
    "finished_at",
    "started_at",
    "seed",
    "log",
    "host",
    "attempts",
    "best_epoch",
    "val_accuracy",
    "device",
    "images_per_s",
    "duration_s",
    "best_trial",
    "trials",
    "test_accuracy_std",
    "best_test_accuracy",
    "cost",
    "cause",
    "micro_batch",
    "peak_memory_mib",
    "epochs",
)
_DULL_COUNTS = ("failed", "pruned")


@dataclass(frozen=True, kw_only=True, slots=True)
class _TextColumn:
    """One column as text: its name in lines, its cells, and its side."""

    name: str
    header: tuple[str, ...]
    cells: tuple[str, ...]
    is_text: bool

    @property
    def width(self) -> int:
        return max(width_of(text) for text in (*self.header, *self.cells))

    @property
    def is_empty(self) -> bool:
        return not any(self.cells)


def to_text(frame: pd.DataFrame, width: int = 80, kinds: Mapping[str, Kind] | None = None) -> str:
    """The table in lines of at most `width` columns, numbers as on a screen.

    Columns that are empty, or say the same as another, are left out, unless they were chosen; if
    the rest has no room, the least telling ones go too, and a last line names them.
    """
    columns = [
        _text_column(str(name), cells, is_text_column(frame, str(name)))
        for name, cells in zip(frame.columns, shown_columns(frame, kinds), strict=True)
    ]
    wanted = columns if frame.attrs.get(CHOSEN) else _telling(columns)
    kept = _fitting(wanted, width)
    gone = [c.name for c in columns if c not in kept and (c in wanted or not c.is_empty)]
    lines = [*_lines(kept), *_note(gone, width)]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _text_column(name: str, cells: Sequence[str], is_text: bool) -> _TextColumn:
    return _TextColumn(
        name=name,
        header=_header(shorten(one_line(name), _MAX_TEXT)),
        cells=tuple(shorten(cell, _MAX_TEXT) for cell in cells),
        is_text=is_text,
    )


def _header(name: str) -> tuple[str, ...]:
    """A long name in lines that break after an underscore: peak_, memory_mib."""
    lines = [""]
    for part in name.replace("_", "_\n").splitlines():
        if lines[-1] and len(lines[-1] + part) > _MAX_HEADER:
            lines.append("")
        lines[-1] += part
    return tuple(lines)


def _telling(columns: Sequence[_TextColumn]) -> list[_TextColumn]:
    """Without empty columns, without a study that is always the same, and `value` only once."""
    by_name = {column.name: column for column in columns}
    accuracy, batch_size = by_name.get("test_accuracy"), by_name.get("batch_size")
    return [
        column
        for column in columns
        if not column.is_empty
        and not (column.name == "study" and len(columns) > 1 and len(set(column.cells)) == 1)
        and not (column.name == "value" and accuracy and _repeats(column, accuracy))
        and not (column.name == "micro_batch" and batch_size and _repeats(column, batch_size))
    ] or list(columns[:1])


def _repeats(value: _TextColumn, accuracy: _TextColumn) -> bool:
    pairs = zip(value.cells, accuracy.cells, strict=True)
    return all(cell in ("", other) for cell, other in pairs)


def _fitting(columns: list[_TextColumn], width: int) -> list[_TextColumn]:
    """The columns that have room, the least telling gone first, then the rightmost."""
    kept = list(columns)
    for name in _order_to_go(columns):
        if _total(kept) <= width or len(kept) == 1:
            break
        kept = [column for column in kept if column.name != name]
    return kept


def _order_to_go(columns: Sequence[_TextColumn]) -> list[str]:
    dull = [c.name for c in columns if c.name in _DULL_COUNTS and set(c.cells) <= {"0", ""}]
    rest = [column.name for column in reversed(columns[1:])]
    return list(dict.fromkeys([*dull, *_FIRST_TO_GO, *rest]))


def _total(columns: Sequence[_TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _lines(columns: Sequence[_TextColumn]) -> Iterable[str]:
    height = max((len(column.header) for column in columns), default=0)
    count = len(columns[0].cells) if columns else 0
    for line in range(height):
        yield _GAP.join(_aligned(c, _header_line(c, line - height)) for c in columns)
    for row in range(count):
        yield _GAP.join(_aligned(column, column.cells[row]) for column in columns)


def _header_line(column: _TextColumn, from_bottom: int) -> str:
    return column.header[from_bottom] if -from_bottom <= len(column.header) else ""


def _aligned(column: _TextColumn, text: str) -> str:
    space = " " * (column.width - width_of(text))
    return text + space if column.is_text else space + text


def _note(names: Sequence[str], width: int) -> list[str]:
    if not names:
        return []
    text = f"{show_count(len(names), 'column')} not shown: {', '.join(map(one_line, names))}"
    return ["", *textwrap.wrap(text, width)]
