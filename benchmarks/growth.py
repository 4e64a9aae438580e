"""Growth: what the commands take once a study is large: 10,000 trials of 30 epochs.

The store is filled with made-up trials, and Optuna's tables beside it as its projection. Each
command runs in a process of its own, cold. The peer for the export is Optuna's own frame of the
same trials, which has no epochs. Start-up is a run that takes the study over for one more trial,
its worker scripted: until its first trial starts, and the coordinator's peak of memory.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import MIB, SWEEP, Took, run_command
from benchmarks.filled import STUDY, fill
from benchmarks.filled_optuna import fill_optuna
from benchmarks.measure import interleaved, measure_of
from benchmarks.options import Options
from benchmarks.result import Row, Table

TRIALS, EPOCHS = 10_000, 30
QUICK_TRIALS, QUICK_EPOCHS = 40, 3
COMMANDS = {
    "sweep status": ["status", "--study", STUDY],
    "sweep best": ["best", "--study", STUDY],
    "sweep export": ["export", "--study", STUDY, "-o", "trials.csv"],
    "sweep export --table epochs": [
        *("export", "--study", STUDY, "--table", "epochs", "-o", "epochs.csv")
    ],
    "sweep report": ["report", "--study", STUDY, "-o", "report.html"],
}
WRITTEN = {
    "sweep export": "trials.csv",
    "sweep export --table epochs": "epochs.csv",
    "sweep report": "report.html",
    "optuna trials_dataframe": "optuna.csv",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """A folder with a filled store, as a user's own would lie there."""

    folder: Path
    trials: int
    own_bytes: int

    @property
    def path(self) -> Path:
        return self.folder / "runs" / "sweep.db"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"


def run(options: Options) -> Iterator[Table]:
    """The size of the file, then what each command and a start take."""
    trials, epochs = (QUICK_TRIALS, QUICK_EPOCHS) if options.quick else (TRIALS, EPOCHS)
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        filled = _filled(Path(folder), trials, epochs)
        yield Table(title="growth: the SQLite file", rows=[_size_row(filled, epochs)])
        found = interleaved(_contenders(filled), options.num_rounds)
        yield Table(
            title=f"growth: commands on {trials:,} trials of {epochs} epochs",
            rows=[_row(name, took, filled.folder) for name, took in found.items()],
        )
        starts = [_start(filled) for _ in range(options.num_rounds)]
    yield Table(title="growth: start-up of a run", rows=[_start_row(starts)])


def _filled(folder: Path, trials: int, epochs: int) -> Filled:
    path = folder / "runs" / "sweep.db"
    snapshot = fill(f"sqlite:///{path}", trials, epochs)
    own_bytes = path.stat().st_size
    fill_optuna(f"sqlite:///{path}", snapshot)
    return Filled(folder=folder, trials=trials, own_bytes=own_bytes)


def _size_row(filled: Filled, epochs: int) -> Row:
    whole = filled.path.stat().st_size
    return {
        "trials": filled.trials,
        "epochs": filled.trials * epochs,
        "own_tables_mib": filled.own_bytes / MIB,
        "with_optuna_tables_mib": whole / MIB,
        "bytes_per_epoch": filled.own_bytes / (filled.trials * epochs),
    }


def _contenders(filled: Filled) -> dict[str, Callable[[int], Took]]:
    peer = [sys.executable, "-m", "benchmarks.peers.optuna_export", filled.url, STUDY]
    words = {name: [SWEEP, *words] for name, words in COMMANDS.items()}
    words["optuna trials_dataframe"] = [*peer, "optuna.csv"]
    return {name: _repeatable(command, filled.folder) for name, command in words.items()}


def _repeatable(command: list[str], folder: Path) -> Callable[[int], Took]:
    return lambda number: run_command(command, folder)


def _row(name: str, took: list[Took], folder: Path) -> Row:
    written = None if name not in WRITTEN else (folder / WRITTEN[name]).stat().st_size / MIB
    return {
        "command": name,
        "wall_s": measure_of(each.seconds for each in took),
        "cpu_s": measure_of(each.cpu_s for each in took),
        "peak_mib": measure_of(each.peak_mib for each in took),
        "written_mib": written,
        "without_plotly_mib": _beside_plotly(written) if name == "sweep report" else None,
    }


def _beside_plotly(written_mib: float | None) -> float | None:
    from plotly.offline import get_plotlyjs

    return None if written_mib is None else written_mib - len(get_plotlyjs().encode()) / MIB


def _start(filled: Filled) -> tuple[dict[str, float], Took]:
    """A start on a copy: it adds a trial."""
    with TemporaryDirectory(prefix="sweep-bench-") as folder:
        copy = Path(folder) / "sweep.db"
        shutil.copyfile(filled.path, copy)
        program = [sys.executable, "-m", "benchmarks.startup", f"sqlite:///{copy}"]
        took = run_command([*program, folder, str(filled.trials)], Path(folder))
    return json.loads(took.stdout), took


def _start_row(starts: list[tuple[dict[str, float], Took]]) -> Row:
    return {
        "until_leading_s": measure_of(seconds["StudyLed"] for seconds, _ in starts),
        "until_first_trial_s": measure_of(seconds["TrialStarted"] for seconds, _ in starts),
        "until_end_s": measure_of(seconds["SweepEnded"] for seconds, _ in starts),
        "wall_s": measure_of(took.seconds for _, took in starts),
        "cpu_s": measure_of(took.cpu_s for _, took in starts),
        "peak_mib": measure_of(took.peak_mib for _, took in starts),
    }
