"""Maintenance of a database as a whole: its schema brought up to date, and its backup."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from sweep.errors import UsageError
from sweep.progress import Watch, unwatched
from sweep.store import migration, sqlite
from sweep.store.database import Database
from sweep.store.failures import translated
from sweep.store.url import Location, locate


@dataclass(frozen=True, kw_only=True, slots=True)
class Upgrade:
    """The schema's revision before and now; `backup` is the copy of a SQLite file from before."""

    shown: str
    before: str
    now: str
    backup: Path | None


def upgrade(url: str) -> Upgrade:
    """The database has the newest schema; a SQLite file that is changed is copied first.

    Raises NotFoundError without our tables, and as `validate_url` does.
    """
    location = _existing(url)
    database = Database(location)
    try:
        before = database.once(migration.found)
        if before is None:
            raise migration.absent(location)
        if not migration.is_current(database):
            migration.upgrade(database)
    finally:
        database.close()
    now = migration.newest()
    is_copied = location.path is not None and before != now
    backup = sqlite.backup_path(location.path, before) if is_copied and location.path else None
    return Upgrade(shown=str(location), before=before, now=now, backup=backup)


def back_up(url: str, target: Path | None, moment: str, watch: Watch = unwatched) -> Path:
    """A complete copy of the SQLite file lies at the target, readable by whom the file is.

    Without a target it lies beside the file, named by the moment. Others may read and write
    meanwhile. `watch` hears of the pages that are copied. Raises UsageError for PostgreSQL,
    with the command that copies one, and for one of the database's own files; DiskError where the
    target cannot be written.
    """
    location = _existing(url)
    if location.path is None:
        raise UsageError(
            f"this copies SQLite files; for {location} run: {_pg_dump(location, moment)}"
        )
    place = target or location.path.with_name(f"{location.path.name}.backup-{moment}")
    own = [*sqlite.files_of(location.path), *sqlite.files_of(location.path.resolve())]
    if any(_is_same(place, each) for each in own):
        raise UsageError(f"{place} is the database itself; name another file with -o")
    if place.exists() and not sqlite.is_database(place):
        raise UsageError(f"{place} is there, and is no database; name another file with -o")
    with translated(location):
        sqlite.copy_online(location.path, place, watch)
    return place


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _existing(url: str) -> Location:
    location = locate(url)
    if location.path is not None:
        sqlite.check_file(location.path)
        if not location.path.exists():
            raise migration.absent(location)
    return location


def _pg_dump(location: Location, moment: str) -> str:
    url = location.url.set(drivername="postgresql", password=None)
    shown = shlex.quote(url.render_as_string(hide_password=True))
    return f"pg_dump --format=custom --file=sweep-{moment}.dump {shown}"
