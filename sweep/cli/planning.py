"""Planning: from the flags of `sweep run` to the plan of a run; nothing is written yet."""

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from sweep.cli.studies import storage_url
from sweep.cli.values import settings_of
from sweep.coordinator.plan import Plan
from sweep.errors import StudyFileError, UnusableError, UsageError
from sweep.fleet.choice import select_gpus
from sweep.fleet.devices import visible_gpus
from sweep.fleet.slots import Slot, cpu_slots, default_cpu_slots, gpu_slots
from sweep.spec.load import find_study_file, load_study_file
from sweep.spec.overrides import FLAG
from sweep.spec.study import StudySpec

DEFAULT_RUN_DIR = "runs"
GIT_PATIENCE_S = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What is to be other than in the study file; None where a flag was not given."""

    name: str | None
    trials: str | None
    timeout: str | None
    max_cost: str | None
    seed: str | None
    settings: list[str] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """Where to run and where to store; None where a flag was not given.

    `memory_limit` is in bytes.
    """

    gpus: str | None
    cpu: int | None
    memory_limit: int | None
    shares_busy: bool
    storage: str | None
    run_dir: str | None


def planned(
    study: str, changes: Changes, places: Places, *, add_trials: int | None, grace_s: float
) -> Plan:
    """The plan that the flags ask for. Raises UsageError, NotFoundError and UnusableError."""
    if changes.trials is not None and add_trials is not None:
        raise UsageError("--trials and --add-trials are both given; give the total or the rest")
    path = find_study_file(study, Path.cwd())
    spec = changed_spec(path, changes)
    return Plan(
        spec=spec,
        url=storage_url(places.storage),
        run_folder=run_folder(places.run_dir),
        slots=limited(chosen_slots(places.gpus, places.cpu), places.memory_limit),
        grace_s=grace_s,
        extra_trials=add_trials,
        allows_cpu=places.cpu is not None,
        shares_busy=places.shares_busy,
        git_commit=git_commit(path.absolute().parent),
    )


def run_folder(flag: str | None) -> Path:
    """The folder of checkpoints and logs: the flag's, the environment's, or the default.

    It need not exist. Raises UnusableError where it cannot be made or written.
    """
    folder = Path(flag or os.environ.get("SWEEP_RUN_DIR") or DEFAULT_RUN_DIR)
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


def chosen_slots(gpus: str | None, cpu: int | None) -> tuple[Slot, ...]:
    """The slots that the flags name; without one every visible GPU, or else some on the CPU."""
    if gpus is not None and cpu is not None:
        raise UsageError("--gpus and --cpu are both given; give one of them")
    if cpu is not None:
        return cpu_slots(cpu)
    visible = visible_gpus()
    if gpus is not None:
        return gpu_slots(select_gpus(gpus, visible))
    return gpu_slots(visible) if visible else default_cpu_slots()


def limited(slots: tuple[Slot, ...], memory_limit: int | None) -> tuple[Slot, ...]:
    """The slots with a limit of memory for each, in bytes. Raises UsageError for the CPU's."""
    if memory_limit is None:
        return slots
    if not all(slot.device.uuid for slot in slots):
        raise UsageError(
            "--memory-limit is for GPUs, and this runs on the CPU; leave it out, or choose --gpus"
        )
    return tuple(replace(slot, memory_limit_bytes=memory_limit) for slot in slots)


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
