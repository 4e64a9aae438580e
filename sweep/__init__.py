"""Hyperparameter sweeps for image classifiers: every GPU busy, nothing lost, tables to trust."""

from collections.abc import Callable
from os import PathLike
from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "load_model"]


def load_model(path: str | PathLike[str], factory: Callable[..., Any] | None = None) -> Any:
    """The model in a file that `sweep best --export` wrote: a torch Module in evaluation mode.

    Called with images N,C,H,W whose pixels go from 0 to 255, it gives logits N,K; `classes` names
    them. It evaluates to the value that is stored of its trial. A network of one's own needs the
    `factory` that the study names. Nothing in the file is run.

    Raises DataError for what is no such file, TrainFunctionError without the factory.
    """
    # By its name: importing this package must load no torch, nor may anything that imports it.
    from importlib import import_module

    return import_module("sweep.training.exported").load_model(path, factory)
