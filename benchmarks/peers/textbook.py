"""The textbook: torchvision transforms in a DataLoader, fp32, `.item()` each step, a new model.

This is the loop of PyTorch's own classifier tutorial and of most repositories that train ResNets
on CIFAR: it is short, it is correct, and everybody starts from it. Pictures go through PIL one by
one, because torchvision's transforms draw one crop for all that they are given. The blocks are
torchvision's; its ResNet class knows no width, so the few lines around them stand here. What is
left over at the end of an epoch is dropped, so that both sides take the same number of steps.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LRScheduler, OneCycleLR
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.models.resnet import BasicBlock, conv1x1

TEST_BATCH = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Pictures:
    """Images N,H,W,C as uint8 and labels N; how training images are varied; mean and spread."""

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]
    padding: int
    flip: bool
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def num_channels(self) -> int:
        return int(self.images.shape[-1])


class PictureSet(Dataset[tuple[Tensor, int]]):
    """Pictures as a data set of torch's, one at a time through PIL, as torchvision's own are."""

    def __init__(self, pictures: Pictures, *, augmented: bool) -> None:
        is_grey = pictures.num_channels == 1
        self.images = pictures.images.squeeze(-1) if is_grey else pictures.images
        self.labels = pictures.labels
        self.transform = transforms.Compose(
            [
                *(_augmentations(pictures) if augmented else ()),
                transforms.ToTensor(),
                transforms.Normalize(pictures.mean, pictures.std),
            ]
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])


def training_loader(
    pictures: Pictures, batch_size: int, num_workers: int, *, pin_memory: bool = False
) -> DataLoader[tuple[Tensor, int]]:
    """Shuffled and varied batches."""
    return DataLoader(
        PictureSet(pictures, augmented=True),
        batch_size=batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=num_workers,
        pin_memory=pin_memory,
    )


def test_loader(pictures: Pictures) -> DataLoader[tuple[Tensor, int]]:
    """All pictures in order, as they are."""
    return DataLoader(PictureSet(pictures, augmented=False), batch_size=TEST_BATCH)


def resnet18(width: int, in_channels: int, num_classes: int) -> nn.Module:
    """ResNet18 for small images, of torchvision's blocks: a 3 x 3 stem and no pooling."""
    layers: list[nn.Module] = [
        nn.Conv2d(in_channels, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    ]
    before = width
    for stage in range(4):
        channels, stride = width << stage, 1 if stage == 0 else 2
        shortcut = None
        if stride != 1:
            shortcut = nn.Sequential(conv1x1(before, channels, stride), nn.BatchNorm2d(channels))
        layers += [BasicBlock(before, channels, stride, shortcut), BasicBlock(channels, channels)]
        before = channels
    model = nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, num_classes)
    )
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return model


def optimizer_of(
    name: str, model: nn.Module, *, lr: float, momentum: float, weight_decay: float
) -> torch.optim.Optimizer:
    """The optimizer of torch that bears the name, all else as torch has it."""
    match name:
        case "sgd":
            return torch.optim.SGD(
                model.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay
            )
        case "adam":
            return torch.optim.Adam(model.parameters(), lr=lr, weight_decay=weight_decay)
        case "rmsprop":
            return torch.optim.RMSprop(model.parameters(), lr=lr, weight_decay=weight_decay)
    raise ValueError(f"no optimizer {name!r}")


def one_cycle(optimizer: torch.optim.Optimizer, lr: float, num_steps: int) -> LRScheduler:
    """One cycle of the rate; the momentum stays, as not every optimizer has one."""
    return OneCycleLR(optimizer, max_lr=lr, total_steps=num_steps, cycle_momentum=False)


def train_epoch(
    model: nn.Module,
    loader: DataLoader[tuple[Tensor, int]],
    optimizer: torch.optim.Optimizer,
    scheduler: LRScheduler,
    device: torch.device,
) -> float:
    """One pass over the batches; the mean loss."""
    model.train()
    running_loss = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        scheduler.step()
        running_loss += loss.item()
    return running_loss / len(loader)


@torch.no_grad()
def accuracy(
    model: nn.Module, loader: DataLoader[tuple[Tensor, int]], device: torch.device
) -> float:
    """The share of the pictures that the model is right about."""
    model.eval()
    num_correct = num_seen = 0
    for images, labels in loader:
        predicted = model(images.to(device)).argmax(dim=1)
        num_correct += (predicted == labels.to(device)).sum().item()
        num_seen += len(labels)
    return num_correct / num_seen


def _augmentations(pictures: Pictures) -> list[object]:
    side = pictures.images.shape[1]
    crop = [transforms.RandomCrop(side, padding=pictures.padding)]
    return [*crop, transforms.RandomHorizontalFlip()] if pictures.flip else [*crop]
