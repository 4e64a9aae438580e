"""Image folders: the classes and files of a user's own images, listed without opening one.

The layout is that of torchvision's ImageFolder: a folder for each class, whose name is the class,
under train/ and test/. Without a test/, a fixed share of each class's images is held back.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sweep.spec.kind import Unfit

SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
_SPLIT_SEED = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing:
    """Each class's name, and for each image its path and the position of its class.

    `num_ignored` counts the files that are no images, going by their names.
    """

    classes: tuple[str, ...]
    train: tuple[tuple[str, int], ...]
    test: tuple[tuple[str, int], ...]
    num_ignored: int

    def __str__(self) -> str:
        counts = f"{len(self.train)} images to train on, {len(self.test)} to test on"
        ignored = f"; {_other_files(self.num_ignored)} ignored" if self.num_ignored else ""
        return f"{len(self.classes)} classes, {counts}{ignored}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tree:
    """The images of each class under one folder, and how many other files there are."""

    images: dict[str, list[str]]
    num_ignored: int


def list_folder(path: Path, test_split: float | None) -> Listing:
    """What a folder holds, in the order of names.

    `test_split` is the share of the images to test on, where there is no test/. Raises Unfit for
    a folder that cannot be trained on.
    """
    has_test = (path / "test").is_dir()
    top = path / "train" if has_test or (path / "train").is_dir() else path
    _check_layout(path, top, has_test, test_split)
    train = _tree(path, top)
    if test_split is not None:
        return _held_back(path, train, test_split)
    test = _tree(path, path / "test")
    _check_alike(path, train, test)
    return Listing(
        classes=tuple(train.images),
        train=_labelled(train.images),
        test=_labelled(test.images),
        num_ignored=train.num_ignored + test.num_ignored,
    )


def _check_layout(path: Path, top: Path, has_test: bool, test_split: float | None) -> None:
    if not path.is_dir():
        raise Unfit(f"names {path}, which is no folder; correct it")
    if not top.is_dir():
        raise Unfit(f"names {path}, which has a folder test but no folder train; add it")
    if has_test and test_split is not None:
        raise Unfit(f"names {path}, which has a folder test; remove data.test_split")
    if not has_test and test_split is None:
        advice = "add one, or data.test_split: 0.2"
        raise Unfit(f"names {path}, which has no folder test; {advice}")


def _tree(path: Path, top: Path) -> _Tree:
    """The classes under one folder; those whose names start with a dot are somebody else's."""
    try:
        with os.scandir(top) as entries:
            found = sorted(
                (each for each in entries if not each.name.startswith(".")),
                key=lambda entry: entry.name,
            )
        folders = {each.name: list(_files(each.path)) for each in found if each.is_dir()}
    except OSError as error:
        reason = (error.strerror or "unknown").lower()
        raise Unfit(f"names {path}, which cannot be read ({reason}); correct it") from error
    images = {name: [each for each in files if _is_image(each)] for name, files in folders.items()}
    num_files = sum(map(len, folders.values())) + sum(not each.is_dir() for each in found)
    tree = _Tree(images=images, num_ignored=num_files - sum(map(len, images.values())))
    _check_classes(path, top, tree)
    return tree


def _files(folder: str) -> Iterator[str]:
    """Every file under a folder, links followed once, in torchvision's order."""
    seen: set[tuple[int, int]] = set()
    walked = []
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        walked.append((place, sorted(names)))
    for place, names in sorted(walked):
        yield from (str(Path(place, name)) for name in names)


def _is_image(path: str) -> bool:
    name = os.path.basename(path)  # noqa: PTH119
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def _check_classes(path: Path, top: Path, tree: _Tree) -> None:
    where = "" if top == path else f" in {top.name}"
    names = list(tree.images)
    if len(names) < 2:
        found = f"one class, {names[0]!r}," if names else "no classes"
        message = f"names {path}, which has {found}{where or ' in it'}"
        raise Unfit(f"{message}; put the images of each class into a folder of its own")
    empty = next((name for name in names if not tree.images[name]), None)
    if empty is not None:
        others = f" among {_other_files(tree.num_ignored)}" if tree.num_ignored else ""
        message = f"names {path}, whose class {empty!r} has no images{where}{others}"
        raise Unfit(f"{message}; add some ({', '.join(SUFFIXES[:3])}, ...) or remove it")


def _check_alike(path: Path, train: _Tree, test: _Tree) -> None:
    for one, other, names in (
        ("train", "test", train.images.keys() - test.images.keys()),
        ("test", "train", test.images.keys() - train.images.keys()),
    ):
        if names:
            message = f"whose {one} has the class {min(names)!r}, which {other} has not"
            raise Unfit(f"names {path}, {message}; give both the same classes")


def _held_back(path: Path, tree: _Tree, share: float) -> Listing:
    """The listing with a share of each class's images to test on, whatever else is there."""
    train, test = {}, {}
    for name, images in tree.images.items():
        if len(images) < 2:
            message = f"whose class {name!r} has one image, and data.test_split needs two"
            raise Unfit(f"names {path}, {message}; add some")
        count = min(max(round(share * len(images)), 1), len(images) - 1)
        held = set(sorted(images, key=lambda image: _lot(path, image))[:count])
        test[name] = [image for image in images if image in held]
        train[name] = [image for image in images if image not in held]
    return Listing(
        classes=tuple(train),
        train=_labelled(train),
        test=_labelled(test),
        num_ignored=tree.num_ignored,
    )


def _lot(path: Path, image: str) -> bytes:
    """What decides whether an image is held back: its name alone, so that others may come."""
    return sha256(f"{_SPLIT_SEED}/{os.path.relpath(image, path)}".encode()).digest()


def _labelled(images: dict[str, list[str]]) -> tuple[tuple[str, int], ...]:
    return tuple((image, label) for label, name in enumerate(images) for image in images[name])


def _other_files(count: int) -> str:
    return f"{count} other file" if count == 1 else f"{count} other files"
