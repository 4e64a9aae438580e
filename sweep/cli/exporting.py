"""Exports: the table that was asked for, in the bytes of its format, and where they go."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.cli.console import answer_bytes, tell
from sweep.cli.files import check_place, write_whole
from sweep.coordinator.folders import folder_name
from sweep.errors import UsageError
from sweep.records import Snapshot
from sweep.spec.log_reader import LOGS
from sweep.views.by_table import by_table
from sweep.views.comparison import controlled
from sweep.views.display import one_line
from sweep.views.formats import to_csv, to_csv_with_bom, to_json, to_markdown
from sweep.views.latex import to_tex
from sweep.views.plan import plan_of
from sweep.views.rows import compared, trial_rows
from sweep.views.selection import table_of, with_columns
from sweep.views.sharing import unequal_sharing
from sweep.views.tables import shown_kinds
from sweep.views.text_table import to_text
from sweep.views.workbook import to_xlsx

_DOUBLES = ("tensorboard", "wandb")
_FORMS = {".json": "json", ".md": "md", ".tex": "tex", ".txt": "table", ".xlsx": "xlsx"}


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

    @property
    def is_log(self) -> bool:
        """Whether the format is one of another program's logs, a folder and no table."""
        return self.form in LOGS


def form_of(output: str | None) -> str:
    """The format that a file's ending asks for; csv for any other, and for stdout."""
    ending = "" if output is None else Path(output).suffix.lower()
    return _FORMS.get(ending, "csv")


def check_flags(flags: ExportFlags) -> None:
    """Returns when the flags go together. Raises UsageError, and for a bad place as files do."""
    if flags.by is not None and flags.table is not None:
        raise UsageError("--by and --table are both given; give one of them")
    if flags.bom and flags.form != "csv":
        raise UsageError(f"--bom is for csv; leave it out with --format {flags.form}")
    if flags.is_log:
        _check_log(flags)
        return
    if flags.form == "xlsx" and flags.path is None:
        raise UsageError("xlsx is no text: write it to a file, such as -o trials.xlsx")
    if flags.path is not None:
        check_place(flags.path)


def _check_log(flags: ExportFlags) -> None:
    if flags.path is None:
        raise UsageError(f"{flags.form} is a folder: name one with -o {flags.form}")
    if flags.table is not None or flags.by is not None or flags.columns is not None:
        raise UsageError(f"--format {flags.form} has every trial whole; leave out the other flags")
    if flags.path.exists() and not flags.path.is_dir():
        raise UsageError(f"{flags.path} is a file; name a folder for {flags.form}")
    if flags.form in _DOUBLES and flags.path.is_dir() and any(flags.path.iterdir()):
        raise UsageError(
            f"{flags.path} is not empty, and {flags.form} shows twice what is written twice; name "
            "a new folder"
        )


def log_elsewhere(snapshots: Sequence[Snapshot], flags: ExportFlags) -> None:
    """The folder has the studies in the other program's form, one run a trial.

    Raises UnusableError when its library is not installed, or cannot write there.
    """
    from sweep.trackers.entries import entries_of
    from sweep.trackers.opening import explained, open_tracker

    assert flags.path is not None
    several = len(snapshots) > 1
    for snapshot in snapshots:
        study = snapshot.study
        folder = flags.path / folder_name(study.name) if several else flags.path
        with explained(flags.form):
            tracker = open_tracker(flags.form, study.name, study.metric, folder)
            for entry in entries_of(snapshot):
                tracker.put(entry)
            tracker.close()
    tell(f"wrote {flags.path}")


def exported(snapshots: Sequence[Snapshot], flags: ExportFlags, width: int) -> bytes:
    """The table in its format; tables by a param are said to be a fair comparison or not."""
    if flags.by is None:
        frame = table_of(snapshots, flags.table or "trials")
    else:
        frame = by_table(snapshots, flags.by)
        _judge(snapshots, flags.by)
    if flags.columns is not None:
        frame = with_columns(frame, [name.strip() for name in flags.columns.split(",")])
    kinds = {} if flags.table == "epochs" else shown_kinds(snapshots)
    match flags.form:
        case "csv":
            return to_csv_with_bom(frame) if flags.bom else to_csv(frame)
        case "json":
            text = to_json(frame)
        case "md":
            text = to_markdown(frame, kinds)
        case "tex":
            text = to_tex(frame, kinds)
        case "xlsx":
            return to_xlsx(frame, kinds)
        case _:
            text = to_text(frame, width, kinds)
    return text.encode(errors="backslashreplace")


def deliver(data: bytes, path: Path | None, form: str) -> None:
    """The bytes are on stdout, or in the file, the same ones."""
    if path is None:
        answer_bytes(data)
    else:
        write_whole(path, data)
        tell(f"wrote {path}")
        if form == "csv" and (ending := path.suffix) not in (".csv", ".CSV", ""):
            tell(f"{ending} stands for no format, so it is csv; --format names another")


def _judge(snapshots: Sequence[Snapshot], param: str) -> None:
    for snapshot in snapshots:
        if param in plan_of(snapshot).params:
            sentence = controlled(snapshot, param).sentence
            tell(f"{one_line(snapshot.study.name)}: {sentence}")
            if warning := unequal_sharing(compared(trial_rows(snapshot))):
                tell(f"{one_line(snapshot.study.name)}: {warning}")
