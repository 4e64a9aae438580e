"""Fashion-MNIST from files in the published layout, from disk and from a server of our own."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sweep.errors import DataError
from sweep.spec.recipe import DataSpec
from sweep.training.archive import Archive
from sweep.training.dataset import read_images
from sweep.training.fashion_mnist import FOLDER, SHA256, URL, archives, read_fashion_mnist
from tests.archives import Server, idx, offline, serving

NUM_TRAIN, NUM_TEST = 12, 5


def arrays() -> dict[str, np.ndarray]:
    """Images and labels under the names of the unpacked files."""
    random = np.random.default_rng(0)
    return {
        "train-images-idx3-ubyte": random.integers(0, 256, (NUM_TRAIN, 28, 28)),
        "train-labels-idx1-ubyte": np.arange(NUM_TRAIN) % 10,
        "t10k-images-idx3-ubyte": random.integers(0, 256, (NUM_TEST, 28, 28)),
        "t10k-labels-idx1-ubyte": np.arange(NUM_TEST) % 10,
    }


def packed() -> dict[str, bytes]:
    return {f"{name}.gz": gzip.compress(idx(array)) for name, array in arrays().items()}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(packed()) as running:
        yield running


def published(server: Server) -> tuple[Archive, ...]:
    return tuple(server.archive(name) for name in SHA256)


def unreachable(contents: dict[str, bytes]) -> tuple[Archive, ...]:
    return tuple(offline(name, contents[name]) for name in SHA256)


def check(root: Path, files: tuple[Archive, ...]) -> None:
    images = read_fashion_mnist(root, files)
    expected = arrays()
    assert images.num_classes == 10
    assert images.train.images.shape == (NUM_TRAIN, 28, 28, 1)
    assert np.array_equal(images.train.images[..., 0], expected["train-images-idx3-ubyte"])
    assert np.array_equal(images.test.images[..., 0], expected["t10k-images-idx3-ubyte"])
    assert images.train.labels.tolist() == expected["train-labels-idx1-ubyte"].tolist()
    assert images.test.labels.tolist() == expected["t10k-labels-idx1-ubyte"].tolist()


def test_the_files_are_those_that_torchvision_knows() -> None:
    from torchvision.datasets import FashionMNIST

    assert [name for name, _ in FashionMNIST.resources] == list(SHA256)
    assert FashionMNIST.mirrors == [f"{URL}/"]
    assert [each.url for each in archives()] == [f"{URL}/{name}" for name in SHA256]


def test_absent_files_are_fetched_once_and_kept_where_torchvision_keeps_them(
    tmp_path: Path, server: Server
) -> None:
    for _ in range(2):
        check(tmp_path, published(server))
    assert server.asked == list(SHA256)
    assert (tmp_path / "FashionMNIST" / "raw" / "t10k-labels-idx1-ubyte.gz").is_file()


def test_what_is_there_is_not_fetched(tmp_path: Path, server: Server) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    name = "train-images-idx3-ubyte.gz"
    (folder / name).write_bytes(server.bodies[name])
    check(tmp_path, published(server))
    assert server.asked == [each for each in SHA256 if each != name]


def test_unpacked_files_are_read_in_place(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for name, array in arrays().items():
        (folder / name).write_bytes(idx(array))
    check(tmp_path, unreachable(packed()))


def test_torchvision_reads_the_same_files(tmp_path: Path) -> None:
    from torchvision.datasets import FashionMNIST

    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for name, array in arrays().items():
        (folder / name).write_bytes(idx(array))
    theirs = FashionMNIST(str(tmp_path), train=True)
    ours = read_fashion_mnist(tmp_path, unreachable(packed()))
    assert np.array_equal(theirs.data.numpy(), ours.train.images[..., 0])
    assert theirs.targets.tolist() == ours.train.labels.tolist()


def test_offline_it_is_said_where_to_put_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_fashion_mnist(tmp_path, unreachable(packed()))
    path = tmp_path / FOLDER / "train-images-idx3-ubyte.gz"
    assert str(caught.value).endswith(f"fetch it elsewhere and put it at {path}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train-images-idx3-ubyte.gz", b"no gzip", "cannot be unpacked"),
        ("train-images-idx3-ubyte.gz", gzip.compress(b""), "is no IDX file of bytes"),
        ("train-labels-idx1-ubyte.gz", gzip.compress(b"\0\0\x08\x01"), "is no IDX file of bytes"),
        ("train-labels-idx1-ubyte.gz", gzip.compress(b"\0\0\x0d\x01\0\0\0\0"), "is no IDX"),
        ("t10k-labels-idx1-ubyte.gz", gzip.compress(idx(np.zeros(3))), "no image and label"),
        ("t10k-labels-idx1-ubyte.gz", gzip.compress(idx(np.full(5, 10))), "no image and label"),
        ("t10k-images-idx3-ubyte.gz", gzip.compress(idx(np.zeros(5))), "no image and label"),
    ],
    ids=["no gzip", "empty", "short", "no bytes", "few", "no class", "no images"],
)
def test_a_file_of_something_else_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    contents = {**packed(), name: content}
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for each, data in contents.items():
        (folder / each).write_bytes(data)
    with pytest.raises(DataError) as caught:
        read_fashion_mnist(tmp_path, unreachable(contents))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_environment_names_a_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP_FASHION_MNIST_URL", "http://mirror/of/it/")
    assert archives()[0].url == "http://mirror/of/it/train-images-idx3-ubyte.gz"


def test_a_study_file_names_the_set(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    for name, array in arrays().items():
        (folder / name).write_bytes(idx(array))
    images = read_images(DataSpec(name="fashion_mnist", root=str(tmp_path), val_size=2))
    assert len(images.train.labels) == NUM_TRAIN - 2
    assert DataSpec(name="fashion_mnist").augmentation(28) == (4, True)
