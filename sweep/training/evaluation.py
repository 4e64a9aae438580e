"""Evaluation: how well a model does on images it did not train on, with fresh statistics.

BatchNorm's running statistics lag behind in the first epochs and at high learning rates; judged
by them, trials with few steps look bad whatever they learnt. So the statistics are measured anew
on a few training images before each evaluation, and training goes on with its own.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from sweep.training.gradients import Work
from sweep.training.precision import autocast
from sweep.training.ranks import ALONE, Ranks
from sweep.training.splits import ImageSplit, Normalization

CHUNK_PIXELS = {"cuda": 2**19, "cpu": 2**16}
"""What goes through at a time: enough to fill a GPU, little enough for a CPU's cache, and less
than training itself keeps in memory."""

MIN_RECALIBRATED = 32
"""How many images go through at least when statistics are measured: those of single images would
leave out how images differ."""

EVALUATED_PER_TRAINED = 8
"""An image that is only looked at takes at most an eighth of the memory of one trained on, which
keeps the output of every layer for the way back."""

NO_LABEL = -100
"""The label of padding: cross-entropy passes it over, and no prediction is equal to it."""

Statistics = dict[str, Tensor]
"""BatchNorm's running mean and variance by their names in the model."""


def images_at_once(work: Work) -> int | None:
    """How many images fit in evaluation where batches go through in parts for want of memory."""
    return None if work.num_parts == 1 else EVALUATED_PER_TRAINED * work.micro_batch


@torch.inference_mode()
def evaluate(
    model: nn.Module,
    split: ImageSplit,
    normalization: Normalization,
    dtype: torch.dtype,
    limit: int | None = None,
    ranks: Ranks = ALONE,
) -> tuple[float, float]:
    """Mean cross-entropy and accuracy (0..1) of the model over every image of the split.

    At most `limit` images go through at once. On a GPU all chunks are of one shape, for which the
    fastest kernels are sought only once. Each rank sees its share, and all know the whole.
    """
    model.eval()
    totals = torch.zeros(2, dtype=torch.float64, device=split.labels.device)
    part = split.part(ranks.share)
    chunks = part.chunks(normalization, _chunk_images(part, limit)) if len(part) else iter(())
    for images, labels in padded(chunks) if split.labels.is_cuda else chunks:
        with autocast(dtype, images.device):
            logits = model(images)
        loss = F.cross_entropy(logits.float(), labels, reduction="sum")
        totals += torch.stack([loss, (logits.argmax(1) == labels).sum()])
    loss_sum, num_correct = ranks.add_up(totals).tolist()
    return loss_sum / len(split), num_correct / len(split)


@torch.inference_mode()
def recalibrate(
    model: nn.Module,
    split: ImageSplit,
    normalization: Normalization,
    dtype: torch.dtype,
    limit: int | None = None,
) -> None:
    """Every BatchNorm's running statistics become those of the split's images, evenly weighted.

    They are the mean of what batches of `MIN_RECALIBRATED` images or more have, as in training.
    At most `limit` images go through at once.
    """
    model.eval()
    layers = _batch_norms(model)
    momenta = [layer.momentum for layer in layers]
    chunks = split.chunks(normalization, _chunk_images(split, limit, MIN_RECALIBRATED))
    for num_before, (images, _) in enumerate(chunks):
        for layer in layers:
            layer.train()
            layer.momentum = 1 / (num_before + 1)
        with autocast(dtype, images.device):
            model(images)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum


def padded(chunks: Iterable[tuple[Tensor, Tensor]]) -> Iterator[tuple[Tensor, Tensor]]:
    """The chunks, all as long as the first and longest one; what is added has `NO_LABEL`."""
    size = None
    for images, labels in chunks:
        size = size or len(labels)
        missing = size - len(labels)
        if missing:
            images = F.pad(images, (0, 0, 0, 0, 0, 0, 0, missing))
            labels = F.pad(labels, (0, missing), value=NO_LABEL)
        yield images, labels


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


def _chunk_images(split: ImageSplit, limit: int | None, least: int = 1) -> int:
    pixels = CHUNK_PIXELS.get(split.labels.device.type, CHUNK_PIXELS["cpu"])
    size = max(least, pixels // split.image_pixels)
    return size if limit is None else min(size, limit)


def _batch_norms(model: nn.Module) -> list[_BatchNorm]:
    layers = (layer for layer in model.modules() if isinstance(layer, _BatchNorm))
    return [layer for layer in layers if layer.track_running_stats]
