"""ResNets: their layers and their first weights; nothing of data or training.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2015, with either of two
stems: the paper's, which keeps a sixteenth of the pixels, or the one that CIFAR's 32 x 32 images
want, a 3 x 3 convolution that keeps all. As in torchvision, a bottleneck's 3 x 3 convolution has
the stride; parameter names and first weights are torchvision's too, so that weights travel both
ways.
"""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn import functional as F

FLOATS_PER_REGISTER = 16
"""Of a CPU with AVX-512; older ones have fewer."""


class BatchNorm(nn.BatchNorm2d):
    """Batch normalisation that does not count its batches: a fixed momentum never reads it."""

    def forward(self, x: Tensor) -> Tensor:
        return F.batch_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum or 0.0,
            self.eps,
        )


class Conv3x3(nn.Conv2d):
    """A 3 x 3 convolution with a border of one pixel of zeros and without a bias.

    Where its output is a single pixel, most of its taps only ever see the border. The others make
    a linear layer, which costs a fraction: the last stage of an 8 x 8 image is all of this kind.
    """

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__(in_channels, channels, 3, stride=stride, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        height, width = x.shape[-2:]
        if max(height, width) > self.stride[0]:
            return F.conv2d(x, self.weight, None, self.stride, self.padding)
        # channels last, as the weights lie in memory: their gradient then needs no copy
        taps = self.weight.permute(0, 2, 3, 1)[:, 1 : 1 + height, 1 : 1 + width]
        return F.linear(x.permute(0, 2, 3, 1).flatten(1), taps.flatten(1))[..., None, None]


class Conv1x1(nn.Conv2d):
    """A 1 x 1 convolution without a bias.

    With a stride of 2 it only ever sees every other pixel of every other row. On a CPU these are
    taken out first where there are few channels: oneDNN's gradient of such a convolution writes
    past its workspace when the channels lie innermost and do not fill a register (its issue 6035).
    """

    def __init__(self, in_channels: int, channels: int, stride: int = 1) -> None:
        super().__init__(in_channels, channels, 1, stride=stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        step = self.stride[0]
        if step == 1 or x.is_cuda or self.in_channels >= FLOATS_PER_REGISTER:
            return F.conv2d(x, self.weight, None, self.stride)
        return F.conv2d(x[:, :, ::step, ::step], self.weight)


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut; the first one may halve the resolution."""

    expansion = 1

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = Conv3x3(in_channels, channels, stride)
        self.bn1 = BatchNorm(channels)
        self.conv2 = Conv3x3(channels, channels, 1)
        self.bn2 = BatchNorm(channels)
        self.downsample = _projection(in_channels, channels, stride)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.bn2(self.conv2(x))
        return F.relu(x.add_(shortcut), inplace=True)


class Bottleneck(nn.Module):
    """A 3 x 3 convolution on few channels, between two of 1 x 1, beside a shortcut.

    What goes out has four times `channels`.
    """

    expansion = 4

    def __init__(self, in_channels: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = Conv1x1(in_channels, channels)
        self.bn1 = BatchNorm(channels)
        self.conv2 = Conv3x3(channels, channels, stride)
        self.bn2 = BatchNorm(channels)
        self.conv3 = Conv1x1(channels, self.expansion * channels)
        self.bn3 = BatchNorm(self.expansion * channels)
        self.downsample = _projection(in_channels, self.expansion * channels, stride)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = F.relu(self.bn2(self.conv2(x)), inplace=True)
        x = self.bn3(self.conv3(x))
        return F.relu(x.add_(shortcut), inplace=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Depth:
    """Which block a ResNet is made of, and how many of them each of its four stages has."""

    block: type[BasicBlock] | type[Bottleneck]
    num_blocks: tuple[int, int, int, int]


DEPTHS = {
    "resnet18": Depth(block=BasicBlock, num_blocks=(2, 2, 2, 2)),
    "resnet34": Depth(block=BasicBlock, num_blocks=(3, 4, 6, 3)),
    "resnet50": Depth(block=Bottleneck, num_blocks=(3, 4, 6, 3)),
}


class ResNet(nn.Module):
    """Images N,C,H,W of any size to logits N,K. `width` is the number of channels after the stem.

    The four stages have width, 2, 4 and 8 times width channels, times the block's expansion; 64
    is the paper's. `stem` is cifar or imagenet.
    """

    def __init__(
        self,
        depth: Depth,
        *,
        num_classes: int,
        in_channels: int = 3,
        width: int = 64,
        stem: str = "cifar",
    ) -> None:
        super().__init__()
        self.pools = stem == "imagenet"
        self.conv1 = _stem(in_channels, width) if self.pools else Conv3x3(in_channels, width, 1)
        self.bn1 = BatchNorm(width)
        expansion = depth.block.expansion
        self.layer1 = _stage(depth, 0, width, width)
        self.layer2 = _stage(depth, 1, expansion * width, 2 * width)
        self.layer3 = _stage(depth, 2, 2 * expansion * width, 4 * width)
        self.layer4 = _stage(depth, 3, 4 * expansion * width, 8 * width)
        self.fc = nn.Linear(8 * expansion * width, num_classes)
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        if self.pools:
            x = F.max_pool2d(x, 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def _stem(in_channels: int, channels: int) -> nn.Conv2d:
    return nn.Conv2d(in_channels, channels, 7, stride=2, padding=3, bias=False)


def _projection(in_channels: int, channels: int, stride: int) -> nn.Module | None:
    if stride == 1 and in_channels == channels:
        return None
    return nn.Sequential(Conv1x1(in_channels, channels, stride), BatchNorm(channels))


def _stage(depth: Depth, index: int, in_channels: int, channels: int) -> nn.Sequential:
    """The blocks of one stage; all but the first stage halve the resolution."""
    out_channels = depth.block.expansion * channels
    blocks = [depth.block(in_channels, channels, 1 if index == 0 else 2)]
    for _ in range(1, depth.num_blocks[index]):
        blocks.append(depth.block(out_channels, channels, 1))
    return nn.Sequential(*blocks)


def _initialise(model: nn.Module) -> None:
    """Kaiming normal, fan out, for convolutions; the rest keeps torch's first weights."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
