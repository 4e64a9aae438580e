"""Exported models: read back from a file of `sweep best --export`, ready to judge images."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from sweep.errors import DataError, TrainFunctionError
from sweep.spec.recipe import ModelSpec
from sweep.training.export import FORMAT
from sweep.training.factory import checked_factory
from sweep.training.model import build_model, layout_of
from sweep.training.precision import autocast, dtype_of


class ExportedModel(nn.Module):
    """A trained network with all that its stored value was measured with.

    `classes` names the labels; `params`, `metrics`, `study` and `trial` say where it comes from.
    `network` is the bare network, for images that are normalized already.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, content: Mapping[str, Any], network: nn.Module) -> None:
        super().__init__()
        preprocessing = content["preprocessing"]
        self.network = network
        self.classes: list[str] = list(content["classes"])
        self.image_size: int = preprocessing["image_size"]
        self.params: dict[str, Any] = dict(content["params"])
        self.metrics: dict[str, float] = dict(content["metrics"])
        self.study: str = content["study"]
        self.trial: int = content["trial"]
        self.precision: str = content["precision"]
        self._layout = layout_of(ModelSpec.model_validate(content["model"]))
        for name in ("mean", "scale"):
            value = preprocessing[f"pixel_{name}"].view(-1, 1, 1)
            self.register_buffer(name, value, persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        """The logits N,K of images N,C,H,W, whose pixels go from 0 to 255 (bytes or floats).

        They are normalized, and calculated in the precision that the trial was judged in.
        """
        images = pixels.to(torch.float32, memory_format=self._layout)
        images = images.sub(self.mean).mul_(self.scale)
        with autocast(dtype_of(self.precision, pixels.device), pixels.device):
            logits: Tensor = self.network(images)
        return logits.float()


def load_model(
    path: str | PathLike[str], factory: Callable[..., nn.Module] | None = None
) -> ExportedModel:
    """The model in a file that `sweep best --export` wrote, on the CPU and in evaluation mode.

    Nothing in the file is run. A network of one's own is built by `factory`, the function that
    the study names under model: factory. Raises DataError for what is no such file or holds
    another network's weights, TrainFunctionError where the factory is missing or of no use.
    """
    place = Path(path)
    content = _read(place)
    if "weights" not in content:
        raise DataError(
            f"{place} holds the state of a training function of your own, which builds its "
            "network itself: torch.load(path, weights_only=True)['state'] is what it yielded"
        )
    network = _network(place, content, factory)
    try:
        network.load_state_dict(content["weights"])
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise DataError(f"{place} holds the weights of another network: {reason}") from error
    return ExportedModel(content, network).eval()


def _read(path: Path) -> dict[str, Any]:
    foreign = DataError(f"{path} is no model of sweep; write one with sweep best --export")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (RuntimeError, UnpicklingError, EOFError, ValueError, KeyError) as error:
        raise foreign from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise foreign
    return content


def _network(
    path: Path, content: Mapping[str, Any], factory: Callable[..., nn.Module] | None
) -> nn.Module:
    spec = ModelSpec.model_validate(content["model"])
    sizes = len(content["classes"]), content["preprocessing"]["channels"]
    if spec.factory is None:
        bare = spec.model_copy(update={"weights": None})
        return build_model(
            bare, num_classes=sizes[0], in_channels=sizes[1], seed=0, device=torch.device("cpu")
        )
    if factory is None:
        raise TrainFunctionError(
            f"{path} holds a network that {spec.factory} builds; give that function, as in "
            f"sweep.load_model({str(path)!r}, factory=build)"
        )
    return checked_factory(factory, spec.factory)(*sizes).to(memory_format=layout_of(spec))
