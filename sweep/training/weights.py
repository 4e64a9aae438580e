"""Weights from a file: what a network has learnt elsewhere, to go on from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sweep.errors import DataError

HEAD = ("fc.weight", "fc.bias")
WRAPPERS = ("state_dict", "state", "model")
"""Under which keys training scripts, this one too, save the weights beside other things."""
REPLICA_PREFIX = "module."
"""What DistributedDataParallel and DataParallel put before every name."""


def take_weights(model: nn.Module, path: Path) -> None:
    """The model has the weights and statistics of the file.

    Its last layer keeps its own where the file's is for another number of classes, or absent.
    Raises DataError, naming the first tensor at fault, when anything else is missing, too much or
    of another shape, or when the file is none of tensors alone.
    """
    found, own = _read(path), model.state_dict()
    if not _has_head(found, own):
        found = {name: each for name, each in found.items() if name not in HEAD}
        own = {name: each for name, each in own.items() if name not in HEAD}
    for name, tensor in own.items():
        _check(path, name, found.get(name), tensor)
    unknown = next((name for name in found if name not in own), None)
    if unknown is not None:
        raise _other_model(path, f"{unknown} is not in this model")
    model.load_state_dict(found, strict=False)


def _read(path: Path) -> dict[str, Tensor]:
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # a damaged file may raise anything
        raise DataError(
            f"{path} is no file of tensors alone; save model.state_dict() with torch.save"
        ) from error
    tensors = _unwrapped(content)
    if not tensors or not all(isinstance(each, Tensor) for each in tensors.values()):
        raise DataError(f"{path} holds no state_dict: names with a tensor each")
    return {str(name).removeprefix(REPLICA_PREFIX): each for name, each in tensors.items()}


def _unwrapped(content: Any) -> Mapping[Any, Any]:
    if not isinstance(content, Mapping):
        return {}
    inner = next((content[key] for key in WRAPPERS if key in content), None)
    return _unwrapped(inner) if isinstance(inner, Mapping) else content


def _has_head(found: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> bool:
    """Whether the file's last layer is for as many classes as the model's."""
    return all(name in found and found[name].shape[:1] == own[name].shape[:1] for name in HEAD)


def _check(path: Path, name: str, found: Tensor | None, own: Tensor) -> None:
    if found is None:
        # only files that are older than torch 0.4.1 lack it, and nothing here reads it
        if name.endswith("num_batches_tracked"):
            return
        raise _other_model(path, f"{name} is missing")
    if found.shape != own.shape:
        raise _other_model(path, f"{name} is {_shape(found)} there and {_shape(own)} here")


def _other_model(path: Path, difference: str) -> DataError:
    advice = "take the name, width and stem of the model that was trained, and its channels"
    return DataError(f"{path} holds the weights of another model: {difference}; {advice}")


def _shape(tensor: Tensor) -> str:
    return " x ".join(str(side) for side in tensor.shape) or "a number"
