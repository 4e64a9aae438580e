"""Preparation: what can be done, and can fail, before the first trial."""

import torch

from sweep.errors import DataError
from sweep.spec.recipe import RecipeSpec
from sweep.spec.training import CPU_PRECISION, GPU_PRECISION
from sweep.training.dataset import load_dataset
from sweep.training.device import check_device
from sweep.training.factory import load_factory
from sweep.training.faults import is_out_of_memory
from sweep.training.memory import limit_memory
from sweep.training.model import build_model
from sweep.training.precision import dtype_of, name_of


def usable_device(device: str, memory_limit_bytes: int | None) -> str:
    """The name of a device that torch can use; on a GPU within a limit of memory, if there is one.

    Raises DeviceError.
    """
    name = check_device(device)
    if memory_limit_bytes is not None:
        limit_memory(device, memory_limit_bytes)
    return name


def prepare(recipe: RecipeSpec, device: str) -> None:
    """The built-in training's data set lies on the device and the user's model factory is there;
    a train function of a user's own loads what it needs.

    Raises DataError when the data set cannot be found, fetched or read, or has no room there, or
    when the weights to start from are another model's; TrainFunctionError without a factory.
    """
    if recipe.train is not None or recipe.data is None:
        return
    if recipe.model is not None and recipe.model.factory is not None:
        load_factory(recipe.model.factory)
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


def choices(recipe: RecipeSpec, device: str) -> dict[str, str]:
    """What this machine settles for a whole study that begins here, by the names of versions.

    That is what precision `auto` means for the built-in training.
    """
    place = torch.device(device)
    if recipe.train is not None or recipe.data is None or recipe.model is None:
        return {}
    if place.type == "cuda":
        return {GPU_PRECISION: name_of(dtype_of("auto", place))}
    if place.type != "cpu":
        return {}
    # Imported here: a worker on a GPU has no use for it.
    from sweep.training.probe import cpu_precision

    return {CPU_PRECISION: cpu_precision(recipe.model, load_dataset(recipe.data, place))}
