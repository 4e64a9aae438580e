"""The installed `sweep` command, run in a folder of a test's own."""

import os
import subprocess
import sys
from pathlib import Path

SWEEP = str(Path(sys.executable).with_name("sweep"))
DEADLINE_S = 120
_OURS = ("SWEEP_STORAGE", "OPTUNA_STORAGE", "SWEEP_RUN_DIR", "SWEEP_TOKEN", "NO_COLOR", "COLUMNS")


def environment(**changes: str) -> dict[str, str]:
    """This environment without settings of ours and without a GPU."""
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    kept["PATH"] = f"{Path(SWEEP).parent}{os.pathsep}{kept['PATH']}"
    return {**kept, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", **changes}


def sweep(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run `sweep` to its end; what it said."""
    return subprocess.run(
        [SWEEP, *arguments],
        cwd=folder,
        env=environment(**changes),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )


def answered(folder: Path, *arguments: str, **changes: str) -> str:
    """What `sweep` answered on stdout, having ended well."""
    done = sweep(folder, *arguments, **changes)
    assert done.returncode == 0, done.stderr
    return done.stdout
