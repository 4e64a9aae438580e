"""Cold: how long a command takes before it does anything, and a worker before it can train.

Every command in a fresh process, its help and its work on a small study, beside the least that
Python takes. `cpu_s` hardly depends on what else the machine does. A worker is ready once torch
is imported, its device has answered and the data set lies there.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import SWEEP, Took, run_command
from benchmarks.filled import STUDY, fill
from benchmarks.measure import interleaved, measure_of
from benchmarks.options import Options
from benchmarks.result import Row, Table
from sweep.fleet.local import LocalFleet, Received
from sweep.fleet.slots import cpu_slots, default_cpu_count
from sweep.spec.find import find_study_file
from sweep.spec.load import load_study_file
from sweep.wire import Ready

TRIALS, EPOCHS = 20, 6
QUICK_COMMANDS = 2
READY_WITHIN_S = 300.0
FLOORS = {
    "python": "pass",
    "python, import optuna": "import optuna",
    "python, import torch": "import torch",
}
WORK = {
    "sweep status": ["status"],
    "sweep status --study S": ["status", "--study", STUDY],
    "sweep studies list": ["studies", "list"],
    "sweep best --study S": ["best", "--study", STUDY],
    "sweep export --study S": ["export", "--study", STUDY],
    "sweep report --study S": ["report", "--study", STUDY, "-o", "report.html"],
    "sweep check quickstart": ["check", "quickstart"],
    "sweep run --dry-run": ["run", "--study", "quickstart", "--dry-run"],
}


def run(options: Options) -> Iterator[Table]:
    """What each command takes from its start to its end; then a worker until it is ready."""
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        place = Path(folder)
        fill(f"sqlite:///{place}/runs/sweep.db", TRIALS, EPOCHS)
        commands = _commands(place)
        if options.quick:
            commands = dict(list(commands.items())[:QUICK_COMMANDS])
        contenders = {name: _repeatable(words, place) for name, words in commands.items()}
        found = interleaved(contenders, options.num_rounds)
    yield Table(
        title=f"cold: commands, the study has {TRIALS} trials of {EPOCHS} epochs",
        rows=[_row(name, took) for name, took in found.items()],
    )
    seconds = [_worker_ready_s() for _ in range(options.num_rounds)]
    yield Table(
        title="cold: a worker of the quickstart",
        rows=[{"until": "ready for its first trial", "wall_s": measure_of(seconds)}],
    )


def _commands(folder: Path) -> dict[str, list[str]]:
    pythons = {name: [sys.executable, "-c", code] for name, code in FLOORS.items()}
    work = {name: [SWEEP, *words] for name, words in WORK.items()}
    helps = {
        f"sweep {name} --help".replace("  ", " "): [SWEEP, *name.split(), "--help"]
        for name in ("", *_command_names(folder))
    }
    return {**pythons, **helps, **work}


def _command_names(folder: Path) -> list[str]:
    """The commands that the program's own help lists."""
    listed = run_command([SWEEP, "--help"], folder).stdout.partition("Commands:")[2]
    return re.findall(r"^  (\w+)", listed, re.MULTILINE)


def _repeatable(words: list[str], folder: Path) -> Callable[[int], Took]:
    return lambda number: run_command(words, folder)


def _row(name: str, took: list[Took]) -> Row:
    return {
        "command": name,
        "wall_s": measure_of(each.seconds for each in took),
        "cpu_s": measure_of(each.cpu_s for each in took),
        "peak_mib": measure_of(each.peak_mib for each in took),
    }


def _worker_ready_s() -> float:
    spec = load_study_file(find_study_file("quickstart", Path("/")))
    slots = cpu_slots(default_cpu_count())[:1]
    with LocalFleet(slots, spec.recipe.model_dump_json()) as fleet:
        started = time.monotonic()
        fleet.start(slots[0])
        while (passed := time.monotonic() - started) < READY_WITHIN_S:
            for event in fleet.wait(READY_WITHIN_S - passed):
                if isinstance(event, Received) and isinstance(event.message, Ready):
                    return time.monotonic() - started
                raise AssertionError(f"the worker is not ready: {event}")
    raise AssertionError(f"the worker was not ready within {READY_WITHIN_S:g} s")
