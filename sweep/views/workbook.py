"""Workbook: a table as an Excel file: exact numbers, text that is never run as a formula."""

import io
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from sweep.errors import UnusableError, UsageError
from sweep.views.columns import Kind, kind_of_column
from sweep.views.display import one_line, width_of
from sweep.views.formats import columns_of

MAX_ROWS = 1_048_575
_MAX_TEXT = 32_767
_FORMATS = {Kind.ACCURACY: "0.00%", Kind.SECONDS: "0.00", Kind.MEMORY: "0.0", Kind.RATE: "0.0"}
_MAX_WIDTH = 40
_LOOKED_AT = 200


def to_xlsx(frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None) -> bytes:
    """The table as the one sheet of an .xlsx file, its header bold, fixed and with filters.

    Raises UsageError for more rows than a sheet has, UnusableError without openpyxl.
    """
    if len(frame) > MAX_ROWS:
        raise UsageError(
            f"the table has {len(frame)} rows, and a sheet of Excel has {MAX_ROWS + 1}; "
            "export it as csv"
        )
    book = _workbook()
    sheet = book.create_sheet("sweep")
    columns = columns_of(frame)
    _lay_out(sheet, frame, columns)
    sheet.append([_cell(sheet, str(name), None, is_bold=True) for name in frame.columns])
    formats = [_format_of(str(name), kinds or {}) for name in frame.columns]
    for row in zip(*columns, strict=True):
        sheet.append([_cell(sheet, v, f) for v, f in zip(row, formats, strict=True)])
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _workbook() -> Any:
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise UnusableError(
            "xlsx needs openpyxl, which is not installed: pip install 'sweep-trials[excel]'"
        ) from error
    return Workbook(write_only=True)


def _format_of(name: str, kinds: Mapping[str, Kind]) -> str | None:
    return _FORMATS.get(kinds.get(name, kind_of_column(name)))


def _cell(sheet: Any, value: Any, number_format: str | None, *, is_bold: bool = False) -> Any:
    """A cell; text is marked as text, so that one that begins with = is no formula."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    is_text = isinstance(value, str)
    cell = WriteOnlyCell(sheet, value=one_line(value)[:_MAX_TEXT] if is_text else value)
    if is_text:
        cell.data_type = "s"
    elif number_format is not None:
        cell.number_format = number_format
    if is_bold:
        cell.font = Font(bold=True)
    return cell


def _lay_out(sheet: Any, frame: pd.DataFrame, columns: Iterable[list[Any]]) -> None:
    """Widths, the fixed header and its filters; a sheet wants them before its rows."""
    from openpyxl.utils import get_column_letter

    for index, (name, cells) in enumerate(zip(frame.columns, columns, strict=True), start=1):
        shown = [str(name), *(str(cell) for cell in cells[:_LOOKED_AT] if cell is not None)]
        width = min(max(map(width_of, shown)) + 2, _MAX_WIDTH)
        sheet.column_dimensions[get_column_letter(index)].width = width
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(frame.columns))}{len(frame) + 1}"
