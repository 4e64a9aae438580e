"""Evaluated: what a training's metrics were measured with, the weights and all around them."""

from collections.abc import Mapping
from typing import Any

import torch

from sweep.spec.recipe import DataSpec
from sweep.training.classes import class_names
from sweep.training.precision import name_of
from sweep.training.splits import Dataset, Normalization


def evaluated_weights(state: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The weights of a training's state with the statistics that its metrics were measured by.

    Loaded into the model, they give the accuracy that was reported.
    """
    return {**state["model"], **state["statistics"]}


def evaluation_of(
    spec: DataSpec, data: Dataset, normalization: Normalization, dtype: torch.dtype
) -> dict[str, Any]:
    """All that evaluating needs beside the weights, as a state can hold it.

    `mean` and `scale` are of length C, for pixels from 0 to 255: subtract, then multiply.
    """
    return {
        "mean": normalization.mean.flatten().cpu(),
        "scale": normalization.scale.flatten().cpu(),
        "image_size": data.image_side,
        "channels": data.in_channels,
        "classes": class_names(spec, data.num_classes),
        "precision": name_of(dtype),
    }
