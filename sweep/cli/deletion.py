"""Deletion of a study: what is asked before, what is removed, and what is said of it."""

import sys
from pathlib import Path

import typer

from sweep.cli.console import tell
from sweep.cli.planning import place_of_runs
from sweep.coordinator.folders import disown, is_owned, owner_name, study_folder
from sweep.coordinator.places import (
    is_shared,
    named_folders,
    remove_folder,
    size_bytes,
    unmark_copied,
)
from sweep.coordinator.removal import remove_study
from sweep.errors import UsageError
from sweep.records import Study
from sweep.sizes import show_size
from sweep.store.store import Store
from sweep.views.display import one_line, show_count


def is_sure(store: Store, study: Study, run_dir: str | None) -> bool:
    """Whether the user says yes to the question. Raises UsageError where nobody can be asked."""
    trials = show_count(len(store.trials(study.id)), "trial")
    database = owner_name(store.connection_string)
    found = [each for each in _folders(store, study, run_dir) if not is_shared(each)]
    folders = [each for each in found if is_owned(each, database)]
    places = "".join(f", and {each} ({show_size(size_bytes(each))})" for each in folders)
    question = f"delete study {one_line(study.name)} with {trials}{places}?"
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody can answer here; give --yes if you are sure")
    return typer.confirm(question, err=True)


def delete_study(store: Store, study: Study, run_dir: str | None) -> None:
    """The study is stored no more, and its folders are gone, but those that a copy uses."""
    folders = _folders(store, study, run_dir)
    database = owner_name(store.connection_string)
    remove_study(store, study)
    for folder in folders:
        if is_shared(folder):
            unmark_copied(folder)
            disown(folder, database)
            tell(f"{folder} stays: a copy of the study uses it")
        elif not is_owned(folder, database):
            tell(f"{folder} stays: a study in another database uses it")
        else:
            remove_folder(folder)
    tell(f"deleted study {one_line(study.name)}")


def copied_text(target: Store, study: Study, where: str) -> str:
    """What was copied, and where its files are."""
    trials = show_count(len(target.trials(study.id)), "trial")
    folders = named_folders(study.name, target.attempts(study.id))
    files = "".join(f"; its files stay in {folder}" for folder in folders)
    return f"copied study {one_line(study.name)} with {trials} to {where}{files}"


def _folders(store: Store, study: Study, run_dir: str | None) -> list[Path]:
    """The study's folders: in the run folder, and where its logs are."""
    own = study_folder(place_of_runs(run_dir), study.name, store.connection_string).path
    named = named_folders(study.name, store.attempts(study.id))
    return sorted({*([own] if own.is_dir() else []), *named})
