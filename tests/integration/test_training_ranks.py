"""Several ranks train what one device trains: on the same batches, to the same weights."""

from pathlib import Path
from typing import Any

import pytest
import torch

from sweep.errors import DataError
from sweep.spec.recipe import DataSpec, ModelSpec
from sweep.spec.training import resolve_training
from sweep.training.ranks import Ranks
from sweep.training.train import TrainConfig, train
from tests.ranks import train_together, trained

NET = """
from torch import nn


class Frozen(nn.BatchNorm2d):
    \"\"\"Always judges by its running statistics, which never change.\"\"\"

    def train(self, mode=True):
        return super().train(False)


def group_norm(num_classes, in_channels):
    return net(num_classes, in_channels, nn.GroupNorm(2, 8))


def frozen(num_classes, in_channels):
    return net(num_classes, in_channels, Frozen(8))


def net(num_classes, in_channels, norm):
    return nn.Sequential(
        nn.Conv2d(in_channels, 8, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(288, num_classes)
    )
"""
TIMES = ("epoch_s", "images_per_s", "peak_memory_bytes")


def config_of(model: ModelSpec, **training: Any) -> TrainConfig:
    values = {"epochs": 2, "batch_size": 128, "lr": 0.05, "recalibrate_batch_norm": False}
    return TrainConfig(
        data=DataSpec(name="digits", val_size=100),
        model=model,
        training=resolve_training({**values, **training}),
        seed=3,
    )


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


def measured(metrics: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in TIMES}


@pytest.mark.parametrize(
    ("factory", "count", "training"),
    [
        ("group_norm", 2, {"optimizer": "sgd", "schedule": "one_cycle"}),
        ("frozen", 2, {"optimizer": "adam", "lr": 0.001, "label_smoothing": 0.1}),
        ("group_norm", 3, {"batch_size": 100, "accumulate": 2, "clip_grad_norm": 0.5}),
    ],
    ids=["even", "frozen statistics", "uneven, in parts, clipped"],
)
def test_ranks_come_to_what_one_device_comes_to(
    net: Path, factory: str, count: int, training: dict[str, Any]
) -> None:
    config = config_of(ModelSpec(factory=f"{net}:{factory}"), **training)
    alone, weights = trained(config)
    together = train_together(config, count)
    for metrics, state in together:
        for mine, expected in zip(metrics, alone, strict=True):
            assert measured(mine) == pytest.approx(measured(expected), rel=1e-3, abs=1e-4)
        for name, weight in weights["model"].items():
            torch.testing.assert_close(state["model"][name], weight, rtol=1e-3, atol=1e-4)
    first = together[0]
    for metrics, state in together[1:]:
        assert [*map(measured, metrics)] == [*map(measured, first[0])], "the same, not nearly"
        assert all(
            torch.equal(state["model"][name], weight) for name, weight in first[1]["model"].items()
        )


@pytest.mark.parametrize("recalibrates", [True, False])
def test_ranks_with_batch_norm_agree_on_every_number_and_learn(recalibrates: bool) -> None:
    training = {"epochs": 3, "batch_size": 64, "recalibrate_batch_norm": recalibrates}
    config = config_of(ModelSpec(width=8), **training)
    (first, state), (second, other) = train_together(config, 2)
    assert [*map(measured, first)] == [*map(measured, second)]
    assert first[-1]["test_accuracy"] > 0.6
    for name, statistic in state["statistics"].items():
        torch.testing.assert_close(other["statistics"][name], statistic, msg="judged by the same")


def test_ranks_go_on_from_a_state_as_if_they_had_never_stopped(net: Path) -> None:
    config = config_of(ModelSpec(factory=f"{net}:group_norm"), epochs=2)
    (unbroken, weights), _ = train_together(config, 2)
    (_, half), _ = train_together(config, 2, epochs=1)
    (rest, resumed), _ = train_together(config, 2, state=half)
    assert measured(rest[0]) == measured(unbroken[1])
    assert all(torch.equal(resumed["model"][name], w) for name, w in weights["model"].items())


def test_a_batch_that_cannot_be_shared_is_refused() -> None:
    config = config_of(ModelSpec(width=8), batch_size=2)
    with pytest.raises(DataError, match="batch_size is 2, too small to be shared by 3 devices"):
        next(train(config, "cpu", ranks=Ranks(rank=2, count=3)))
