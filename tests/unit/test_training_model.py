"""ResNet18 against torchvision's; first weights; a user's own network."""

from pathlib import Path

import pytest
import torch
from torch import nn

from sweep.errors import TrainFunctionError
from sweep.spec.recipe import ModelSpec
from sweep.training.model import build_model
from sweep.training.resnet import ResNet18

CPU = torch.device("cpu")


def torchvisions() -> nn.Module:
    from torchvision.models import resnet18

    model = resnet18(num_classes=10)
    model.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
    model.maxpool = nn.Identity()
    return model


@pytest.fixture(scope="module")
def theirs() -> nn.Module:
    torch.manual_seed(1)
    return torchvisions()


@pytest.fixture(scope="module")
def ours() -> nn.Module:
    torch.manual_seed(2)
    return ResNet18(num_classes=10)


def test_it_has_the_papers_number_of_parameters(ours: nn.Module) -> None:
    assert sum(weight.numel() for weight in ours.parameters()) == 11_173_962


@pytest.mark.parametrize("side", [32, 9, 8, 5, 2, 1])
@pytest.mark.parametrize("is_training", [False, True])
def test_with_torchvisions_weights_it_gives_torchvisions_output(
    ours: nn.Module, theirs: nn.Module, side: int, is_training: bool
) -> None:
    ours.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    images = torch.randn(4, 3, side, side, generator=torch.Generator().manual_seed(0))
    outputs = [model.train(is_training)(images) for model in (ours, theirs)]
    torch.testing.assert_close(*outputs, rtol=1e-4, atol=1e-4)


def test_its_gradients_are_torchvisions_also_where_a_convolution_sees_one_pixel() -> None:
    one, other = ResNet18(num_classes=10).double(), torchvisions().double()
    one.load_state_dict(other.state_dict())
    images = torch.randn(4, 3, 8, 8, dtype=torch.float64)
    for model in (one, other):
        model(images).square().sum().backward()
    for (name, mine), theirs in zip(one.named_parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, msg=name)


def test_first_weights_are_drawn_as_torchvisions(ours: nn.Module, theirs: nn.Module) -> None:
    fresh, reference = ResNet18(num_classes=10), torchvisions()
    for (name, mine), other in zip(fresh.named_parameters(), reference.parameters(), strict=True):
        if mine.dim() == 4:
            assert mine.std().item() == pytest.approx(other.std().item(), rel=0.15), name
        elif name != "fc.bias":
            torch.testing.assert_close(mine.mean(), other.mean(), atol=0.01, rtol=0, msg=name)


def build(spec: ModelSpec, seed: int = 0) -> nn.Module:
    return build_model(spec, num_classes=7, in_channels=1, seed=seed, device=CPU)


def test_the_seed_alone_decides_the_first_weights() -> None:
    torch.manual_seed(99)
    first = build(ModelSpec(width=4), seed=5)
    torch.manual_seed(1)
    second, other = build(ModelSpec(width=4), seed=5), build(ModelSpec(width=4), seed=6)
    assert torch.equal(first.fc.weight, second.fc.weight)
    assert not torch.equal(first.fc.weight, other.fc.weight)


def test_building_a_model_leaves_the_callers_random_numbers_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    build(ModelSpec(width=4))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("signature", "features"),
    [("num_classes, in_channels", (1, 7)), ("num_classes", (3, 7)), ("", (3, 10))],
)
def test_a_factory_is_called_by_its_signature(
    tmp_path: Path, signature: str, features: tuple[int, int]
) -> None:
    defaults = "num_classes = 10; in_channels = 3" if not signature else "pass"
    if signature == "num_classes":
        defaults = "in_channels = 3"
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        f"def build({signature}):\n"
        f"    {defaults}\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(in_channels, num_classes))\n"
    )
    model = build(ModelSpec(factory=f"{tmp_path / 'net.py'}:build"))
    assert (model[1].in_features, model[1].out_features) == features


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def build(a, b, c): ...", "it must take (num_classes, in_channels)"),
        ("def build(): return 3", "builds a int; it must build a torch Module"),
        ("def built(): ...", "has no function build; did you mean built?"),
    ],
)
def test_a_factory_that_cannot_be_used_is_refused(tmp_path: Path, code: str, message: str) -> None:
    path = tmp_path / "bad_net.py"
    path.write_text(code)
    with pytest.raises(TrainFunctionError) as caught:
        build(ModelSpec(factory=f"{path}:build"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
