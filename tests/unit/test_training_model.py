"""ResNets against torchvision's; first weights; a user's own network."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from sweep.errors import TrainFunctionError
from sweep.spec.recipe import ModelSpec
from sweep.training.model import build_model
from sweep.training.resnet import DEPTHS, ResNet

CPU = torch.device("cpu")


MODELS = [
    (name, stem) for name in ("resnet18", "resnet34", "resnet50") for stem in ("cifar", "imagenet")
]


def theirs_of(name: str, stem: str = "cifar") -> nn.Module:
    """torchvision's, with the stem for small images where that is asked for."""
    from torchvision.models import resnet

    block = resnet.Bottleneck if name == "resnet50" else resnet.BasicBlock
    layers = [2, 2, 2, 2] if name == "resnet18" else [3, 4, 6, 3]
    model = resnet.ResNet(block, layers, num_classes=10)
    if stem == "cifar":
        model.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")
        model.maxpool = nn.Identity()
    return model


def ours_of(name: str, stem: str = "cifar", width: int = 64) -> nn.Module:
    return ResNet(DEPTHS[name], num_classes=10, width=width, stem=stem)


@pytest.mark.parametrize(
    ("name", "stem", "num_parameters"),
    [
        ("resnet18", "cifar", 11_173_962),
        ("resnet34", "cifar", 21_282_122),
        ("resnet50", "cifar", 23_520_842),
        ("resnet18", "imagenet", 11_181_642),
        ("resnet50", "imagenet", 23_528_522),
    ],
)
def test_it_has_the_papers_number_of_parameters(name: str, stem: str, num_parameters: int) -> None:
    assert sum(weight.numel() for weight in ours_of(name, stem).parameters()) == num_parameters


def outputs_of(name: str, stem: str, side: int, is_training: bool) -> list[torch.Tensor]:
    """Ours and theirs for the same images, after weights have gone there and back."""
    torch.manual_seed(1)
    ours, theirs = ours_of(name, stem).double(), theirs_of(name, stem).double()
    ours.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(4, 3, side, side, dtype=torch.float64, generator=generator)
    with torch.no_grad():
        return [model.train(is_training)(images) for model in (ours, theirs)]


@pytest.mark.parametrize("side", [32, 9, 8, 5, 2, 1])
@pytest.mark.parametrize("is_training", [False, True])
def test_with_torchvisions_weights_it_gives_torchvisions_output(
    side: int, is_training: bool
) -> None:
    outputs = outputs_of("resnet18", "cifar", side, is_training)
    torch.testing.assert_close(*outputs)


@pytest.mark.parametrize(("name", "stem"), MODELS[1:])
def test_so_do_the_deeper_ones_and_the_other_stem(name: str, stem: str) -> None:
    for is_training in (False, True):
        outputs = outputs_of(name, stem, 17, is_training)
        torch.testing.assert_close(*outputs)


@pytest.mark.parametrize(("name", "stem"), [MODELS[0], MODELS[-1]])
def test_its_gradients_are_torchvisions_also_where_a_convolution_sees_one_pixel(
    name: str, stem: str
) -> None:
    one, other = ours_of(name, stem).double(), theirs_of(name, stem).double()
    one.load_state_dict(other.state_dict())
    images = torch.randn(4, 3, 8, 8, dtype=torch.float64)
    for model in (one, other):
        model(images).square().sum().backward()
    for (weight, mine), theirs in zip(one.named_parameters(), other.parameters(), strict=True):
        allowed = 1e-6 * theirs.grad.abs().max().item()
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=0, atol=allowed, msg=weight)


NARROW = """
import sys
import torch
from sweep.training.resnet import DEPTHS, ResNet

name, side = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
exact = ResNet(DEPTHS[name], num_classes=3, width=4).double()
fast = ResNet(DEPTHS[name], num_classes=3, width=4).to(memory_format=torch.channels_last)
images = torch.randn(4, 3, side, side)
for model, pixels in ((exact, images.double()), (fast, images)):
    model.eval().load_state_dict(exact.state_dict())
    layout = torch.channels_last if model is fast else torch.contiguous_format
    for _ in range(10):
        model.zero_grad()
        model(pixels.contiguous(memory_format=layout)).square().sum().backward()
for (weight, mine), theirs in zip(fast.named_parameters(), exact.parameters()):
    error = (mine.grad - theirs.grad).abs().max() / theirs.grad.abs().max()
    assert error < 0.001, (weight, error)
"""


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
@pytest.mark.parametrize("side", [16, 64])
def test_narrow_networks_keep_within_their_memory(name: str, side: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-c", NARROW, name, str(side)]
    # in a process of its own: what goes wrong here may crash it, or anything later
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "stem"), [MODELS[0], MODELS[-1]])
def test_first_weights_are_drawn_as_torchvisions(name: str, stem: str) -> None:
    fresh, reference = ours_of(name, stem), theirs_of(name, stem)
    for (weight, mine), other in zip(
        fresh.named_parameters(), reference.parameters(), strict=True
    ):
        if mine.dim() == 4:
            assert mine.std().item() == pytest.approx(other.std().item(), rel=0.15), weight
        elif weight != "fc.bias":
            torch.testing.assert_close(mine.mean(), other.mean(), atol=0.01, rtol=0, msg=weight)


@pytest.mark.parametrize(("name", "stem"), MODELS)
def test_a_width_makes_every_layer_narrower(name: str, stem: str) -> None:
    wide, narrow = (ours_of(name, stem, width) for width in (8, 4))
    assert list(wide.state_dict()) == list(narrow.state_dict())
    for weight, other in zip(wide.parameters(), narrow.parameters(), strict=True):
        if weight.dim() == 4:
            assert len(weight) == 2 * len(other)
    assert narrow(torch.randn(2, 3, 16, 16)).shape == (2, 10)


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
