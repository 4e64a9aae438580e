"""Planning: from the flags of `sweep run` to the plan of a run; nothing is written yet."""

import json
import os
import subprocess
from dataclasses import dataclass, fields, replace
from pathlib import Path

from sweep.cli.console import tell
from sweep.cli.places import Places, chosen_slots
from sweep.cli.studies import storage_url
from sweep.cli.values import settings_of
from sweep.coordinator.folders import study_folder
from sweep.coordinator.plan import Plan
from sweep.coordinator.sharing import is_open_to_group
from sweep.errors import NotFoundError, StudyFileError, SweepError, UnusableError, UsageError
from sweep.spec.load import find_study_file, load_study_file
from sweep.spec.overrides import FLAG
from sweep.spec.study import StudySpec
from sweep.views.display import one_line

DEFAULT_RUN_DIR = "runs"
GIT_PATIENCE_S = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What is to be other than in the study file; None where a flag was not given."""

    name: str | None = None
    trials: str | None = None
    timeout: str | None = None
    max_cost: str | None = None
    seed: str | None = None
    settings: list[str] | None = None
    trials_per_gpu: str | None = None
    gpus_per_trial: str | None = None

    @property
    def are_any(self) -> bool:
        """Whether anything is to be other than in the file."""
        return any(getattr(self, each.name) for each in fields(self))


def planned(
    study: str, changes: Changes, places: Places, *, add_trials: int | None, grace_s: float
) -> Plan:
    """The plan that the flags ask for. Raises UsageError, NotFoundError and UnusableError."""
    if changes.trials is not None and add_trials is not None:
        raise UsageError("--trials and --add-trials are both given; give the total or the rest")
    url = storage_url(places.storage)
    spec, folder = _found_spec(study, changes, url)
    chosen = chosen_slots(places, spec, is_sharing_asked=changes.trials_per_gpu is not None)
    runs = run_folder(places.run_dir)
    # what is shared stays so: whoever goes on with it need not say it again
    is_shared = is_open_to_group(study_folder(runs, spec.study, url).path)
    return Plan(
        spec=spec,
        url=url,
        run_folder=runs,
        slots=chosen.slots,
        idle=chosen.idle,
        grace_s=grace_s,
        extra_trials=add_trials,
        allows_cpu=places.cpu is not None,
        shares_busy=places.shares_busy,
        is_for_group=places.share == "group" or is_shared,
        git_commit=git_commit(folder),
    )


def _found_spec(study: str, changes: Changes, url: str) -> tuple[StudySpec, Path]:
    """The spec of the file that is meant, with the changes, and the file's folder; where there is
    no such file, that of the stored study of this name, as it is. Raises NotFoundError.
    """
    try:
        path = find_study_file(study, Path.cwd())
    except NotFoundError as missing:
        spec = _stored_spec(study, url)
        if spec is None:
            raise
        if changes.are_any:
            raise UsageError(
                f"{missing}. Study {one_line(study)} is stored, and can go on without its file, "
                "but not be changed: name the file, or leave out the flags that change it"
            ) from missing
        tell(f"no study file {one_line(study)} here: going on with the study as it is stored")
        return spec, Path.cwd()
    return changed_spec(path, changes), path.absolute().parent


def _stored_spec(study: str, url: str) -> StudySpec | None:
    # Imported here: where there is a file nothing is asked of the database yet.
    from sweep.store.store import open_store

    try:
        with open_store(url, create=False) as store:
            found = store.find_study(study)
    except SweepError:  # the missing file is what is told
        return None
    return None if found is None else StudySpec.from_json(found.spec)


def place_of_runs(flag: str | None) -> Path:
    """The folder of checkpoints and logs: the flag's, the environment's, or the default."""
    return Path(flag or os.environ.get("SWEEP_RUN_DIR") or DEFAULT_RUN_DIR)


def run_folder(flag: str | None) -> Path:
    """The same folder for a run. It need not exist.

    Raises UnusableError where it cannot be made or written.
    """
    folder = place_of_runs(flag)
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"--run-dir {str(folder)!r} is no UTF-8; name another folder") from error
    there = next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise UnusableError(f"--run-dir {folder}: {there} is no folder; name another one")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UnusableError(f"--run-dir {folder}: {there} cannot be written; name another one")
    return folder


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out in a folder; None where there is none, or no git."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def changed_spec(path: Path, changes: Changes) -> StudySpec:
    """The file's spec with the flags laid over it. Raises StudyFileError, naming the changes."""
    given = {
        ("--name", "study"): changes.name,
        ("--trials", "budget.trials"): changes.trials,
        ("--timeout", "budget.timeout"): changes.timeout,
        ("--max-cost", "budget.max_cost"): changes.max_cost,
        ("--seed", "search.seed"): changes.seed,
        ("--trials-per-gpu", "resources.trials_per_gpu"): changes.trials_per_gpu,
        ("--gpus-per-trial", "resources.gpus_per_trial"): changes.gpus_per_trial,
    }
    overrides = settings_of(changes.settings or [])
    names = {}
    for (flag, key), text in given.items():
        if text is not None:
            # A name is text, also where YAML would read a number.
            overrides[key] = json.dumps(text) if flag == "--name" else text
            names[f"{FLAG} {key}={overrides[key]}"] = f"{flag} {text}"
    try:
        return load_study_file(path, overrides)
    except StudyFileError as error:
        renamed = [replace(p, source=names.get(p.source, p.source)) for p in error.problems]
        raise StudyFileError(renamed) from error
