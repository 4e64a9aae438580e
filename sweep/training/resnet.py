"""ResNet18 for small images: its layers and their first weights; nothing of data or training.

He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2015, with the stem that
CIFAR's 32 x 32 images want: a 3 x 3 convolution with stride 1 and no pooling before the blocks.
Parameter names and first weights are torchvision's, so that weights travel both ways.
"""

from torch import Tensor, nn
from torch.nn import functional as F


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


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut; the first one may halve the resolution."""

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


class ResNet18(nn.Module):
    """Images N,C,H,W of any size to logits N,K. `width` is the number of channels after the stem.

    The four stages have width, 2, 4 and 8 times width channels; 64 is the paper's.
    """

    def __init__(self, num_classes: int, in_channels: int = 3, width: int = 64) -> None:
        super().__init__()
        self.conv1 = Conv3x3(in_channels, width, 1)
        self.bn1 = BatchNorm(width)
        self.layer1 = _stage(width, width, 1)
        self.layer2 = _stage(width, 2 * width, 2)
        self.layer3 = _stage(2 * width, 4 * width, 2)
        self.layer4 = _stage(4 * width, 8 * width, 2)
        self.fc = nn.Linear(8 * width, num_classes)
        _initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def _projection(in_channels: int, channels: int, stride: int) -> nn.Module | None:
    if stride == 1 and in_channels == channels:
        return None
    conv = nn.Conv2d(in_channels, channels, 1, stride=stride, bias=False)
    return nn.Sequential(conv, BatchNorm(channels))


def _stage(in_channels: int, channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        BasicBlock(in_channels, channels, stride), BasicBlock(channels, channels, 1)
    )


def _initialise(model: nn.Module) -> None:
    """Kaiming normal, fan out, for convolutions; the rest keeps torch's first weights."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
