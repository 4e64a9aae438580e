"""Gradients: forward, loss and backward of a batch, which may go through in parts."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sweep.training.precision import autocast


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What decides the course of a batch through a model, apart from the model itself.

    A batch of `batch_size` images goes through in `num_parts` parts of nearly equal size. Its mean
    gradient counts `weight` times: where ranks with unequal shares are averaged, not evenly.
    """

    batch_size: int
    num_parts: int
    dtype: torch.dtype
    label_smoothing: float
    is_deterministic: bool
    weight: float = 1.0

    @property
    def micro_batch(self) -> int:
        """How many images go through at once, in the largest part."""
        return -(-self.batch_size // self.num_parts)

    @property
    def is_even(self) -> bool:
        """Whether all parts are of one size."""
        return self.batch_size % self.num_parts == 0


class Gradients(Protocol):
    """Adds up a model's gradients over the parts of a batch; counts losses and hits on the way.

    Nothing here waits for the device. `working_memory_bytes` is what a part needs beside weights,
    gradients and images where the allocator's own peak does not show it, else 0.
    """

    working_memory_bytes: int

    def add(self, images: Tensor, labels: Tensor) -> None:
        """One part's share of the batch's gradient is added to that of the weights."""

    def clear(self) -> None:
        """The weights' gradients are gone: the next batch begins."""

    def take_totals(self) -> Tensor:
        """The batches' mean losses and their hits, each summed up since the last call.

        Two float64 on the device.
        """


class EagerGradients:
    """Launches one kernel after the other, as torch does by itself."""

    working_memory_bytes = 0

    def __init__(self, model: nn.Module, work: Work, scaler: torch.amp.GradScaler) -> None:
        self._model = model
        self._work = work
        self._scaler = scaler
        self._weights = list(model.parameters())
        self._counted: list[Tensor] = []

    def add(self, images: Tensor, labels: Tensor) -> None:
        scale = loss_scale(self._scaler, images.device)
        self._counted.append(run_backward(self._model, self._work, images, labels, scale))

    def clear(self) -> None:
        for weight in self._weights:
            weight.grad = None

    def take_totals(self) -> Tensor:
        totals = torch.stack(self._counted).double().sum(0)
        self._counted = []
        return totals


def run_backward(
    model: nn.Module, work: Work, images: Tensor, labels: Tensor, scale: Tensor | None
) -> Tensor:
    """Adds a part's gradient, times `scale`. Returns its share of the mean loss, and its hits.

    Both gradient and loss are weighted as the work says.
    """
    with autocast(work.dtype, images.device):
        logits = model(images)
    loss = F.cross_entropy(logits.float(), labels, label_smoothing=work.label_smoothing)
    weight = work.weight * (len(labels) / work.batch_size)
    if weight != 1:
        loss = loss * weight
    scaled = loss if scale is None else loss * scale
    scaled.backward()  # type: ignore[no-untyped-call]
    return torch.stack([loss.detach(), (logits.detach().argmax(1) == labels).sum()])


def loss_scale(scaler: torch.amp.GradScaler, device: torch.device) -> Tensor | None:
    """By what a loss is multiplied before its backward, on the device; None: by nothing."""
    return scaler.scale(torch.ones((), device=device)) if scaler.is_enabled() else None
