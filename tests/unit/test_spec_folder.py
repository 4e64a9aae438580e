"""Image folders: listed as torchvision lists them, split, and refused where they are odd."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from study_texts import DATA, changed, load_text, problems_of

from sweep.spec.folder import Listing, list_folder
from sweep.spec.recipe import DataSpec


def touch(folder: Path, *names: str) -> Path:
    """Empty files: what is listed is not opened."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def numbered(split: str, *classes: str, count: int) -> list[str]:
    return [f"{split}{name}/{number}.jpg" for name in classes for number in range(count)]


def good(folder: Path) -> Path:
    names = (*numbered("train/", "a", "b", count=20), *numbered("test/", "a", "b", count=5))
    return touch(folder / "pictures", *names)


def study(keys: str = "image_size: 32") -> str:
    text = changed(DATA, f"data: {{name: folder, path: pictures, {keys}}}\n")
    return text.replace("{epochs: 6}", "{epochs: 6, batch_size: 16}")


def names_of(images: tuple[tuple[str, int], ...], folder: Path) -> list[str]:
    return [str(Path(path).relative_to(folder)) for path, _ in images]


def test_a_folder_in_a_study_file_is_counted_without_opening_an_image(tmp_path: Path) -> None:
    folder = good(tmp_path)
    spec = load_text(tmp_path, study("image_size: 32, val_size: 4"))
    assert spec.recipe.data == DataSpec(name="folder", path=str(folder), image_size=32, val_size=4)
    assert spec.recipe.data.augmentation(32) == (4, True)
    text = study().replace("batch_size: 16", "batch_size: 64")
    assert problems_of(tmp_path, text) == [
        "9: training.batch_size 64 is larger than the data: 40 images to train on; take fewer"
    ]
    assert problems_of(tmp_path, study("image_size: 32, val_size: 40")) == [
        "3: data.val_size is 40, but there are 40 training images; take fewer"
    ]


def test_classes_files_and_labels_are_those_of_torchvision(tmp_path: Path) -> None:
    from torchvision.datasets import ImageFolder

    folder = touch(
        tmp_path,
        *("train/zebra/2.png", "train/zebra/10.PNG", "train/zebra/deep/er/1.webp"),
        *("train/Ant/b.jpeg", "train/Ant/a.tiff", "train/Ant/a.b.ppm", "train/ant/1.pgm"),
        *numbered("test/", "zebra", "Ant", "ant", count=1),
    )
    theirs = ImageFolder(str(folder / "train"))
    ours = list_folder(folder, None)
    assert list(ours.train) == theirs.samples
    assert list(ours.classes) == theirs.classes


def test_what_is_no_image_is_ignored_and_counted(tmp_path: Path) -> None:
    folder = touch(
        good(tmp_path),
        *("train/notes.txt", "train/a/Thumbs.db", "test/b/.DS_Store", "test/b/._1.jpg"),
        *("train/.cache/1.jpg", "train/a/.hidden/1.jpg", "readme.md"),
    )
    listing = list_folder(folder, None)
    assert (len(listing.train), len(listing.test), listing.num_ignored) == (40, 10, 4)
    assert str(listing) == "2 classes, 40 images to train on, 10 to test on; 4 other files ignored"


def test_links_are_followed_but_never_in_circles(tmp_path: Path) -> None:
    folder = good(tmp_path)
    (folder / "train" / "a" / "again").symlink_to(folder / "train" / "a")
    (folder / "train" / "a" / "elsewhere").symlink_to(touch(tmp_path / "other", "1.jpg"))
    assert len(list_folder(folder, None).train) == 41


@pytest.mark.parametrize("top", ["", "train/"])
def test_a_share_of_each_class_is_held_back_where_there_is_no_test(
    tmp_path: Path, top: str
) -> None:
    names = (*numbered(top, "a", count=20), *numbered(top, "b", count=3))
    folder = touch(tmp_path / "p", *names)
    listing = list_folder(folder, 0.25)
    assert Counter(label for _, label in listing.test) == {0: 5, 1: 1}
    assert Counter(label for _, label in listing.train) == {0: 15, 1: 2}
    held, kept = names_of(listing.test, folder), names_of(listing.train, folder)
    assert sorted([*held, *kept]) == sorted(names)
    assert list_folder(folder, 0.25) == listing
    moved = folder.rename(tmp_path / "q")
    assert names_of(list_folder(moved, 0.25).test, moved) == held


def test_more_images_leave_those_held_back_where_they_are(tmp_path: Path) -> None:
    folder = touch(tmp_path, *numbered("", "a", "b", count=40))
    before = set(names_of(list_folder(folder, 0.2).test, folder))
    touch(folder, *(f"a/-{number}.jpg" for number in range(40)))
    after = set(names_of(list_folder(folder, 0.2).test, folder))
    assert len(before) == 16
    assert len(before & after) >= 12


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
def test_both_splits_get_an_image_of_every_class(tmp_path: Path, share: float) -> None:
    listing = list_folder(touch(tmp_path, *numbered("", "a", "b", "c", count=2)), share)
    for images in (listing.train, listing.test):
        assert [label for _, label in images] == [0, 1, 2]


def nothing(folder: Path) -> None:
    """A folder that is not there."""


def a_file(folder: Path) -> None:
    folder.write_text("no folder")


FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "no folder": (nothing, "", "which is no folder; correct it"),
    "a file": (a_file, "", "which is no folder; correct it"),
    "an empty folder": (
        Path.mkdir,
        "test_split: 0.2",
        "which has no classes in it; put the images of each class into a folder of its own",
    ),
    "images without folders": (
        lambda folder: touch(folder, "train/1.jpg", "train/2.jpg"),
        "test_split: 0.2",
        "which has no classes in train; put the images of each class into a folder of its own",
    ),
    "one class": (
        lambda folder: touch(folder, *numbered("", "cats", count=9)),
        "test_split: 0.2",
        "which has one class, 'cats', in it; put the images of each class into a folder of its "
        "own",
    ),
    "a class without images": (
        lambda folder: touch(good(folder.parent), "train/c/1.heic", "test/c/1.jpg"),
        "",
        "whose class 'c' has no images in train among 1 other file; add some (.jpg, .jpeg, "
        ".png, ...) or remove it",
    ),
    "no test and no share for it": (
        lambda folder: touch(folder, *numbered("train/", "a", "b", count=9)),
        "",
        "which has no folder test; add one, or data.test_split: 0.2",
    ),
    "a test and a share for it": (
        lambda folder: good(folder.parent),
        "test_split: 0.2",
        "which has a folder test; remove data.test_split",
    ),
    "a test without a train": (
        lambda folder: touch(folder, *numbered("test/", "a", "b", count=9)),
        "",
        "which has a folder test but no folder train; add it",
    ),
    "a class that is not tested": (
        lambda folder: touch(good(folder.parent), "train/c/1.jpg"),
        "",
        "whose train has the class 'c', which test has not; give both the same classes",
    ),
    "a class that is not trained": (
        lambda folder: touch(good(folder.parent), "test/c/1.jpg"),
        "",
        "whose test has the class 'c', which train has not; give both the same classes",
    ),
    "a class too small to split": (
        lambda folder: touch(folder, *numbered("", "a", count=9), "b/1.jpg"),
        "test_split: 0.2",
        "whose class 'b' has one image, and data.test_split needs two; add some",
    ),
}


@pytest.mark.parametrize(("make", "keys", "expected"), FAULTS.values(), ids=list(FAULTS))
def test_a_folder_that_cannot_be_trained_on_is_refused_in_one_line(
    tmp_path: Path, make: Callable[[Path], object], keys: str, expected: str
) -> None:
    make(tmp_path / "pictures")
    text = study(f"image_size: 32, {keys}" if keys else "image_size: 32")
    assert problems_of(tmp_path, text) == [f"3: data.path names {tmp_path}/pictures, {expected}"]


def test_a_listing_without_other_files_does_not_mention_them() -> None:
    listing = Listing(classes=("a", "b"), train=(("x", 0),), test=(), num_ignored=0)
    assert str(listing) == "2 classes, 1 images to train on, 0 to test on"
