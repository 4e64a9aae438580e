"""Preparation: what can be done, and can fail, before the first trial."""

import torch

from sweep.errors import DataError
from sweep.spec.recipe import RecipeSpec
from sweep.training.dataset import load_dataset
from sweep.training.faults import is_out_of_memory
from sweep.training.model import build_model


def prepare(recipe: RecipeSpec, device: str) -> None:
    """The built-in training's data set lies on the device; a user's function loads its own.

    Raises DataError when the data set cannot be found, fetched or read, or has no room there, or
    when the weights to start from are another model's.
    """
    if recipe.train is not None or recipe.data is None:
        return
    try:
        data = load_dataset(recipe.data, torch.device(device))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise DataError(f"data set {recipe.data.name} has no room in {device}'s memory") from error
    if recipe.model is not None and recipe.model.weights is not None:
        build_model(
            recipe.model,
            num_classes=data.num_classes,
            in_channels=data.in_channels,
            seed=0,
            device=torch.device("cpu"),
        )
