"""Exported models: read back from a file of `sweep best --export`, ready to judge images."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sweep.errors import DataError, TrainFunctionError, UsageError
from sweep.training.exported_content import ExportedContent, read_content
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

    def __init__(self, content: ExportedContent, network: nn.Module) -> None:
        super().__init__()
        preprocessing = content.preprocessing
        self.network = network
        self.classes: list[str] = list(content.classes)
        self.image_size: int = preprocessing.image_size
        self.params: dict[str, Any] = dict(content.params)
        self.metrics: dict[str, float] = dict(content.metrics)
        self.study: str = content.study
        self.trial: int = content.trial
        self.precision: str = content.precision
        self._layout = layout_of(content.model)
        for name, value in (
            ("mean", preprocessing.pixel_mean),
            ("scale", preprocessing.pixel_scale),
        ):
            self.register_buffer(name, value.reshape(-1, 1, 1), persistent=False)

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
    the study names under model: factory. Raises DataError for what is no such file, is damaged or
    holds another network's weights, TrainFunctionError where the factory is missing or of no use.
    """
    if not isinstance(path, str | PathLike):
        raise UsageError(f"path is {path!r}; it takes a file that sweep best --export wrote")
    place = Path(path)
    content = read_content(place)
    network = _network(place, content, factory)
    try:
        network.load_state_dict(content.weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise DataError(f"{place} holds the weights of another network: {reason}") from error
    return ExportedModel(content, network).eval()


def _network(
    path: Path, content: ExportedContent, factory: Callable[..., nn.Module] | None
) -> nn.Module:
    spec = content.model
    if spec.factory is None:
        return _resnet(path, content)
    if factory is None:
        raise TrainFunctionError(
            f"{path} holds a network that {spec.factory} builds; give that function, as in "
            f"sweep.load_model({str(path)!r}, factory=build)"
        )
    build = checked_factory(factory, spec.factory)
    network = build(len(content.classes), content.preprocessing.channels)
    return network.to(memory_format=layout_of(spec))


def _resnet(path: Path, content: ExportedContent) -> nn.Module:
    try:
        return build_model(
            content.model.model_copy(update={"weights": None}),
            num_classes=len(content.classes),
            in_channels=content.preprocessing.channels,
            seed=0,
            device=torch.device("cpu"),
        )
    except (RuntimeError, ValueError, ArithmeticError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path} names a network that cannot be built: {reason}") from error
