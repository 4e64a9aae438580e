"""A coordinator to be killed: `python -m tests.chaos.coordinator URL FOLDER TRIALS SLOTS
EPOCH_S`."""

import sys
from dataclasses import replace
from pathlib import Path

from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.errors import SweepError
from sweep.spec.study import ResourcesSpec, SearchSpec
from tests.scripted import QUALITY, scripted_plan, scripted_spec

EPOCHS = 5


def chaos_plan(url: str, folder: Path, *, trials: int, slots: int, epoch_s: float) -> Plan:
    """A study of random trials, each of five epochs that say the same whenever they are run."""
    spec = scripted_spec(
        QUALITY,
        trials=trials,
        epochs=EPOCHS,
        search=SearchSpec(sampler="random"),
        training={"slow": epoch_s},
        resources=ResourcesSpec(hang_after_s=10.0),
    )
    return replace(scripted_plan(folder, spec, slots=slots), url=url, grace_s=5.0)


def main() -> None:
    """Run the study; the exit code is that of the command."""
    url, folder, trials, slots, epoch_s = sys.argv[1:]
    plan = chaos_plan(
        url, Path(folder), trials=int(trials), slots=int(slots), epoch_s=float(epoch_s)
    )
    code = 0
    try:
        for event in run_study(plan):
            print(event, file=sys.stderr, flush=True)
            code = getattr(event, "exit_code", 0)
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        code = error.exit_code
    sys.exit(code)


if __name__ == "__main__":
    main()
