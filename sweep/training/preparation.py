"""Preparation: what can be done, and can fail, before the first trial."""

import torch

from sweep.spec.recipe import RecipeSpec
from sweep.training.dataset import load_dataset


def prepare(recipe: RecipeSpec, device: str) -> None:
    """The built-in training's data set lies on the device; a user's function loads its own.

    Raises DataError when the data set cannot be found, fetched or read.
    """
    if recipe.train is None and recipe.data is not None:
        load_dataset(recipe.data, torch.device(device))
