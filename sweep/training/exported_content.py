"""Exported content: what a file of `sweep best --export` holds, checked as it is read."""

import struct
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from torch import Tensor

from sweep.errors import DataError
from sweep.spec.recipe import ModelSpec
from sweep.training.export import FORMAT, SEAL
from sweep.training.seal import seal_of

_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    UnpicklingError,
    ValueError,
    struct.error,
)
"""What damaged bytes make torch raise, which reads them as they are."""


class _Checked(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, arbitrary_types_allowed=True)


class Preprocessing(_Checked):
    """How images are put before the network: `pixel_mean` and `pixel_scale` for each channel."""

    image_size: int = Field(ge=1)
    channels: int = Field(ge=1)
    pixel_mean: Tensor
    pixel_scale: Tensor

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for value in (self.pixel_mean, self.pixel_scale):
            if value.numel() != self.channels or not value.is_floating_point():
                raise ValueError("pixel_mean and pixel_scale hold a number for each channel")
        return self


class ExportedContent(_Checked):
    """What makes up an exported model. `weights` are those of the network that `model` names."""

    study: str
    trial: int = Field(ge=0)
    params: dict[str, Any]
    metrics: dict[str, float]
    model: ModelSpec
    weights: dict[str, Any]
    classes: list[str] = Field(min_length=1)
    precision: Literal["fp32", "bf16", "fp16"]
    preprocessing: Preprocessing


def read_content(path: Path) -> ExportedContent:
    """What the file holds, none of it run. A file of a version that had no seal is read too.

    Raises DataError for what cannot be read, is no such file, is damaged, or holds the state of a
    training function of the user's own.
    """
    content = _loaded(path)
    if content.pop(SEAL, None) not in (None, _seal(content)):
        raise DataError(
            f"{path} is damaged: its SHA-256 differs; write it again with sweep best --export"
        )
    if "weights" not in content and "state" in content:
        raise DataError(
            f"{path} holds the state of a training function of your own, which builds its "
            "network itself: torch.load(path, weights_only=True)['state'] is what it yielded"
        )
    try:
        return ExportedContent.model_validate(content)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise DataError(
            f"{path} is damaged or was changed: {where}: {' '.join(fault['msg'].split())[:200]}; "
            "write it again with sweep best --export"
        ) from error


def _seal(content: dict[str, Any]) -> str | None:
    try:
        return seal_of(content)
    except _UNREADABLE:
        return ""  # a tensor without its bytes


def _loaded(path: Path) -> dict[str, Any]:
    foreign = DataError(f"{path} is no model of sweep; write one with sweep best --export")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except _UNREADABLE as error:
        raise foreign from error
    if not isinstance(content, dict):
        raise foreign
    stated = content.get("format")
    if not isinstance(stated, str) or stated != FORMAT:
        raise foreign
    return content
