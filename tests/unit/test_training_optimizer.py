"""The four optimizers against torch's own classes."""

from typing import Any

import pytest
import torch
from torch import nn

from sweep.spec.training import resolve_training
from sweep.training.optimizer import Optimizer

THEIRS: dict[str, Any] = {
    "sgd": lambda weights: torch.optim.SGD(
        weights, lr=0.1, momentum=0.8, weight_decay=0.01, fused=True
    ),
    "adam": lambda weights: torch.optim.Adam(weights, lr=0.1, weight_decay=0.01, fused=True),
    "adamw": lambda weights: torch.optim.AdamW(weights, lr=0.1, weight_decay=0.01, fused=True),
    "rmsprop": lambda weights: torch.optim.RMSprop(weights, lr=0.1, weight_decay=0.01),
}


def weights() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 4), (5,), (2, 2, 3, 3)]
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in shapes]


def ours(kind: str, own: list[nn.Parameter]) -> Optimizer:
    values = {"epochs": 1, "optimizer": kind, "momentum": 0.8, "weight_decay": 0.01}
    return Optimizer(own, resolve_training(values))


def descend(own: list[nn.Parameter], optimizer: Any) -> None:
    sum(weight.pow(4).sum() for weight in own).backward()
    optimizer.step()
    for weight in own:
        weight.grad = None


@pytest.mark.parametrize("kind", THEIRS)
def test_steps_are_torchs_also_when_lr_changes(kind: str) -> None:
    mine, other = weights(), weights()
    optimizer, reference = ours(kind, mine), THEIRS[kind](other)
    for lr in (0.1, 0.1, 0.01, 0.003):
        optimizer.lr = reference.param_groups[0]["lr"] = lr
        descend(mine, optimizer)
        descend(other, reference)
    # RMSprop takes another, faster way to the same place; the others are torch's own kernels
    precision = 1e-5 if kind == "rmsprop" else 0.0
    for a, b in zip(mine, other, strict=True):
        torch.testing.assert_close(a, b, rtol=precision, atol=precision)


@pytest.mark.parametrize("kind", THEIRS)
def test_a_restored_optimizer_goes_on_as_if_it_had_never_stopped(kind: str) -> None:
    mine = weights()
    optimizer = ours(kind, mine)
    optimizer.lr = 0.1
    descend(mine, optimizer)
    copies = [nn.Parameter(weight.detach().clone()) for weight in mine]
    restored = ours(kind, copies)
    restored.lr = 0.1
    restored.restore(optimizer.state())
    descend(mine, optimizer)
    descend(copies, restored)
    assert all(torch.equal(a, b) for a, b in zip(mine, copies, strict=True))


def test_weights_without_a_gradient_stay() -> None:
    mine = weights()
    before = mine[1].detach().clone()
    optimizer = ours("sgd", mine)
    optimizer.lr = 0.1
    mine[0].sum().backward()
    optimizer.step()
    assert torch.equal(mine[1], before)


def test_making_one_does_not_load_torchs_compiler() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from sweep.spec.recipe import DataSpec, ModelSpec\n"
        "from sweep.spec.training import resolve_training\n"
        "from sweep.training.train import TrainConfig, train\n"
        "config = TrainConfig(data=DataSpec(name='digits'), model=ModelSpec(width=2),\n"
        "                     training=resolve_training({'epochs': 1}), seed=0)\n"
        "list(train(config, 'cpu'))\n"
        "slow = {'torch._dynamo', 'torchvision', 'sklearn', 'sympy'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
