"""The store: opens a database, answers questions about its studies, and gives leadership away."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from sqlalchemy import inspect

from sweep.progress import Watch, unwatched
from sweep.records import (
    Attempt,
    Epoch,
    Holder,
    Lease,
    MemoryKey,
    NewStudy,
    Outline,
    Snapshot,
    Study,
    Trial,
)
from sweep.requests import Request, RequestKind
from sweep.store import (
    changes,
    copying,
    leadership,
    limits,
    migration,
    reads,
    requests,
    sqlite,
    studies,
)
from sweep.store.database import PATIENCE_S, Database
from sweep.store.leadership import Leadership
from sweep.store.url import Location, locate, storage_flag


def validate_url(url: str) -> None:
    """The database can be opened, or made where there is none; nothing was made or changed.

    Raises UsageError for what is no URL of ours; StorageError for a place that cannot be used, a
    server that does not answer, and a database of a newer version.
    """
    location = _checked(url)
    if location.path is None or location.path.exists():
        database = Database(location)
        try:
            if not migration.is_current(database):
                migration.check_owner(database)
        finally:
            database.close()


def open_store(
    url: str,
    *,
    create: bool,
    patience_s: float = PATIENCE_S,
    may_wait: Callable[[], bool] | None = None,
) -> "Store":
    """A store with the newest schema. Later, a lost server is sought for `patience_s` seconds,
    and with `may_wait` a full disk is waited for, both as long as that says so.

    With `create`, the folder, file and tables are made where they are absent; otherwise their
    absence is a NotFoundError, and nothing is made. Raises as `validate_url` does.
    """
    location = _checked(url)
    if location.path is not None and not location.path.exists() and not create:
        raise migration.absent(location)
    database = Database(location, patience_s=patience_s, may_wait=may_wait)
    try:
        _prepare(database, create)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _checked(url: str) -> Location:
    location = locate(url)
    if location.path is not None:
        sqlite.check_file(location.path)
    return location


def _prepare(database: Database, create: bool) -> None:
    path = database.location.path
    if (path is None or path.exists()) and migration.is_current(database):
        return
    if create:
        migration.make(database)
    else:
        migration.upgrade(database)


class Store:
    """An open database. Any thread may ask; only a `Leadership` writes to a study's trials."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def flag(self) -> str:
        """What later commands need after the study's name to find this database."""
        return storage_flag(self._database.location)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Every connection is closed."""
        self._database.close()

    @property
    def connection_string(self) -> str:
        """The URL for other libraries, its driver named, its path absolute, its password shown."""
        return self._database.location.connection_string

    def schema_lock(self) -> AbstractContextManager[None]:
        """Inside, no other process makes tables in the database: for Optuna's own."""
        return migration.schema_lock(self._database)

    def has_table(self, name: str) -> bool:
        """Whether the database has a table of that name, ours or another's."""
        return self._database.read(lambda c: inspect(c).has_table(name))

    def studies(self) -> list[Study]:
        """Every study, in the order in which they were created."""
        return self._database.read(reads.studies)

    def study(self, name: str) -> Study:
        """The study of that name. Raises NotFoundError, naming those nearly called so."""
        return self._database.read(lambda c: reads.study(c, name))

    def find_study(self, name: str) -> Study | None:
        """The study of that name, or None."""
        return self._database.read(lambda c: reads.find_study(c, name))

    def specs(self, study_id: int) -> Mapping[int, Mapping[str, Any]]:
        """The spec of each space version of the study, from the first on."""
        return self._database.read(lambda c: reads.specs(c, study_id))

    def trials(self, study_id: int) -> tuple[Trial, ...]:
        """The study's trials, sorted by number."""
        return self._database.read(lambda c: reads.trials(c, study_id))

    def attempts(self, study_id: int) -> tuple[Attempt, ...]:
        """The study's attempts, sorted by trial and attempt."""
        return self._database.read(lambda c: reads.attempts(c, study_id))

    def epochs(self, study_id: int) -> tuple[Epoch, ...]:
        """The study's effective rows: of each epoch, that of the latest attempt to reach it."""
        return self._database.read(lambda c: reads.epochs(c, study_id))

    def snapshot(self, study_id: int) -> Snapshot:
        """All of the study at one moment. Raises NotFoundError."""
        return self._database.read(lambda c: reads.snapshot(c, study_id))

    def measurements(self, study_id: int) -> Snapshot:
        """As `snapshot`, but no epoch has its checkpoint: of 300,000 epochs half a second less."""
        return self._database.read(lambda c: reads.measurements(c, study_id))

    def outline(self, study_id: int) -> Outline:
        """The study at one moment, of its epochs only what is not finished. NotFoundError."""
        return self._database.read(lambda c: reads.outline(c, study_id))

    def version(self, study_id: int) -> str:
        """A text that differs once anything of the study has; cheap. Raises NotFoundError."""
        return self._database.read(lambda c: changes.version(c, study_id))

    def epochs_of(self, study_id: int, trials: Collection[int]) -> tuple[Epoch, ...]:
        """As `epochs`, of these trials only."""
        return self._database.read(lambda c: changes.epochs_of(c, study_id, trials))

    def values(self, study_id: int, metric: str) -> Mapping[int, Mapping[int, float]]:
        """A metric by trial and epoch, where the effective row has it as a finite number."""
        return self._database.read(lambda c: reads.values(c, study_id, metric))

    def leader(self, study_id: int) -> Lease | None:
        """The lease that was not given back, current or not; None if there is none."""
        return self._database.read(lambda c: reads.leader(c, study_id))

    def pending_requests(self, study_id: int) -> list[Request]:
        """The requests to the leader that are not carried out yet, the oldest first."""
        return self._database.read(lambda c: reads.pending_requests(c, study_id))

    def request(self, request_id: int) -> Request | None:
        """A request as it stands now; None where the study was deleted with it."""
        return self._database.read(lambda c: reads.request(c, request_id))

    def all_epochs(self, study_id: int) -> tuple[Epoch, ...]:
        """Every row of the study, also those that a later attempt has superseded."""
        return self._database.read(lambda c: reads.all_epochs(c, study_id))

    def too_large(self, key: MemoryKey) -> int | None:
        """The smallest number of images at once that did not fit in memory; None if unknown."""
        return self._database.read(lambda c: limits.too_large(c, key))

    def create_study(self, new: NewStudy) -> Study:
        """The study of that name: created now, or the one that has the name already."""
        return self._database.write(lambda c: studies.create(c, new))

    def copy_study(self, study_id: int, target: "Store", watch: Watch = unwatched) -> Study:
        """The study is in the target too, under the same name. UsageError where it is taken."""
        return copying.copy_study(self._database, study_id, target._database, watch)

    def add_request(
        self, study_id: int, kind: RequestKind, arguments: Mapping[str, Any] | None = None
    ) -> Request:
        """The request waits for the study's leader. Raises NotFoundError."""
        return self._database.write(lambda c: requests.add(c, study_id, kind, arguments or {}))

    def lead(
        self, study_id: int, holder: Holder, ttl_s: float, replaces: int | None = None
    ) -> Leadership:
        """The leadership of the study, for `ttl_s` seconds at a time.

        `replaces` is the token of a lease whose holder is known to be dead: it is taken over at
        once. Raises LedByAnotherError while any other lease holds.
        """
        study = self._database.read(lambda c: reads.study_of(c, study_id))
        return leadership.lead(self._database, study, holder, ttl_s, replaces=replaces)
