"""The quickstart's trial as people write it: scikit-learn's digits, the textbook loop, Optuna.

The same 1,437 and 360 images, network, batch sizes, optimizers, ranges of the rate, schedule and
epochs as the shipped study quickstart, so that a trial of the one is a trial of the other.
"""

from functools import cache

import numpy as np
import optuna
import torch
from sklearn.datasets import load_digits

from benchmarks.peers.textbook import (
    Pictures,
    accuracy,
    one_cycle,
    optimizer_of,
    resnet18,
    test_loader,
    train_epoch,
    training_loader,
)

WIDTH = 16
EPOCHS = 6
MOMENTUM = 0.9
WEIGHT_DECAY = 0.0005
NUM_TRAIN = 1437
ENQUEUED = (
    {"optimizer": "sgd", "batch_size": 64, "lr_sgd": 0.1},
    {"optimizer": "adam", "batch_size": 64, "lr_adaptive": 0.003},
    {"optimizer": "rmsprop", "batch_size": 64, "lr_adaptive": 0.001},
)


@cache
def digits() -> tuple[Pictures, Pictures]:
    """Training and test images, read once."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    images = np.rint(pixels[order] * (255 / 16)).astype(np.uint8).reshape(-1, 8, 8, 1)
    labels = labels[order].astype(np.int64)
    mean, std = images[:NUM_TRAIN].mean() / 255, images[:NUM_TRAIN].std() / 255
    return _pictures(images[:NUM_TRAIN], labels[:NUM_TRAIN], mean, std), _pictures(
        images[NUM_TRAIN:], labels[NUM_TRAIN:], mean, std
    )


def objective(trial: optuna.Trial) -> float:
    """Train one network; the accuracy on the test images after the last epoch."""
    optimizer_name = trial.suggest_categorical("optimizer", ["sgd", "adam", "rmsprop"])
    batch_size = trial.suggest_categorical("batch_size", [32, 64, 128])
    if optimizer_name == "sgd":
        lr = trial.suggest_float("lr_sgd", 1e-4, 1.0, log=True)
    else:
        lr = trial.suggest_float("lr_adaptive", 1e-4, 0.1, log=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set, test_set = digits()
    train_batches, test_batches = training_loader(train_set, batch_size, 0), test_loader(test_set)
    model = resnet18(WIDTH, 1, 10).to(device)
    optimizer = optimizer_of(
        optimizer_name, model, lr=lr, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY
    )
    num_epochs = trial.study.user_attrs["epochs"] or EPOCHS
    scheduler = one_cycle(optimizer, lr, num_epochs * len(train_batches))
    reached = 0.0
    for epoch in range(num_epochs):
        train_epoch(model, train_batches, optimizer, scheduler, device)
        reached = accuracy(model, test_batches, device)
        trial.report(reached, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return reached


def _pictures(images: np.ndarray, labels: np.ndarray, mean: float, std: float) -> Pictures:
    return Pictures(images=images, labels=labels, padding=1, flip=False, mean=(mean,), std=(std,))
