"""A folder of small pictures that can be learnt: each class has its own colour, under noise."""

from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = ("cat", "dog", "owl")
COLOURS = ((200, 60, 60), (60, 200, 60), (60, 60, 200))


def write_pictures(folder: Path, num_images: int) -> Path:
    """So many pictures of each class in a folder for each, of several shapes and kinds."""
    random = np.random.default_rng(num_images)
    for name, colour in zip(CLASSES, COLOURS, strict=True):
        place = folder / name
        place.mkdir(parents=True)
        for number in range(num_images):
            shape = (20 + 3 * (number % 4), 26 - 4 * (number % 3), 3)
            pixels = np.array(colour) + random.integers(-50, 50, shape)
            picture = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
            picture.save(place / f"{number}.{('png', 'jpg', 'bmp')[number % 3]}")
    return folder


def write_split_pictures(folder: Path, num_train: int = 24, num_test: int = 8) -> Path:
    """The same under train/ and test/."""
    write_pictures(folder / "train", num_train)
    write_pictures(folder / "test", num_test)
    return folder
