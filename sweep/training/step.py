"""Step: one update of the weights by one batch, and the state from which steps go on."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sweep.spec.training import TrainingValues
from sweep.training.optimizer import Optimizer
from sweep.training.precision import autocast, dtype_of, gradient_scaler


class Stepper:
    """A model with its optimizer. Nothing here waits for the device."""

    def __init__(self, model: nn.Module, training: TrainingValues, device: torch.device) -> None:
        self.model = model
        self.dtype = dtype_of(training.precision, device)
        self._training = training
        self._device = device
        self._optimizer = Optimizer(model.parameters(), training)
        self._scaler = gradient_scaler(self.dtype, device)

    def step(self, images: Tensor, labels: Tensor, lr: float) -> Tensor:
        """The weights after one step. Returns the batch's mean loss and its hits, still on device.

        With `accumulate` the batch goes through in that many parts: the same mean gradient, but
        BatchNorm sees each part by itself.
        """
        parts = min(self._training.accumulate, len(labels))
        if parts == 1:
            totals = self._backward(images, labels, share=1.0)
        else:
            pairs = zip(images.tensor_split(parts), labels.tensor_split(parts), strict=True)
            totals = torch.stack(
                [self._backward(*pair, share=len(pair[1]) / len(labels)) for pair in pairs]
            ).sum(0)
        self._update(lr)
        return totals

    def state(self) -> dict[str, Any]:
        """Live weights and moments: valid until the next step."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self._optimizer.state(),
            "scaler": self._scaler.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state()` gave."""
        self.model.load_state_dict(state["model"])
        self._optimizer.restore(state["optimizer"])
        self._scaler.load_state_dict(state["scaler"])

    def _backward(self, images: Tensor, labels: Tensor, share: float) -> Tensor:
        """Adds this part's gradient. Returns its share of the mean loss, and its hits."""
        with autocast(self.dtype, self._device):
            logits = self.model(images)
        loss = F.cross_entropy(
            logits.float(), labels, label_smoothing=self._training.label_smoothing
        )
        if share != 1:
            loss = loss * share
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        return torch.stack([loss.detach(), (logits.detach().argmax(1) == labels).sum()])

    def _update(self, lr: float) -> None:
        self._optimizer.lr = lr
        if self._training.clip_grad_norm is not None:
            self._scaler.unscale_(self._optimizer)  # type: ignore[arg-type]
            nn.utils.clip_grad_norm_(self.model.parameters(), self._training.clip_grad_norm)
        self._scaler.step(self._optimizer)  # type: ignore[arg-type]
        self._scaler.update()
        self._optimizer.zero_grad()
