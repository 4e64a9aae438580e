"""Stored studies: found in the database by the name or file that a command was given."""

import gc
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sweep.coordinator.holder import living_lease
from sweep.errors import NotFoundError
from sweep.records import Lease, Outline, Snapshot, Study
from sweep.store.store import Store, open_store
from sweep.store.url import default_url
from sweep.views.display import one_line

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A study at one moment, and the lease of whoever leads it; None when nobody does."""

    outline: Outline
    lease: Lease | None


def study_flag(name_or_file: str) -> str:
    """The flag by which a command that is proposed finds the study."""
    return f"--study {shlex.quote(one_line(name_or_file))}"


def storage_url(flag: str | None) -> str:
    """The database: the flag's, the environment's, or the default."""
    return default_url(os.environ) if flag is None else flag


@contextmanager
def stored(storage: str | None) -> Iterator[Store]:
    """The store, open. Raises NotFoundError, and makes nothing, where there is none."""
    with open_store(storage_url(storage), create=False) as store:
        yield store


def stored_study(store: Store, name_or_file: str) -> Study:
    """The study of that name, or of the file's. Raises NotFoundError with the near names."""
    if "/" not in name_or_file and not name_or_file.endswith(_SUFFIXES):
        found = store.find_study(name_or_file)
        if found is not None:
            return found
    named = _name_in_file(name_or_file)
    if named is not None and store.find_study(named) is None:
        raise NotFoundError(
            f"study {named} has not been run yet: start it with `sweep run "
            f"{study_flag(name_or_file)}`"
        )
    return store.study(name_or_file if named is None else named)


def snapshot_of(name: str, storage: str | None) -> Snapshot:
    """All of the named study at one moment."""
    with stored(storage) as store:
        return store.snapshot(stored_study(store, name).id)


def measurements_of(names: Sequence[str], storage: str | None) -> list[Snapshot]:
    """Each named study at one moment, without its checkpoints; each study once.

    For commands that answer once and end: what is in memory now is never searched for cycles
    again, which over 300,000 epochs takes a tenth of an export.
    """
    with stored(storage) as store:
        ids = dict.fromkeys(stored_study(store, name).id for name in names)
        snapshots = [store.measurements(each) for each in ids]
    gc.freeze()
    return snapshots


def standing_of(store: Store, study: Study) -> Standing:
    """The study now, with the lease of a living leader."""
    return Standing(outline=store.outline(study.id), lease=living_lease(store, study))


def _name_in_file(name_or_file: str) -> str | None:
    """The name that a study file gives its study; None where there is no such file."""
    from sweep.spec.load import find_study_file, load_study_file

    is_path = "/" in name_or_file or name_or_file.endswith(_SUFFIXES)
    try:
        return load_study_file(find_study_file(name_or_file, Path.cwd())).study
    except NotFoundError:
        if is_path:
            raise
        return None
