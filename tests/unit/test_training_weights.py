"""Weights from a file: what fits, what is replaced, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sweep.errors import DataError
from sweep.spec.recipe import ModelSpec
from sweep.training.model import build_model
from sweep.training.resnet import DEPTHS, ResNet
from sweep.training.train import train
from tests.small_images import small_config, write_small_images

CPU = torch.device("cpu")
Weights = dict[str, Tensor]


def learnt(num_classes: int = 10, stem: str = "imagenet") -> Weights:
    """The weights of a network that has learnt something: no statistic is as it was at first."""
    torch.manual_seed(7)
    model = ResNet(DEPTHS["resnet18"], num_classes=num_classes, width=4, stem=stem)
    with torch.no_grad():
        for statistic in model.buffers():
            statistic.add_(1)
    return model.state_dict()


def build(path: Path, *, num_classes: int = 10, seed: int = 0, **spec: Any) -> nn.Module:
    given = ModelSpec.model_validate(
        {"width": 4, "stem": "imagenet", "weights": str(path), **spec}
    )
    return build_model(given, num_classes=num_classes, in_channels=3, seed=seed, device=CPU)


def assert_same(model: nn.Module, weights: Weights, besides: tuple[str, ...] = ()) -> None:
    for name, tensor in model.state_dict().items():
        if name not in besides:
            assert torch.equal(tensor, weights[name]), name


def test_weights_and_statistics_are_those_of_the_file(tmp_path: Path) -> None:
    weights = learnt()
    torch.save(weights, tmp_path / "w.pt")
    assert_same(build(tmp_path / "w.pt"), weights)
    assert_same(build(tmp_path / "w.pt", seed=1), weights)


def test_torchvision_reads_what_it_wrote_itself_and_so_does_this(tmp_path: Path) -> None:
    from torchvision.models import resnet50

    torch.save(resnet50(num_classes=10).state_dict(), tmp_path / "w.pth")
    model = build(tmp_path / "w.pth", name="resnet50", width=64)
    assert_same(model, resnet50_of(model))


def resnet50_of(model: nn.Module) -> Weights:
    from torchvision.models import resnet50

    theirs = resnet50(num_classes=10)
    theirs.load_state_dict(model.state_dict())
    return theirs.state_dict()


def test_the_head_is_new_where_the_number_of_classes_differs(tmp_path: Path) -> None:
    weights = learnt(num_classes=1000)
    torch.save(weights, tmp_path / "w.pt")
    first, second = (build(tmp_path / "w.pt", num_classes=3, seed=seed) for seed in (0, 1))
    for model in (first, second):
        assert_same(model, weights, besides=("fc.weight", "fc.bias"))
        assert model.fc.weight.shape == (3, 32)
    assert not torch.equal(first.fc.weight, second.fc.weight), "it follows from the seed"


def without_head(weights: Weights) -> Weights:
    return {name: each for name, each in weights.items() if not name.startswith("fc.")}


def test_a_file_without_a_head_is_enough(tmp_path: Path) -> None:
    weights = learnt()
    torch.save(without_head(weights), tmp_path / "w.pt")
    assert_same(build(tmp_path / "w.pt"), weights, besides=("fc.weight", "fc.bias"))


def of_old_torch(weights: Weights) -> Weights:
    return {name: each for name, each in weights.items() if "num_batches" not in name}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda weights: {"state_dict": weights, "epoch": 3},
        lambda weights: {"epoch": 3, "state": {"model": weights, "epoch": 3}},
        lambda weights: {f"module.{name}": each for name, each in weights.items()},
        of_old_torch,
    ],
    ids=["a training script's", "a checkpoint of ours", "of several GPUs", "of an old torch"],
)
def test_a_file_may_hold_the_weights_in_another_guise(
    tmp_path: Path, wrap: Callable[[Weights], Any]
) -> None:
    weights = learnt()
    torch.save(wrap(weights), tmp_path / "w.pt")
    counters = tuple(name for name in weights if "num_batches" in name)
    assert_same(build(tmp_path / "w.pt"), weights, besides=counters)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"stem": "cifar"}, "conv1.weight is 4 x 3 x 7 x 7 there and 4 x 3 x 3 x 3 here"),
        ({"width": 8}, "conv1.weight is 4 x 3 x 7 x 7 there and 8 x 3 x 7 x 7 here"),
        ({"name": "resnet34"}, "layer1.2.conv1.weight is missing"),
        ({"name": "resnet50"}, "layer1.0.conv1.weight is 4 x 4 x 3 x 3 there and 4 x 4 x 1 x 1"),
    ],
)
def test_the_first_tensor_of_another_model_is_named(
    tmp_path: Path, spec: dict[str, Any], message: str
) -> None:
    path = tmp_path / "w.pt"
    torch.save(learnt(), path)
    with pytest.raises(DataError) as caught:
        build(path, **spec)
    assert str(caught.value).startswith(f"{path} holds the weights of another model: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "holds no state_dict"),
        ({}, "holds no state_dict"),
        ({"conv1.weight": 3}, "holds no state_dict"),
        ({**learnt(), "extra.weight": torch.zeros(1)}, "extra.weight is not in this model"),
        (nn.Linear(1, 1), "is no file of tensors alone; save model.state_dict() with torch.save"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    torch.save(content, tmp_path / "w.pt")
    with pytest.raises(DataError) as caught:
        build(tmp_path / "w.pt")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut short"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.pt").write_bytes(content)
    with pytest.raises(DataError, match="is no file of tensors alone"):
        build(tmp_path / "w.pt")


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"w.pt cannot be read: No such file"):
        build(tmp_path / "w.pt")


class Bomb:
    """A pickle that makes a folder when it is read by the ordinary reader."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self.marker),)


def test_reading_weights_runs_no_code(tmp_path: Path) -> None:
    torch.save({"conv1.weight": Bomb(tmp_path / "ran")}, tmp_path / "w.pt")
    with pytest.raises(DataError, match="is no file of tensors alone"):
        build(tmp_path / "w.pt")
    assert not (tmp_path / "ran").exists()


def test_fine_tuning_starts_from_what_was_learnt(tmp_path: Path) -> None:
    images = write_small_images(tmp_path / "images.npz")
    config = small_config(images, epochs=4)
    *_, (scratch, state) = train(config, "cpu")
    torch.save(state["model"], tmp_path / "w.pt")
    model = config.model.model_copy(update={"weights": str(tmp_path / "w.pt")})
    slow = small_config(images, epochs=1, lr=1e-4)
    first, _ = next(train(slow, "cpu"))
    from dataclasses import replace

    tuned, _ = next(train(replace(slow, model=model), "cpu"))
    assert tuned["test_loss"] < first["test_loss"]
    assert tuned["test_loss"] < 1.5 * scratch["test_loss"]
