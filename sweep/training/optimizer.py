"""Optimizer: the four that a study file can name, each in its fastest form on the device."""

from collections.abc import Iterable

import torch
from torch import nn

from sweep.spec.training import TrainingValues


def build_optimizer(
    parameters: Iterable[nn.Parameter], training: TrainingValues, device: torch.device
) -> torch.optim.Optimizer:
    """A new optimizer over `parameters`. Its learning rate is set anew before every step."""
    weights, decay = list(parameters), training.weight_decay
    match training.optimizer:
        case "sgd":
            momentum = training.momentum
            return torch.optim.SGD(weights, momentum=momentum, weight_decay=decay, fused=True)
        case "adam":
            return torch.optim.Adam(weights, weight_decay=decay, fused=True)
        case "adamw":
            return torch.optim.AdamW(weights, weight_decay=decay, fused=True)
        case "rmsprop":
            # torch has no fused RMSprop; the loop is faster on a CPU, the lists on a GPU
            foreach = device.type == "cuda"
            return torch.optim.RMSprop(weights, weight_decay=decay, foreach=foreach)
        case other:
            raise AssertionError(f"no optimizer is called {other}")


def set_lr(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """The next step of `optimizer` uses `lr`."""
    for group in optimizer.param_groups:
        group["lr"] = lr
