"""Shared gradients: those of a batch that several processes share, each with a copy of the model.

torch's DistributedDataParallel averages them while the backward pass is still under way.
"""

import inspect
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from sweep.training.gradients import EagerGradients, Work

_NEW_SYNC_OPTION = "forward_sync_buffers"
_SYNC_OPTION = (
    _NEW_SYNC_OPTION
    if _NEW_SYNC_OPTION in inspect.signature(DistributedDataParallel).parameters
    else "broadcast_buffers"
)
"""What torch calls whether every pass begins with rank 0's buffers; it was renamed."""


class SharedGradients(EagerGradients):
    """As eager gradients, and after a batch's last part the same on all ranks.

    Every rank has the same weights when it is made. BatchNorm's running statistics stay each
    rank's own. `may_skip`: some weights may take no part in a pass, as in a network of the user's.
    """

    def __init__(
        self, model: nn.Module, work: Work, scaler: torch.amp.GradScaler, *, may_skip: bool
    ) -> None:
        together = DistributedDataParallel(
            model,
            gradient_as_bucket_view=True,
            find_unused_parameters=may_skip,
            **{_SYNC_OPTION: False},  # type: ignore[arg-type]
        )
        super().__init__(together, work, scaler)
        self._together = together
        self._num_added = 0

    def add(self, images: Tensor, labels: Tensor) -> None:
        self._num_added += 1
        with self._silence():
            super().add(images, labels)

    def clear(self) -> None:
        super().clear()
        self._num_added = 0

    def _silence(self) -> AbstractContextManager[None]:
        """Only the last part's backward pass speaks with the other ranks."""
        is_last = self._num_added == self._work.num_parts
        return nullcontext() if is_last else self._together.no_sync()
