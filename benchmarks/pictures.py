"""Pictures to measure with: made up or from a file, as both sides of a comparison take them."""

from pathlib import Path

import numpy as np

from benchmarks.peers.textbook import Pictures
from sweep.training.images import Images, Split
from sweep.training.npz import read_npz

NUM_CLASSES = 10


def made_up_images(num_images: int, side: int = 32, channels: int = 3) -> Images:
    """Noise with a label of ten each: as many images to train on as asked for, 64 to test on."""
    draw = np.random.default_rng(0)

    def split(count: int) -> Split:
        return Split(
            images=draw.integers(0, 256, (count, side, side, channels), dtype=np.uint8),
            labels=np.arange(count, dtype=np.int64) % NUM_CLASSES,
        )

    return Images(train=split(num_images), test=split(64), num_classes=NUM_CLASSES)


def first_images(npz: Path | None, num_images: int) -> Images:
    """The file's first training images, or made-up ones, so many at most."""
    if npz is None:
        return made_up_images(num_images)
    images = read_npz(npz)
    return Images(
        train=images.train.take(np.arange(min(num_images, len(images.train.labels)))),
        test=images.test.take(np.arange(64)),
        num_classes=images.num_classes,
    )


def pictures_of(split: Split) -> Pictures:
    """A split as the textbook takes it, varied as the built-in training varies it."""
    spread = tuple(range(split.images.ndim - 1))
    sample = split.images[:10_000] / 255
    return Pictures(
        images=split.images,
        labels=split.labels,
        padding=split.images.shape[1] // 8,
        flip=True,
        mean=tuple(sample.mean(spread)),
        std=tuple(sample.std(spread)),
    )


def save_npz(images: Images, path: Path) -> None:
    """The images are in a file that `data: {name: npz}` reads."""
    np.savez(
        path,
        x_train=images.train.images,
        y_train=images.train.labels,
        x_test=images.test.images,
        y_test=images.test.labels,
    )
