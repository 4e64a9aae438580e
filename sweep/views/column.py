"""Column: what a table says of each of its columns: name, what its cells are, what they mean."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Kind(StrEnum):
    """What a column's cells are; decides their type in a table and their look on a screen."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    ACCURACY = "fraction 0..1"
    SECONDS = "seconds"
    MEMORY = "MiB"
    RATE = "images/s"
    MONEY = "money"
    MOMENT = "ISO 8601, UTC"
    FLAG = "true or false"
    PARAM = "a value of the param"


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One column: its name, what its cells are, and what they mean."""

    name: str
    kind: Kind
    meaning: str


Columns: TypeAlias = tuple[Column, ...]


def column(name: str, kind: Kind, meaning: str) -> Column:
    """A column, written as briefly as a row of a table."""
    return Column(name=name, kind=kind, meaning=meaning)


def columns_markdown(columns: Columns) -> str:
    """The columns as a Markdown table for the documentation."""
    rows = (f"| `{column.name}` | {column.kind} | {column.meaning} |" for column in columns)
    return "\n".join(("| column | cells | meaning |", "|---|---|---|", *rows)) + "\n"
