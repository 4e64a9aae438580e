"""Workbench: what a process keeps from one training to the next, so that it need not be remade.

One network of ours with its place in memory, and one recording of the work on it. A user's own
network is made anew for each training: what it holds beside its weights could not be set back.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sweep.spec.recipe import ModelSpec
from sweep.training.cuda_recorder import recorder_for
from sweep.training.gradients import EagerGradients, Gradients, Work
from sweep.training.model import build_model
from sweep.training.recorded import RecordedGradients, Recorder

_log = logging.getLogger(__name__)

_CPU = torch.device("cpu")


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """What decides a model apart from its weights: two of one architecture can change places."""

    spec: ModelSpec
    num_classes: int
    in_channels: int
    device: torch.device


class Workbench:
    """Serves one training at a time; the next one starts as on a fresh workbench, to the bit."""

    def __init__(
        self, recorder_for: Callable[[torch.device], Recorder | None] = recorder_for
    ) -> None:
        self._recorder_for = recorder_for
        self._architecture: Architecture | None = None
        self._model: nn.Module | None = None
        self._recorded: RecordedGradients | None = None
        self._unrecordable: set[Work] = set()

    def model(self, architecture: Architecture, seed: int) -> nn.Module:
        """A model with the first weights of the seed: the one that is here, where it fits.

        Raises TrainFunctionError when the user's factory cannot be used or builds no module,
        DataError when the weights to start from cannot be used.
        """
        if self._model is not None and architecture == self._architecture:
            _set_to(self._model, _build(architecture, seed, _CPU))
            return self._model
        self.clear()
        model = _build(architecture, seed, architecture.device)
        if architecture.spec.factory is None:
            self._architecture, self._model = architecture, model
        return model

    def gradients(
        self,
        model: nn.Module,
        work: Work,
        scaler: torch.amp.GradScaler,
        images: Tensor,
        labels: Tensor,
    ) -> Gradients:
        """The fastest way to the model's gradients for parts like this first one.

        A recording where the device can make one that comes to the same; else kernel by kernel,
        and the log says why.
        """
        if self._recorded is not None and not self._recorded.fits(work, images):
            self._release()
        if self._recorded is None and self._may_record(model, work):
            self._record(model, work, images, labels)
        if self._recorded is None:
            return EagerGradients(model, work, scaler)
        self._recorded.begin(scaler)
        return self._recorded

    def clear(self) -> None:
        """Nothing is kept any more."""
        self._release()
        self._architecture, self._model = None, None

    def _may_record(self, model: nn.Module, work: Work) -> bool:
        return model is self._model and work.is_even and work not in self._unrecordable

    def _record(self, model: nn.Module, work: Work, images: Tensor, labels: Tensor) -> None:
        recorder = self._recorder_for(images.device)
        if recorder is None:
            return
        self._recorded = RecordedGradients(model, work, recorder, images, labels)
        self._recorded.warm_up()
        try:
            self._recorded.record()
        except RuntimeError as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
        else:
            return
        # only here, where the error no longer holds on to what it saw in memory
        self._release()
        self._unrecordable.add(work)
        _log.warning("steps are launched kernel by kernel, slower than recorded: %s", reason)

    def _release(self) -> None:
        if self._recorded is not None:
            self._recorded.release()
        self._recorded = None


def _build(architecture: Architecture, seed: int, device: torch.device) -> nn.Module:
    return build_model(
        architecture.spec,
        num_classes=architecture.num_classes,
        in_channels=architecture.in_channels,
        seed=seed,
        device=device,
    )


@torch.no_grad()
def _set_to(model: nn.Module, fresh: nn.Module) -> None:
    """Weights and statistics become those of a fresh model; they stay where they are in memory."""
    for weight, new_weight in zip(model.parameters(), fresh.parameters(), strict=True):
        weight.copy_(new_weight)
    for statistic, new_statistic in zip(model.buffers(), fresh.buffers(), strict=True):
        statistic.copy_(new_statistic)
