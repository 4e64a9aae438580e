"""Recorded gradients: a whole pass launched at once, replayed on memory that stays where it is.

A small network's step is hundreds of kernels that a GPU does faster than torch can launch them.
Recorded once as a graph, they are one launch. What changes from step to step is copied into the
recording's memory: images, labels, the loss scale; the optimizer and the schedule stay outside.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from sweep.training.evaluation import statistics_restored
from sweep.training.gradients import Work, loss_scale, run_backward
from sweep.training.memory import reset_peak, working_memory_bytes

TOLERANCE = {torch.float32: 1e-3, torch.float16: 1e-2, torch.bfloat16: 3e-2}
"""How far a replay may be from the same pass launched kernel by kernel, relatively. Both run the
same kernels, some of which add up in any order: a wrong recording is off by far more."""

_TINY = 1e-30


class Recording(Protocol):
    """Work of a device that can be done again in one launch."""

    def replay(self) -> None:
        """The work is done again, on the same memory."""

    def reset(self) -> None:
        """The memory that the recording holds is free."""


class Recorder(Protocol):
    """How a device records its work."""

    def warm_up(self, work: Callable[[], None]) -> None:
        """Does the work where recording will take place, launched kernel by kernel."""

    def record(self, work: Callable[[], None]) -> Recording:
        """A recording of the work. Raises RuntimeError where the device cannot make one."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Outcome:
    """What one pass came to."""

    loss: float
    hits: float
    gradients: list[Tensor]


class RecordedGradients:
    """Gradients of one model by a recording, for parts of exactly one shape."""

    def __init__(
        self, model: nn.Module, work: Work, recorder: Recorder, images: Tensor, labels: Tensor
    ) -> None:
        self.working_memory_bytes = 0
        self._model = model
        self._work = work
        self._recorder = recorder
        self._images = images.clone()
        self._labels = labels.clone()
        self._scale = torch.ones((), device=images.device)
        self._sums = torch.zeros(2, dtype=torch.float64, device=images.device)
        self._gradients: list[Tensor] = []
        self._recording: Recording | None = None
        self._scaler: torch.amp.GradScaler | None = None

    def fits(self, work: Work, images: Tensor) -> bool:
        """Whether the recording is of this work on images of this shape."""
        return work == self._work and images.shape == self._images.shape

    def warm_up(self) -> None:
        """The pass has run three times, and what memory it works in is known.

        Every weight that gets a gradient has one that stays where it is. The last run counts: the
        first ones also try out which kernels are the fastest.
        """
        with statistics_restored(self._model):
            self._recorder.warm_up(self._run)
            self._pin_gradients()
            self._recorder.warm_up(self._run)
            self.working_memory_bytes = working_memory_bytes(
                str(self._images.device), lambda: self._recorder.warm_up(self._run)
            )

    def record(self) -> None:
        """The pass is recorded, and a replay comes to what the pass itself came to.

        Raises RuntimeError when the device cannot record it, or when the two differ.
        """
        with statistics_restored(self._model):
            expected = self._outcome(self._run)
            self._recording = self._recorder.record(self._run)
            difference = _difference(expected, self._outcome(self._recording.replay))
        # what was only needed to compare is no memory of the training
        reset_peak(str(self._images.device))
        if not difference <= TOLERANCE[self._work.dtype]:
            raise RuntimeError(f"a replay is off by {difference:.2g} of the step's own result")

    def begin(self, scaler: torch.amp.GradScaler) -> None:
        """A new training starts on the model: nothing of the last one is left."""
        self._scaler = scaler
        self._start_over()

    def add(self, images: Tensor, labels: Tensor) -> None:
        assert self._recording is not None
        assert self._scaler is not None
        self._images.copy_(images)
        self._labels.copy_(labels)
        scale = loss_scale(self._scaler, self._images.device)
        if scale is not None:
            self._scale.copy_(scale)
        self._recording.replay()

    def clear(self) -> None:
        if self._gradients:
            torch._foreach_zero_(self._gradients)

    def take_totals(self) -> Tensor:
        totals = self._sums.clone()
        self._sums.zero_()
        return totals

    def release(self) -> None:
        """The recording's memory and the model's gradients are free; it cannot be used again."""
        if self._recording is not None:
            self._recording.reset()
        self._recording = None
        self._gradients = []
        for weight in self._model.parameters():
            weight.grad = None

    def _run(self) -> None:
        """The pass itself, on the recording's memory."""
        has_scale = self._work.dtype == torch.float16
        scale = self._scale if has_scale else None
        self._sums += run_backward(self._model, self._work, self._images, self._labels, scale)

    def _pin_gradients(self) -> None:
        for weight in self._model.parameters():
            if weight.grad is not None:
                weight.grad = torch.zeros_like(weight)
                self._gradients.append(weight.grad)

    def _start_over(self) -> None:
        self.clear()
        self._sums.zero_()
        self._scale.fill_(1.0)

    def _outcome(self, run: Callable[[], None]) -> _Outcome:
        self._start_over()
        run()
        gradients = [gradient.clone() for gradient in self._gradients]
        loss, hits = self.take_totals().tolist()
        self._start_over()
        return _Outcome(loss=loss, hits=hits, gradients=gradients)


def _difference(expected: _Outcome, found: _Outcome) -> float:
    """The relative differences in the loss, the hits and the whole gradient, added up.

    NaN where a number is not finite: then nothing can be compared.
    """
    pairs = zip(expected.gradients, found.gradients, strict=True)
    distance = _norm([one - other for one, other in pairs])
    return (
        abs(found.loss - expected.loss) / max(abs(expected.loss), _TINY)
        + abs(found.hits - expected.hits) / max(expected.hits, 1.0)
        + distance / max(_norm(expected.gradients), _TINY)
    )


def _norm(tensors: list[Tensor]) -> float:
    norms = torch.stack([torch.linalg.vector_norm(tensor.double()) for tensor in tensors])
    return float(torch.linalg.vector_norm(norms))
