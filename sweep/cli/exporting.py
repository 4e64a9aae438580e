"""Exports: the table that was asked for, in the bytes of its format, and where they go."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sweep.cli.console import answer_bytes, tell
from sweep.cli.files import check_place, write_whole
from sweep.errors import UsageError
from sweep.records import Snapshot
from sweep.space.names import hint
from sweep.views.by_table import by_table
from sweep.views.columns import objective_kinds
from sweep.views.comparison import controlled
from sweep.views.display import one_line
from sweep.views.formats import to_csv, to_csv_with_bom, to_json, to_markdown
from sweep.views.plan import plan_of
from sweep.views.tables import attempts_table, epochs_table, trials_table
from sweep.views.text_table import to_text

_TABLES = {"trials": trials_table, "epochs": epochs_table, "attempts": attempts_table}


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportFlags:
    """What was asked for; None where a flag was not given."""

    table: str | None
    by: str | None
    columns: str | None
    form: str
    output: str | None
    bom: bool

    @property
    def path(self) -> Path | None:
        return None if self.output is None else Path(self.output)


def exported(snapshots: Sequence[Snapshot], flags: ExportFlags, width: int) -> bytes:
    """The table in its format. Raises UsageError for flags that do not go together."""
    _check(flags)
    frame = _chosen(_frame(snapshots, flags), flags.columns)
    kinds = objective_kinds(snapshot.study.metric for snapshot in snapshots)
    match flags.form:
        case "csv":
            return to_csv_with_bom(frame) if flags.bom else to_csv(frame)
        case "json":
            return to_json(frame).encode(errors="backslashreplace")
        case "md":
            return to_markdown(frame, kinds).encode(errors="backslashreplace")
        case _:
            return to_text(frame, width, kinds).encode(errors="backslashreplace")


def deliver(data: bytes, path: Path | None) -> None:
    """The bytes are on stdout, or in the file, the same ones."""
    if path is None:
        answer_bytes(data)
    else:
        write_whole(path, data)
        tell(f"wrote {path}")


def _check(flags: ExportFlags) -> None:
    if flags.by is not None and flags.table is not None:
        raise UsageError("--by and --table are both given; give one of them")
    if flags.bom and flags.form != "csv":
        raise UsageError(f"--bom is for csv; leave it out with --format {flags.form}")
    if flags.path is not None:
        check_place(flags.path)


def _frame(snapshots: Sequence[Snapshot], flags: ExportFlags) -> pd.DataFrame:
    if flags.by is None:
        return _TABLES[flags.table or "trials"](snapshots)
    frame = by_table(snapshots, flags.by)
    for snapshot in snapshots:
        if flags.by in plan_of(snapshot).params:
            sentence = controlled(snapshot, flags.by).sentence
            tell(f"{one_line(snapshot.study.name)}: {sentence}")
    return frame


def _chosen(frame: pd.DataFrame, columns: str | None) -> pd.DataFrame:
    if columns is None:
        return frame
    names = list(dict.fromkeys(name.strip() for name in columns.split(",")))
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in known:
            raise UsageError(f"--columns: there is no column {name!r}; {hint(name, known)}")
    return frame[names]
