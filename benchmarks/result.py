"""Result: tables of figures, shown as text, and written as JSON with all that they depend on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import machine
from benchmarks.measure import Measure
from sweep.clock import iso_format, utc_now

Cell: TypeAlias = str | int | float | Measure | None
Row: TypeAlias = Mapping[str, Cell]


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Figures of one kind. The rows have the same columns; their names carry the units."""

    title: str
    rows: Sequence[Row]


class Recording:
    """One benchmark from its start on: what it is to be written with."""

    def __init__(self, name: str, command: Sequence[str], settings: Mapping[str, Any]) -> None:
        self._head = {
            "benchmark": name,
            "command": " ".join(command),
            "settings": dict(settings),
            "started_at": iso_format(utc_now()),
            "machine": machine.machine(),
            "versions": machine.versions(),
            "commit": machine.commit(),
        }
        self._load_before = machine.load_average()

    def document(self, tables: Sequence[Table]) -> dict[str, Any]:
        """The benchmark and its figures as plain JSON values."""
        return {
            **self._head,
            "ended_at": iso_format(utc_now()),
            "load_average": {"before": self._load_before, "after": machine.load_average()},
            "tables": {table.title: [_plain_row(row) for row in table.rows] for table in tables},
        }


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """The document is in the file, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
    part.replace(path)


def text_of(table: Table) -> str:
    """The table for a terminal: medians, and from where to where the rounds went."""
    names = list(table.rows[0])
    lines = [names, *([_shown(row[name]) for name in names] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    is_text = [all(isinstance(row[name], str | None) for row in table.rows) for name in names]
    shown = [_line(line, widths, is_text) for line in lines]
    return "\n".join((table.title, *shown, ""))


def _line(cells: Sequence[str], widths: Sequence[int], is_text: Sequence[bool]) -> str:
    padded = (
        cell.ljust(width) if left else cell.rjust(width)
        for cell, width, left in zip(cells, widths, is_text, strict=True)
    )
    return f"  {'  '.join(padded)}".rstrip()


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case Measure(rounds=(_,)):
            return _number(cell.median)
        case Measure():
            return f"{_number(cell.median)} ({_number(cell.low)}..{_number(cell.high)})"
        case float():
            return _number(cell)
        case int():
            return f"{cell:,}"
        case _:
            return cell


def _number(number: float) -> str:
    """Three digits that mean something; from a thousand on, whole."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def _plain_row(row: Row) -> dict[str, Any]:
    return {name: _plain(cell) for name, cell in row.items()}


def _plain(cell: Cell) -> Any:
    if not isinstance(cell, Measure):
        return cell
    return {
        "median": cell.median,
        "low": cell.low,
        "high": cell.high,
        "rounds": list(cell.rounds),
    }
