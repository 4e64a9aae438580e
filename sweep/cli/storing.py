"""Storage: the commands that look after the database as a whole."""

from typing import Annotated, Any

import typer

from sweep.cli.options import StorageOption
from sweep.cli.values import place


def upgrade(storage: StorageOption = None) -> None:
    """Bring the database to this version's schema, with a copy of a SQLite file first."""
    from sweep.cli.console import tell
    from sweep.cli.studies import storage_url
    from sweep.store.maintenance import upgrade as upgraded

    done = upgraded(storage_url(storage))
    if done.before == done.now:
        tell(f"{done.shown} has schema revision {done.now} already")
        return
    copy = "" if done.backup is None else f"; as it was before: {done.backup}"
    tell(f"{done.shown} has schema revision {done.now}, before {done.before}{copy}")


def backup(
    output: Annotated[
        Any,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            parser=place("-o", "sweep-backup.db"),
            help="Where to.  [default: beside the database]",
        ),
    ] = None,
    storage: StorageOption = None,
) -> None:
    """Copy the SQLite database, also while studies run.

    Of PostgreSQL it says which command copies it.
    """
    from pathlib import Path

    from sweep import clock
    from sweep.cli.console import tell
    from sweep.cli.files import check_place
    from sweep.cli.progress import shown_progress
    from sweep.cli.studies import storage_url
    from sweep.store.maintenance import back_up

    target = None if output is None else Path(output)
    if target is not None:
        check_place(target)
    moment = clock.utc_now().strftime("%Y%m%dT%H%M%SZ")
    with shown_progress("copying the database") as watch:
        written = back_up(storage_url(storage), target, moment, watch)
    tell(f"wrote {written}")
