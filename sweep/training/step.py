"""Step: one update of the weights by one batch, and the state from which steps go on."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sweep.spec.training import TrainingValues
from sweep.training.gradients import Gradients, Work
from sweep.training.memory import memory_in_use_bytes
from sweep.training.optimizer import Optimizer
from sweep.training.precision import dtype_of, gradient_scaler
from sweep.training.ranks import ALONE, Ranks
from sweep.training.resnet import ResNet
from sweep.training.workbench import Workbench


class Stepper:
    """A model with its optimizer. Nothing here waits for the device.

    `work` is that of this rank; the ranks take each step together.
    """

    def __init__(
        self,
        model: nn.Module,
        training: TrainingValues,
        work: Work,
        workbench: Workbench,
        ranks: Ranks = ALONE,
    ) -> None:
        self.model = model
        self.work = work
        self._training = training
        self._workbench = workbench
        self._ranks = ranks
        self._gradients: Gradients | None = None
        self._optimizer = Optimizer(model.parameters(), training)
        self._device = next(model.parameters()).device
        self._scaler = gradient_scaler(work.dtype, self._device)

    def step(self, images: Tensor, labels: Tensor, lr: float) -> None:
        """The weights after one step.

        A batch that goes through in parts gives the same mean gradient, but BatchNorm sees each
        part by itself.
        """
        gradients = self._gradients
        parts = self.work.num_parts
        for part in zip(images.tensor_split(parts), labels.tensor_split(parts), strict=True):
            if gradients is None:
                gradients = self._first_gradients(*part)
            gradients.add(*part)
        self._gradients = gradients
        assert gradients is not None, "a batch without an image"
        self._update(lr)
        gradients.clear()

    def take_totals(self) -> Tensor:
        """The steps' mean losses and their hits on all ranks, each summed up since the last call.

        Two float64 on the device.
        """
        assert self._gradients is not None, "totals before the first step"
        totals = self._ranks.add_up(self._gradients.take_totals())
        totals[0] /= self._ranks.count  # as the gradient, the loss is a mean over the ranks
        return totals

    def memory_of_pass_bytes(self) -> int:
        """What is held in memory at the peak of a pass, where the allocator does not show it.

        0 where it does. To be asked while a batch is there.
        """
        working = 0 if self._gradients is None else self._gradients.working_memory_bytes
        return working and (memory_in_use_bytes(str(self._device)) or 0) + working

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
        if state["scaler"]:  # empty where the state was calculated in another precision
            self._scaler.load_state_dict(state["scaler"])

    def _first_gradients(self, images: Tensor, labels: Tensor) -> Gradients:
        model, work = self.model, self.work
        if self._ranks.count == 1:
            return self._workbench.gradients(model, work, self._scaler, images, labels)
        # Imported here: it takes a while, and most workers have no use for it.
        from sweep.training.shared_gradients import SharedGradients

        may_skip = not isinstance(model, ResNet)
        return SharedGradients(model, work, self._scaler, may_skip=may_skip)

    def _update(self, lr: float) -> None:
        self._optimizer.lr = lr
        if self._training.clip_grad_norm is not None:
            self._scaler.unscale_(self._optimizer)  # type: ignore[arg-type]
            nn.utils.clip_grad_norm_(self.model.parameters(), self._training.clip_grad_norm)
        self._scaler.step(self._optimizer)  # type: ignore[arg-type]
        self._scaler.update()


def work_of(training: TrainingValues, device: torch.device, ranks: Ranks = ALONE) -> Work:
    """How this rank's part of the batches of a training goes through a model."""
    size = ranks.share.size_of(training.batch_size)
    return Work(
        batch_size=size,
        weight=size * ranks.count / training.batch_size,
        num_parts=min(training.accumulate, size),
        dtype=dtype_of(training.precision, device),
        label_smoothing=training.label_smoothing,
        is_deterministic=training.deterministic,
    )
