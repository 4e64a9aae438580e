"""Model: a recipe's network with its first weights, on the device."""

from pathlib import Path

import torch
from torch import nn

from sweep.spec.recipe import ModelSpec
from sweep.training.factory import load_factory
from sweep.training.randomness import derived_seed, seeded
from sweep.training.resnet import DEPTHS, ResNet
from sweep.training.weights import take_weights


def build_model(
    spec: ModelSpec, *, num_classes: int, in_channels: int, seed: int, device: torch.device
) -> nn.Module:
    """A new model on the device. Its first weights follow from the seed alone, on any device;
    those that the recipe takes from a file are the same for every seed.

    Raises TrainFunctionError when the user's factory cannot be used or builds no module, DataError
    when the weights cannot be read or are another model's.
    """
    with seeded(derived_seed(seed, "weights"), torch.device("cpu")):
        if spec.factory is None:
            model = _resnet(spec, num_classes, in_channels)
        else:
            model = load_factory(spec.factory)(num_classes, in_channels)
    if spec.weights is not None:
        take_weights(model, Path(spec.weights))
    return model.to(device).to(memory_format=layout_of(spec))


def _resnet(spec: ModelSpec, num_classes: int, in_channels: int) -> nn.Module:
    return ResNet(
        DEPTHS[spec.name],
        num_classes=num_classes,
        in_channels=in_channels,
        width=spec.width,
        stem=spec.stem,
    )


def layout_of(spec: ModelSpec) -> torch.memory_format:
    """How images and weights lie in memory for this network.

    Our own gets its channels innermost, as fast convolutions want them. A user's network may
    contain `x.view(len(x), -1)`, which works in torch's usual layout only.
    """
    return torch.channels_last if spec.factory is None else torch.contiguous_format
