"""Planning: from the flags of `sweep run` to the plan of a run; nothing is written yet."""

import json
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from sweep.cli.console import tell
from sweep.cli.studies import storage_url
from sweep.cli.values import settings_of
from sweep.coordinator.plan import Plan
from sweep.errors import StudyFileError, UsageError
from sweep.fleet.devices import select_gpus, visible_gpus
from sweep.fleet.slots import Slot, cpu_slots, default_cpu_slots, gpu_slots
from sweep.spec.load import find_study_file, load_study_file
from sweep.spec.overrides import FLAG
from sweep.spec.study import StudySpec

DEFAULT_RUN_DIR = "runs"
GIT_PATIENCE_S = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFlags:
    """What was asked for; None where a flag was not given."""

    study: str
    name: str | None
    gpus: str | None
    cpu: int | None
    trials: str | None
    add_trials: int | None
    timeout: str | None
    max_cost: str | None
    settings: tuple[str, ...]
    seed: str | None
    grace_s: float
    storage: str | None
    run_dir: str | None


def planned(flags: RunFlags) -> Plan:
    """The plan that the flags ask for. Raises UsageError, NotFoundError and DeviceError."""
    if flags.trials is not None and flags.add_trials is not None:
        raise UsageError("--trials and --add-trials are both given; give the total or the rest")
    path = find_study_file(flags.study, Path.cwd())
    spec = _spec(path, flags)
    return Plan(
        spec=spec,
        url=storage_url(flags.storage),
        run_folder=run_folder(flags.run_dir),
        slots=chosen_slots(flags.gpus, flags.cpu),
        grace_s=flags.grace_s,
        extra_trials=flags.add_trials,
        allows_cpu=flags.cpu is not None,
        git_commit=git_commit(path.absolute().parent),
    )


def run_folder(flag: str | None) -> Path:
    """The folder of checkpoints and logs: the flag's, the environment's, or the default."""
    return Path(flag or os.environ.get("SWEEP_RUN_DIR") or DEFAULT_RUN_DIR)


def chosen_slots(gpus: str | None, cpu: int | None) -> tuple[Slot, ...]:
    """The slots that the flags name; without one every visible GPU, or else the CPU, told so."""
    if gpus is not None and cpu is not None:
        raise UsageError("--gpus and --cpu are both given; give one of them")
    if cpu is not None:
        return cpu_slots(cpu)
    visible = visible_gpus()
    if gpus is not None:
        return gpu_slots(select_gpus(gpus, visible))
    if visible:
        return gpu_slots(visible)
    slots = default_cpu_slots()
    at_a_time = "2 trials at a time" if len(slots) == 2 else "1 trial at a time"
    tell(f"no GPU here: running {at_a_time} on the CPU (--cpu N for another number)")
    return slots


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out in a folder; None where there is none, or no git."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _spec(path: Path, flags: RunFlags) -> StudySpec:
    """The file's spec with the flags laid over it; a fault of a flag is told under its name."""
    given = {
        "--name study": None if flags.name is None else json.dumps(flags.name),
        "--trials budget.trials": flags.trials,
        "--timeout budget.timeout": flags.timeout,
        "--max-cost budget.max_cost": flags.max_cost,
        "--seed search.seed": flags.seed,
    }
    overrides = settings_of(list(flags.settings))
    names = {}
    for flag_and_key, text in given.items():
        flag, _, key = flag_and_key.partition(" ")
        if text is not None:
            overrides[key] = text
            names[f"{FLAG} {key}={text}"] = f"{flag} {text}"
    try:
        return load_study_file(path, overrides)
    except StudyFileError as error:
        renamed = [replace(p, source=names.get(p.source, p.source)) for p in error.problems]
        raise StudyFileError(renamed) from error
