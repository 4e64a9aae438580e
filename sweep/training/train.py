"""Training as a generator: one epoch for each value that is asked for; to stop it is to close it.

It knows nothing of trials, pruning, databases or processes.
"""

from collections.abc import Generator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import torch

from sweep.clock import monotonic_s
from sweep.errors import DataError
from sweep.spec.recipe import DataSpec, ModelSpec
from sweep.spec.training import TrainingValues
from sweep.training.algorithms import deterministic_algorithms, fastest_algorithms
from sweep.training.dataset import load_dataset
from sweep.training.evaluated import evaluation_of
from sweep.training.evaluation import (
    Statistics,
    evaluate,
    images_at_once,
    recalibrate,
    running_statistics,
    statistics_restored,
)
from sweep.training.memory import peak_memory_bytes, reset_peak
from sweep.training.model import layout_of
from sweep.training.randomness import derived_seed, generator_for, seeded
from sweep.training.ranks import ALONE, Ranks
from sweep.training.resident import normalization_of
from sweep.training.schedule import Schedule, lr_at
from sweep.training.splits import Augmentation
from sweep.training.step import Stepper, work_of
from sweep.training.workbench import Architecture, Workbench

LR_SCALING_BATCH = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """All that decides a training's result, apart from the device."""

    data: DataSpec
    model: ModelSpec
    training: TrainingValues
    seed: int


def train(
    config: TrainConfig,
    device: str,
    state: Mapping[str, Any] | None = None,
    workbench: Workbench | None = None,
    ranks: Ranks = ALONE,
) -> Generator[tuple[dict[str, float], dict[str, Any]], None, None]:
    """Yields after each epoch its metrics and the state from which training can go on.

    Metrics: train_loss, train_accuracy, test_loss, test_accuracy, val_loss and val_accuracy where
    images are held out, lr (of the last step), epoch_s, images_per_s (of training alone) and
    peak_memory_bytes (where it can be known). Accuracies are fractions, losses mean cross-entropy.
    Once the training loss is not finite, every loss and accuracy of that epoch is NaN.

    The state holds the live weights: it is valid until the next epoch is asked for, and with a
    workbench until the next training on it begins. A training resumed from it goes on as if it
    had never stopped, on the CPU to the last digit. A workbench keeps what the next training can
    use again, unless this one fails.

    Several ranks train one model on the same batches as one alone would, each on its part of them,
    and yield the same; each starts from the same state. BatchNorm sees each part by itself.

    Raises DataError when the data cannot be used, TrainFunctionError for a bad model factory.
    """
    workbench = workbench or Workbench()
    try:
        run = _Run(config, torch.device(device), workbench, ranks)
        first = 0 if state is None else run.restore(state)
        for epoch in range(first, config.training.epochs):
            yield run.epoch(epoch), run.state(epoch)
    except Exception:
        workbench.clear()
        raise


class _Run:
    """One training under way: a stepper, its data and its schedule."""

    def __init__(
        self, config: TrainConfig, device: torch.device, workbench: Workbench, ranks: Ranks
    ) -> None:
        training = config.training
        self._config = config
        self._device = device
        self._ranks = ranks
        self._data = load_dataset(config.data, device)
        self._normalization = normalization_of(
            self._data, training.normalize, layout_of(config.model)
        )
        crop, flip = config.data.augmentation(self._data.image_side)
        self._batches = self._data.train.batches(
            training.batch_size,
            Augmentation(crop=crop, flip=flip),
            self._normalization,
            ranks.share,
        )
        _check_size(training.batch_size, len(self._data.train), ranks)
        self._schedule = _schedule(training, len(self._batches))
        architecture = Architecture(
            spec=config.model,
            num_classes=self._data.num_classes,
            in_channels=self._data.in_channels,
            device=device,
        )
        model = workbench.model(architecture, config.seed)
        work = work_of(training, device, ranks)
        self._stepper = Stepper(model, training, work, workbench, ranks)
        self._statistics: Statistics = {}
        self._evaluation = evaluation_of(config.data, self._data, self._normalization, work.dtype)
        self._memory_of_pass_bytes = 0

    def restore(self, state: Mapping[str, Any]) -> int:
        """Goes on from a state. Returns the epoch that comes next."""
        self._stepper.restore(state)
        return int(state["epoch"]) + 1

    def state(self, epoch: int) -> dict[str, Any]:
        """All that a later `restore` needs, and the statistics that the epoch was judged by."""
        judged = {"statistics": self._statistics, "evaluation": self._evaluation}
        return {"epoch": epoch, **judged, **self._stepper.state()}

    def epoch(self, epoch: int) -> dict[str, float]:
        """Trains for one epoch, evaluates, and returns what was measured."""
        started = monotonic_s()
        reset_peak(str(self._device))
        with ExitStack() as settings:
            deterministic = self._config.training.deterministic
            algorithms = deterministic_algorithms if deterministic else fastest_algorithms
            settings.enter_context(algorithms())
            settings.enter_context(seeded(self._layer_seed(epoch), self._device))
            metrics = self._train_epoch(epoch)
            metrics |= self._judge(isfinite(metrics["train_loss"]))
        metrics["epoch_s"] = monotonic_s() - started
        peak = peak_memory_bytes(str(self._device))
        if peak is not None:
            metrics["peak_memory_bytes"] = max(peak, self._memory_of_pass_bytes)
        return metrics

    def _layer_seed(self, epoch: int) -> int:
        """What dropout draws from: each rank drops others, as it sees other images."""
        rank = self._ranks.rank
        return derived_seed(self._config.seed, f"layers/{rank}" if rank else "layers", epoch)

    def _train_epoch(self, epoch: int) -> dict[str, float]:
        started = monotonic_s()
        self._stepper.model.train()
        first_step = step = epoch * len(self._batches)
        generator = generator_for(self._config.seed, "batches", epoch, self._device)
        for step, (images, labels) in enumerate(self._batches.epoch(generator), start=first_step):
            self._stepper.step(images, labels, lr_at(self._schedule, step))
        self._memory_of_pass_bytes = self._stepper.memory_of_pass_bytes()
        # the one moment of the epoch that waits for the device
        loss_sum, num_correct = self._stepper.take_totals().tolist()
        num_images = len(self._batches) * self._config.training.batch_size
        is_finite = isfinite(loss_sum)
        return {
            "train_loss": loss_sum / len(self._batches) if is_finite else nan,
            "train_accuracy": num_correct / num_images if is_finite else nan,
            "lr": lr_at(self._schedule, step),
            "images_per_s": num_images / (monotonic_s() - started),
        }

    def _judge(self, is_finite: bool) -> dict[str, float]:
        """Loss and accuracy on the images held out and on the test images."""
        splits = {"val": self._data.validation, "test": self._data.test}
        names = [name for name, split in splits.items() if split is not None]
        if not is_finite:
            return {f"{name}_{metric}": nan for name in names for metric in ("loss", "accuracy")}
        model, dtype = self._stepper.model, self._stepper.work.dtype
        limit = images_at_once(self._stepper.work)
        metrics: dict[str, float] = {}
        with statistics_restored(model):
            self._ranks.spread(running_statistics(model).values())
            if self._config.training.recalibrate_batch_norm:
                recalibrate(model, self._data.calibration, self._normalization, dtype, limit)
            for name in names:
                split = splits[name]
                assert split is not None
                loss, accuracy = evaluate(
                    model, split, self._normalization, dtype, limit, self._ranks
                )
                metrics |= {f"{name}_loss": loss, f"{name}_accuracy": accuracy}
            self._statistics = {
                name: buffer.clone() for name, buffer in running_statistics(model).items()
            }
        return metrics


def _check_size(batch_size: int, num_images: int, ranks: Ranks) -> None:
    """Raises DataError where there is no batch, or a rank would have no part of one."""
    if batch_size > num_images:
        raise DataError(
            f"batch_size is {batch_size}, but there are only {num_images} training images; "
            "use smaller batches"
        )
    if batch_size < ranks.count:
        raise DataError(
            f"batch_size is {batch_size}, too small to be shared by {ranks.count} devices; use "
            "larger batches, or fewer GPUs for a trial"
        )


def _schedule(training: TrainingValues, steps_per_epoch: int) -> Schedule:
    assert training.lr is not None
    scale = training.batch_size / LR_SCALING_BATCH if training.lr_scaling == "linear" else 1.0
    return Schedule(
        kind=training.schedule,
        lr=training.lr * scale,
        epochs=training.epochs,
        steps_per_epoch=steps_per_epoch,
        warmup_epochs=training.warmup_epochs,
        milestones=training.milestones,
        gamma=training.gamma,
    )
