"""Scripted run: a program that leads a study whose workers only sleep, to its end.

`python -m benchmarks.scripted_run FOLDER SLOTS TRIALS EPOCHS EPOCH_S`; what happened then lies in
the store of the folder.
"""

import sys
from pathlib import Path

from sweep.records import Snapshot
from tests.scripted import run_to_end, scripted_plan, scripted_spec, stored


def main() -> None:
    """Lead the study that `sys.argv` describes."""
    folder, slots, trials, epochs, epoch_s = sys.argv[1:]
    spec = scripted_spec(trials=int(trials), epochs=int(epochs), training={"slow": float(epoch_s)})
    run_to_end(scripted_plan(Path(folder), spec, slots=int(slots)))


def what_happened(folder: Path) -> Snapshot:
    """The study as it was left in the folder."""
    return stored(scripted_plan(folder, scripted_spec()))


if __name__ == "__main__":
    main()
