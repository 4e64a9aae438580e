"""Hyperparameter sweeps for image classifiers: every GPU busy, nothing lost, tables to trust.

    import sweep
    study = sweep.load("lr_bs_opt")     # a stored study: frames, figures, a report
    study = sweep.run("lr_bs_opt")      # or run it first
    for epoch in sweep.train(sweep.config("digits", epochs=2)): ...

The names below are loaded when they are first used, so that `import sweep` stays light.
"""

__version__ = "0.1.0"

_PLACES = {
    "SweepError": "sweep.errors",
    "LoadedStudy": "sweep.notebook.study",
    "compare": "sweep.notebook.study",
    "load": "sweep.notebook.study",
    "studies": "sweep.notebook.study",
    "load_model": "sweep.training.exported",
    "run": "sweep.notebook.running",
    "TrainedEpoch": "sweep.notebook.training",
    "config": "sweep.notebook.training",
    "train": "sweep.notebook.training",
}
"""Where each name of the interface lies; their types stand in __init__.pyi."""

__all__ = ["__version__", *sorted(_PLACES)]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
