"""Reports: the writer that a file's ending asks for."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from sweep import clock
from sweep.cli.files import check_place
from sweep.errors import UsageError
from sweep.records import Snapshot

Writer = Callable[[Sequence[Snapshot], datetime], str]


def report_writer(path: Path) -> Writer:
    """The writer for .html or .md. Raises UsageError for another ending or a bad place."""
    if path.suffix.casefold() not in (".html", ".htm", ".md"):
        raise UsageError(f"-o {path} ends in neither .html nor .md; write one such as report.html")
    check_place(path)
    if path.suffix.casefold() == ".md":
        from sweep.views.markdown_report import md_report

        return md_report
    from sweep.views.report import html_report

    return html_report


def report_text(writer: Writer, snapshots: Sequence[Snapshot]) -> bytes:
    """The report as the bytes of its file."""
    return writer(snapshots, clock.utc_now()).encode(errors="backslashreplace")
