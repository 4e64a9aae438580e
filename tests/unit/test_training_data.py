"""Data sets: what is read, what is refused, and the batches that are drawn on the device."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sweep.errors import DataError
from sweep.spec.recipe import AugmentSpec, DataSpec
from sweep.training.dataset import load_dataset, read_images
from sweep.training.digits import read_digits
from sweep.training.images import Images, Split, hold_out
from sweep.training.npz import read_npz
from sweep.training.resident import (
    Augmentation,
    Batches,
    ResidentSplit,
    move_to,
    normalization_of,
)
from sweep.training.splits import Share
from tests.small_images import NUM_TEST, NUM_TRAIN, write_small_images

CPU = torch.device("cpu")
LAYOUT = torch.channels_last


def numbered(num_images: int, side: int = 4, channels: int = 3) -> Images:
    """Images whose every pixel tells which image and which place it is from."""
    shape = (num_images, side, side, channels)
    images = (np.arange(np.prod(shape)) % 251 + 1).astype(np.uint8).reshape(shape)
    split = Split(images=images, labels=np.arange(num_images))
    return Images(train=split, test=split, num_classes=num_images)


def batches(images: Images, batch_size: int, crop: int, flip: bool) -> Batches:
    data = move_to(images, CPU)
    return Batches(
        data.train,
        batch_size,
        Augmentation(crop=crop, flip=flip),
        normalization_of(data, "half", LAYOUT),
    )


@pytest.mark.parametrize(("batch_size", "count"), [(8, 2), (7, 3), (5, 5)])
def test_the_shares_of_all_ranks_make_up_the_whole_batches(batch_size: int, count: int) -> None:
    data = move_to(numbered(23), CPU)
    drawn = [
        list(
            data.train.batches(
                batch_size,
                Augmentation(crop=1, flip=True),
                normalization_of(data, "half", LAYOUT),
                share,
            ).epoch(generator(3))
        )
        for share in (Share(), *(Share(index=index, count=count) for index in range(count)))
    ]
    for whole, *parts in zip(*drawn, strict=True):
        for whole_tensor, part_tensors in zip(whole, zip(*parts, strict=True), strict=True):
            assert torch.equal(torch.cat(part_tensors), whole_tensor)
            sizes = [len(tensor) for tensor in part_tensors]
            assert max(sizes) - min(sizes) <= 1
            assert sizes == sorted(sizes, reverse=True), "the first rank needs the most memory"


@pytest.mark.parametrize(("total", "count"), [(23, 4), (3, 5), (0, 2)])
def test_the_parts_of_a_split_make_up_the_split(total: int, count: int) -> None:
    train = move_to(numbered(23), CPU).train.part(Share(index=0, count=1))
    kept = ResidentSplit(pixels=train.pixels[:total], labels=train.labels[:total])
    parts = [kept.part(Share(index=index, count=count)) for index in range(count)]
    assert torch.cat([part.labels for part in parts]).tolist() == kept.labels.tolist()
    assert torch.equal(torch.cat([part.pixels for part in parts]), kept.pixels)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def variants(image: np.ndarray, crop: int) -> list[bytes]:
    """Every crop of an image in a black border, plain and mirrored: the slow, obvious way."""
    side = image.shape[0]
    padded = np.pad(image, ((crop, crop), (crop, crop), (0, 0)))
    corners = range(2 * crop + 1)
    crops = [padded[y : y + side, x : x + side] for y in corners for x in corners]
    return [
        np.ascontiguousarray(each).tobytes() for crop in crops for each in (crop, crop[:, ::-1])
    ]


def as_bytes(image: torch.Tensor) -> bytes:
    pixels = ((image + 1) * 127.5).round().to(torch.uint8)
    return pixels.permute(1, 2, 0).contiguous().numpy().tobytes()


def test_digits_are_those_of_scikit_learn() -> None:
    from sklearn.datasets import load_digits

    digits = read_digits()
    ours = np.concatenate([digits.train.images, digits.test.images]).reshape(-1, 64)
    theirs = np.rint(load_digits().data * (255 / 16)).astype(np.uint8)
    assert sorted(map(bytes, ours)) == sorted(map(bytes, theirs))
    assert (len(digits.train.labels), len(digits.test.labels)) == (1437, 360)


def test_every_digit_is_in_both_splits() -> None:
    digits = read_digits()
    for split in (digits.train, digits.test):
        assert set(split.labels.tolist()) == set(range(10))


def test_a_process_reads_its_data_set_once(tmp_path: Path) -> None:
    path = str(write_small_images(tmp_path / "images.npz"))
    first = load_dataset(DataSpec(name="npz", path=path), CPU)
    varied = DataSpec(name="npz", path=path, augment=AugmentSpec(crop=2, flip=False))
    Path(path).unlink()
    assert load_dataset(varied, CPU) is first


def test_images_held_out_are_the_same_each_time_and_not_trained_on(tmp_path: Path) -> None:
    path = str(write_small_images(tmp_path / "images.npz"))
    spec = DataSpec(name="npz", path=path, val_size=20)
    images, again = read_images(spec), read_images(spec)
    assert images.validation is not None
    assert again.validation is not None
    assert np.array_equal(images.validation.images, again.validation.images)
    held_out = {each.tobytes() for each in images.validation.images}
    assert len(images.train.labels) == NUM_TRAIN - 20
    assert held_out.isdisjoint(each.tobytes() for each in images.train.images)
    assert len(images.test.labels) == NUM_TEST


def test_holding_out_everything_is_refused() -> None:
    with pytest.raises(DataError, match="val_size is 5, but there are only 5 training images"):
        hold_out(numbered(5), 5)


def test_grey_images_need_no_channel_axis(tmp_path: Path) -> None:
    path = write_small_images(
        tmp_path / "grey.npz",
        x_train=np.zeros((NUM_TRAIN, 6, 5), np.uint8),
        x_test=np.zeros((NUM_TEST, 6, 5), np.uint8),
    )
    assert read_npz(path).train.images.shape == (NUM_TRAIN, 6, 5, 1)


def test_classes_say_how_many_there_are(tmp_path: Path) -> None:
    path = write_small_images(tmp_path / "named.npz", classes=np.array(list("abcdefg")))
    assert read_npz(path).num_classes == 7


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"x_train": np.zeros((96, 8, 8, 3))}, "x_train is float64 of shape (96, 8, 8, 3)"),
        ({"x_train": np.zeros((96, 8), np.uint8)}, "images are uint8 of shape (N, H, W, C)"),
        ({"x_test": np.zeros((40, 9, 8, 3), np.uint8)}, "training images are 8 x 8 x 3, test"),
        ({"y_train": np.zeros(95, int)}, "labels are 96 whole numbers, one for each image"),
        ({"y_train": np.zeros(96)}, "y_train is float64"),
        ({"y_train": np.full(96, -1)}, "y_train holds labels from -1 to -1"),
        ({"y_train": np.full(96, 2**40)}, "they count the classes from 0"),
        ({"y_train": np.full(96, 500)}, "501 classes for 96 training images"),
        ({"classes": np.array(["a"])}, "label 3 found, but classes has 1 names"),
        ({"y_test": np.array([{}] * 40)}, "not an .npz archive of plain arrays"),
    ],
)
def test_arrays_that_are_no_data_set_are_refused_in_one_line(
    tmp_path: Path, replaced: dict[str, Any], message: str
) -> None:
    path = write_small_images(tmp_path / "bad.npz", **replaced)
    with pytest.raises(DataError) as caught:
        read_npz(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_archive_is_refused_in_one_line(tmp_path: Path) -> None:
    whole = write_small_images(tmp_path / "whole.npz").read_bytes()
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    contents = {"empty": b"", "text": b"hello\nworld", "short": whole[:2000], "deep": whole[:-9]}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    for path in (*(tmp_path / name for name in contents), single, tmp_path, tmp_path / "none"):
        with pytest.raises(DataError) as caught:
            read_npz(path)
        assert "\n" not in str(caught.value)


def test_missing_arrays_are_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "part.npz", x_train=np.zeros(1))
    with pytest.raises(DataError, match="y_train, x_test, y_test missing"):
        read_npz(tmp_path / "part.npz")


def test_each_image_comes_once_an_epoch_and_the_rest_is_dropped() -> None:
    drawn = [labels for _, labels in batches(numbered(23), 5, 1, True).epoch(generator(0))]
    assert [len(labels) for labels in drawn] == [5, 5, 5, 5]
    counts = Counter(torch.cat(drawn).tolist())
    assert max(counts.values()) == 1


@pytest.mark.parametrize("side", [4, 3], ids=["whole words", "single bytes"])
def test_every_crop_and_mirror_image_is_drawn_exactly_and_equally_often(side: int) -> None:
    images, crop = numbered(3, side), 1
    possible = [variants(image, crop) for image in images.train.images]
    source = batches(images, 3, crop, True)
    found: Counter[int] = Counter()
    for epoch in range(600):
        for pixels, labels in source.epoch(generator(epoch)):
            for image, label in zip(pixels, labels, strict=True):
                found[possible[int(label)].index(as_bytes(image))] += 1
    assert set(found) == set(range(18))
    expected = 600 * 3 / 18
    chi_squared = sum((count - expected) ** 2 / expected for count in found.values())
    # 17 degrees of freedom: the draw is fixed by its seeds, so this cannot flake
    assert chi_squared < 33.4


def test_without_augmentation_images_come_as_they_are() -> None:
    images = numbered(6)
    for pixels, labels in batches(images, 2, 0, False).epoch(generator(1)):
        for image, label in zip(pixels, labels, strict=True):
            assert as_bytes(image) == images.train.images[int(label)].tobytes()


def test_a_generator_decides_the_whole_epoch() -> None:
    source = batches(numbered(20), 4, 1, True)
    first, again, other = (list(source.epoch(generator(seed))) for seed in (1, 1, 2))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a[1], b[1]) for a, b in zip(first, other, strict=True))


def test_batches_do_not_depend_on_the_size_of_the_blocks_they_are_made_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = batches(numbered(40), 4, 1, True)
    in_one_block = list(source.epoch(generator(1)))
    monkeypatch.setattr("sweep.training.resident.BLOCK_BYTES", 1)
    in_many = list(source.epoch(generator(1)))
    for one, other in zip(in_one_block, in_many, strict=True):
        assert torch.equal(one[0], other[0])
        assert torch.equal(one[1], other[1])


def test_dataset_normalization_gives_training_images_mean_0_and_deviation_1(
    tmp_path: Path,
) -> None:
    images = read_npz(write_small_images(tmp_path / "images.npz"))
    data = move_to(images, CPU)
    pixels = normalization_of(data, "dataset", LAYOUT).apply(data.train.pixels)
    torch.testing.assert_close(pixels.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(pixels.std((0, 2, 3), correction=0), torch.ones(3))


def test_half_normalization_maps_black_to_minus_1_and_white_to_1() -> None:
    data = move_to(numbered(2), CPU)
    ends = torch.tensor([0, 255], dtype=torch.uint8).view(2, 1, 1, 1).expand(2, 3, 1, 1)
    result = normalization_of(data, "half", LAYOUT).apply(ends)
    torch.testing.assert_close(result[:, 0, 0, 0], torch.tensor([-1.0, 1.0]))


def test_images_of_one_single_grey_stay_finite() -> None:
    split = Split(images=np.full((4, 2, 2, 1), 7, np.uint8), labels=np.arange(4))
    data = move_to(Images(train=split, test=split, num_classes=4), CPU)
    assert normalization_of(data, "dataset", LAYOUT).apply(data.train.pixels).isfinite().all()


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_chunks_hold_every_image_once_in_order(size: int) -> None:
    data = move_to(numbered(10), CPU)
    chunks = list(data.test.chunks(normalization_of(data, "half", LAYOUT), size))
    assert torch.cat([labels for _, labels in chunks]).tolist() == list(range(10))
    assert max(len(labels) for _, labels in chunks) <= size
