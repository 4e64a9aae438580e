"""Progress: how far something is that takes a while, as a bar on a terminal or as text."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sweep.coordinator.events import DataFetched
from sweep.progress import Watch, unwatched
from sweep.sizes import show_size

_LENGTH = 24


def bar(done: int, total: int | None) -> tuple[str, str]:
    """The two parts of a bar, done and to do; both empty where the whole is not known."""
    if total is None:
        return "", ""
    length = _LENGTH if total <= 0 else min(_LENGTH, round(_LENGTH * done / total))
    return "━" * length, "─" * (_LENGTH - length)


def fetched_text(event: DataFetched) -> str:
    """How far a download is: fetching cifar-10-python.tar.gz: 34.0 MiB of 163 MiB."""
    whole = "" if event.total_bytes is None else f" of {show_size(event.total_bytes)}"
    return f"fetching {event.name}: {show_size(event.done_bytes)}{whole}"


@contextmanager
def shown_progress(what: str) -> Iterator[Watch]:
    """Inside, what is told of a copy, so much done of so much, is a bar on a terminal at stderr;
    elsewhere it is nothing. The bar is gone at the end.
    """
    if not sys.stderr.isatty():
        yield unwatched
        return
    # Imported here: it takes time, and only a terminal has a use for it.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
