"""Evaluation: how well a model does on images it did not train on, with fresh statistics.

BatchNorm's running statistics lag behind in the first epochs and at high learning rates; judged
by them, trials with few steps look bad whatever they learnt. So the statistics are measured anew
on a few training images before each evaluation, and training goes on with its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from sweep.training.precision import autocast
from sweep.training.resident import Normalization, ResidentSplit

CHUNK_PIXELS = {"cuda": 2**19, "cpu": 2**16}
"""What goes through at a time: enough to fill a GPU, little enough for a CPU's cache, and less
than training itself keeps in memory."""

Statistics = dict[str, Tensor]
"""BatchNorm's running mean and variance by their names in the model."""


@torch.inference_mode()
def evaluate(
    model: nn.Module, split: ResidentSplit, normalization: Normalization, dtype: torch.dtype
) -> tuple[float, float]:
    """Mean cross-entropy and accuracy (0..1) of the model over every image of the split."""
    model.eval()
    totals = torch.zeros(2, dtype=torch.float64, device=split.labels.device)
    for images, labels in split.chunks(normalization, _chunk_images(split)):
        with autocast(dtype, images.device):
            logits = model(images)
        loss = F.cross_entropy(logits.float(), labels, reduction="sum")
        totals += torch.stack([loss, (logits.argmax(1) == labels).sum()])
    loss_sum, num_correct = totals.tolist()
    return loss_sum / len(split), num_correct / len(split)


@torch.inference_mode()
def recalibrate(
    model: nn.Module, split: ResidentSplit, normalization: Normalization, dtype: torch.dtype
) -> None:
    """Every BatchNorm's running statistics become those of the split's images, evenly weighted."""
    model.eval()
    layers = _batch_norms(model)
    momenta = [layer.momentum for layer in layers]
    chunks = split.chunks(normalization, _chunk_images(split))
    for num_before, (images, _) in enumerate(chunks):
        for layer in layers:
            layer.train()
            layer.momentum = 1 / (num_before + 1)
        with autocast(dtype, images.device):
            model(images)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum


@contextmanager
def statistics_restored(model: nn.Module) -> Iterator[None]:
    """Within, BatchNorm's running statistics may change; after, they are as they were."""
    before = [buffer.clone() for buffer in running_statistics(model).values()]
    try:
        yield
    finally:
        for buffer, value in zip(running_statistics(model).values(), before, strict=True):
            buffer.copy_(value)


def running_statistics(model: nn.Module) -> Statistics:
    """The live running statistics of every BatchNorm in the model; empty where it has none."""
    kept = ("running_mean", "running_var", "num_batches_tracked")
    return {
        name: buffer for name, buffer in model.named_buffers() if name.rpartition(".")[2] in kept
    }


def _chunk_images(split: ResidentSplit) -> int:
    pixels = CHUNK_PIXELS.get(split.pixels.device.type, CHUNK_PIXELS["cpu"])
    return max(1, pixels // split.pixels[0, 0].numel())


def _batch_norms(model: nn.Module) -> list[_BatchNorm]:
    layers = (layer for layer in model.modules() if isinstance(layer, _BatchNorm))
    return [layer for layer in layers if layer.track_running_stats]
