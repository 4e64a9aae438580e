"""Factory: a user's own network, built by whichever of three signatures it has."""

import inspect
from collections.abc import Callable
from typing import TypeAlias

from torch import nn

from sweep.errors import TrainFunctionError
from sweep.training.loading import load_object

Factory: TypeAlias = Callable[[int, int], nn.Module]
"""From the numbers of classes and of input channels to a new network with random weights."""


def load_factory(reference: str) -> Factory:
    """The network builder that `./net.py:build` refers to, under one signature.

    Raises TrainFunctionError when it is missing, and as `checked_factory` does.
    """
    return checked_factory(load_object(reference), reference)


def checked_factory(build: Callable[..., object], reference: str) -> Factory:
    """A network builder under one signature; errors name it by its reference.

    It is called as build(num_classes, in_channels), build(num_classes) or build(), whichever it
    takes. Raises TrainFunctionError when it takes none of them, or builds no network.
    """
    num_arguments = _num_arguments(build, reference)

    def checked(num_classes: int, in_channels: int) -> nn.Module:
        model = build(*(num_classes, in_channels)[:num_arguments])
        if not isinstance(model, nn.Module):
            kind = type(model).__name__
            raise TrainFunctionError(f"{reference} builds a {kind}; it must build a torch Module")
        return model

    return checked


def _num_arguments(build: Callable[..., object], reference: str) -> int:
    signature = inspect.signature(build)
    for count in (2, 1, 0):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count
    raise TrainFunctionError(
        f"{reference} takes {signature}; it must take (num_classes, in_channels), "
        "(num_classes) or nothing"
    )
