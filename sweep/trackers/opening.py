"""Opening: the tracker of a name, with what to install where it is not there."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweep.errors import SweepError, UnusableError
from sweep.spec.log_reader import LOGS
from sweep.trackers.entries import Tracker

_PLACES = {
    "tensorboard": ("sweep.trackers.tensorboard", "TensorBoard", "tensorboardX"),
    "mlflow": ("sweep.trackers.mlflow", "Mlflow", "mlflow"),
    "wandb": ("sweep.trackers.wandb", "Wandb", "wandb"),
}
assert set(_PLACES) == set(LOGS)


def open_tracker(name: str, study: str, metric: str, folder: Path) -> Tracker:
    """The tracker of that name for a study, writing into the folder.

    Raises UnusableError when its library is not installed.
    """
    module, kind, library = _PLACES[name]
    try:
        with _without_torch():
            found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise UnusableError(
            f"{name} needs {library}, which is not installed: pip install 'sweep-trials[{name}]'"
        ) from error
    tracker: Tracker = getattr(found, kind)(study, metric, folder)
    return tracker


@contextmanager
def _without_torch() -> Iterator[None]:
    """What is imported here finds no torch, unless it is loaded already.

    tensorboardX loads it where it can, for pictures and graphs: 2 s and 300 MB for nothing.
    """
    is_hidden = "torch" not in sys.modules
    if is_hidden:
        sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if is_hidden:
            sys.modules.pop("torch", None)


@contextmanager
def explained(name: str) -> Iterator[None]:
    """What the tracker's library raises becomes one line. Raises UnusableError."""
    try:
        yield
    except SweepError:
        raise
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise UnusableError(f"{name} cannot be written: {text[:300]}") from error
