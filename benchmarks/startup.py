"""Start-up: a program that takes a stored study over as `sweep run` does, and says when it could.

`python -m benchmarks.startup URL FOLDER TRIALS` goes on with the filled study, its workers
scripted, for one more trial. Its answer on stdout is JSON: seconds from the program's start on.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil


def main() -> None:
    """Lead the study in `sys.argv` until its one new trial is finished."""
    url, folder, num_trials = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    began_at = psutil.Process().create_time()
    seconds: dict[str, float] = {}
    for name in _events(url, folder, num_trials):
        seconds.setdefault(name, time.time() - began_at)
    json.dump(seconds, sys.stdout)


def _events(url: str, folder: Path, num_trials: int) -> Iterator[str]:
    # Imported here: their time is a part of what is measured.
    from benchmarks.filled import filled_spec
    from sweep.coordinator.plan import Plan
    from sweep.coordinator.session import run_study
    from sweep.fleet.slots import cpu_slots
    from tests.scripted import WORKER

    yield "imported_s"
    plan = Plan(
        spec=filled_spec(num_trials),
        url=url,
        run_folder=folder / "runs",
        slots=cpu_slots(1),
        extra_trials=1,
        worker=WORKER,
    )
    for event in run_study(plan):
        yield type(event).__name__


if __name__ == "__main__":
    main()
