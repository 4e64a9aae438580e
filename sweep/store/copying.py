"""Copying: a whole study from one database to another, of any kind, with all its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from sweep.errors import UsageError
from sweep.progress import Watch
from sweep.records import Study
from sweep.store import reads, schema
from sweep.store.database import Database

_TABLES = (schema.spaces, schema.trials, schema.attempts, schema.epochs)
"""In the order in which their rows may be added. A lease and requests are of a leader there is."""
_AT_ONCE = 2_000


@dataclass(frozen=True, kw_only=True, slots=True)
class _Contents:
    """The rows of a study in each table, less its id."""

    study: Mapping[str, Any]
    rows: Mapping[Table, Sequence[Sequence[Any]]]


def copy_study(source: Database, study_id: int, target: Database, watch: Watch) -> Study:
    """The study as it now is in the target too; it has another id there, all else is the same.

    `watch` hears of the rows that are written. Raises UsageError, and writes nothing, when the
    target has a study of that name.
    """
    contents = source.read(lambda c: _read(c, study_id))
    written: list[int] = []

    def write(connection: Connection) -> Study:
        found = reads.find_study(connection, contents.study["name"])
        if found is not None and found.id not in written:
            raise UsageError(
                f"there is a study {found.name} in {target.location} already; delete that one, "
                "or copy to another database"
            )
        if found is None:
            written.append(_write(connection, contents, watch))
        return reads.study(connection, contents.study["name"])

    return target.write(write)


def _read(connection: Connection, study_id: int) -> _Contents:
    question = select(schema.studies).where(schema.studies.c.id == study_id)
    study = dict(connection.execute(question).one()._mapping)
    del study["id"]
    return _Contents(
        study=study, rows={table: _rows(connection, table, study_id) for table in _TABLES}
    )


def _rows(connection: Connection, table: Table, study_id: int) -> list[tuple[Any, ...]]:
    columns = [column for column in table.c if column.name != "study_id"]
    question = select(*columns).where(table.c.study_id == study_id).order_by(*table.primary_key)
    return [tuple(row) for row in connection.execute(question)]


def _write(connection: Connection, contents: _Contents, watch: Watch) -> int:
    done, total = 0, sum(map(len, contents.rows.values()))
    statement = insert(schema.studies).values(**contents.study).returning(schema.studies.c.id)
    study_id = int(connection.execute(statement).scalar_one())
    for table, rows in contents.rows.items():
        names = [column.name for column in table.c if column.name != "study_id"]
        for first in range(0, len(rows), _AT_ONCE):
            part = rows[first : first + _AT_ONCE]
            values = [dict(zip(names, row, strict=True), study_id=study_id) for row in part]
            connection.execute(insert(table), values)
            done += len(part)
            watch(done, total)
    return study_id
