"""A data set small enough to train on in milliseconds: coloured squares of 8 x 8 pixels."""

from pathlib import Path
from typing import Any

import numpy as np

from sweep.spec.recipe import AugmentSpec, DataSpec, ModelSpec
from sweep.spec.training import resolve_training
from sweep.training.train import TrainConfig

NUM_TRAIN = 96
NUM_TEST = 40
NUM_CLASSES = 4


def write_small_images(path: Path, **replaced: Any) -> Path:
    """An npz at `path` that can be learnt: each class has its own colour, under noise."""
    random = np.random.default_rng(0)
    colours = random.integers(40, 216, (NUM_CLASSES, 1, 1, 3))

    def images(labels: np.ndarray) -> np.ndarray:
        noise = random.integers(-40, 40, (len(labels), 8, 8, 3))
        return (colours[labels] + noise).astype(np.uint8)

    y_train = np.arange(NUM_TRAIN) % NUM_CLASSES
    y_test = np.arange(NUM_TEST) % NUM_CLASSES
    arrays = {
        "x_train": images(y_train),
        "y_train": y_train,
        "x_test": images(y_test),
        "y_test": y_test,
    }
    np.savez(path, **{**arrays, **replaced})
    return path


def small_config(path: Path, seed: int = 0, val_size: int = 0, **training: Any) -> TrainConfig:
    """A ResNet18 of width 4 on the images at `path`: two epochs of three steps unless said."""
    values = {"epochs": 2, "batch_size": 32, "lr": 0.05, "optimizer": "sgd", **training}
    return TrainConfig(
        data=DataSpec(
            name="npz", path=str(path), val_size=val_size, augment=AugmentSpec(crop=1, flip=True)
        ),
        model=ModelSpec(width=4),
        training=resolve_training(values),
        seed=seed,
    )
