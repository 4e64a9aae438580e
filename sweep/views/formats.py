"""Format: a table as CSV, JSON or Markdown text; exact for programs, readable for people.

CSV is UTF-8 with `\\n` at the line's end, a decimal point in any locale, whole numbers without a
point, floats as their shortest text that reads back the same, and nothing for a missing cell.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sweep.views.columns import Kind, kind_of_column
from sweep.views.display import decimals_of, one_line, show
from sweep.views.series.axis import label_of

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NEEDS_QUOTES = frozenset(',"\n\r')
_MARKS = re.compile(r"[\\|`*\[\]~$]|_(?!\w)|(?<!\w)_")
_BOM = b"\xef\xbb\xbf"


def to_csv(frame: pd.DataFrame) -> bytes:
    """The table as CSV.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; numbers do not.
    """
    header = [_text_cell(str(name)) for name in frame.columns]
    columns = [[_csv_cell(value) for value in cells] for cells in columns_of(frame)]
    lines = [",".join(row) for row in (header, *zip(*columns, strict=True))]
    if len(header) == 1:
        lines = [line or '""' for line in lines]
    return "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")


def to_csv_with_bom(frame: pd.DataFrame) -> bytes:
    """The table as CSV behind a byte order mark, by which spreadsheets know UTF-8."""
    return _BOM + to_csv(frame)


def to_json(frame: pd.DataFrame) -> str:
    """The table as a JSON list of records; missing is null, text is exact, not defused."""
    names = [str(name) for name in frame.columns]
    columns = [[_json_value(value) for value in cells] for cells in columns_of(frame)]
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return json.dumps(records, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def to_markdown(frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None) -> str:
    """The table as Markdown with numbers as on a screen, right-aligned.

    `kinds` says what columns are whose names do not tell, such as the objective's.
    """
    names = [str(name) for name in frame.columns]
    rule = ["---" if is_text_column(frame, name) else "---:" for name in names]
    shown = [[markdown_text(cell) for cell in cells] for cells in shown_columns(frame, kinds)]
    header = [markdown_text(one_line(name)) for name in names]
    rows = [header, rule, *zip(*shown, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def columns_of(frame: pd.DataFrame) -> list[list[Any]]:
    """The cells of each column as plain Python values, None where missing."""
    return [_plain_cells(frame[name]) for name in frame.columns]


def shown_columns(frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None) -> list[list[str]]:
    """The cells of each column as shown on a screen."""
    return [
        _shown_cells(cells, (kinds or {}).get(str(name), kind_of_column(str(name))))
        for name, cells in zip(frame.columns, columns_of(frame), strict=True)
    ]


def is_text_column(frame: pd.DataFrame, name: str) -> bool:
    """Whether the column is aligned to the left: it holds something else than numbers."""
    return not pd.api.types.is_numeric_dtype(frame[name].dtype)


def _plain_cells(series: "pd.Series[Any]") -> list[Any]:
    missing = series.isna().tolist()
    return [
        None if is_missing else value
        for value, is_missing in zip(series.tolist(), missing, strict=True)
    ]


def _shown_cells(cells: Sequence[Any], kind: Kind) -> list[str]:
    if kind is Kind.PARAM:
        return _shown_params(cells)
    decimals = decimals_of(cells, kind)
    return [show(cell, kind, decimals) for cell in cells]


def _shown_params(cells: Sequence[Any]) -> list[str]:
    """Each value short, and exact where another one of the column would be shown as the same."""
    short = [show(cell, Kind.PARAM) for cell in cells]
    exact = ["" if cell is None else label_of(cell) for cell in cells]
    meant: dict[str, set[str]] = {}
    for text, label in zip(short, exact, strict=True):
        meant.setdefault(text, set()).add(label)
    return [
        text if len(meant[text]) == 1 else label for text, label in zip(short, exact, strict=True)
    ]


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _text_cell(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _text_cell(text: str) -> str:
    defused = f"'{text}" if text.startswith(_FORMULA_STARTS) else text
    if _NEEDS_QUOTES.isdisjoint(defused):
        return defused
    return '"' + defused.replace('"', '""') + '"'


def _json_value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def markdown_text(text: str) -> str:
    """Text of one line that Markdown, its tables and its HTML show as it is."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\g<0>", escaped)
