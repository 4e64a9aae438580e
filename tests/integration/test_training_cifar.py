"""CIFAR from archives in the published layout, from disk and from a server of our own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sweep.errors import DataError
from sweep.spec.recipe import DataSpec
from sweep.training.archive import Archive, data_root, watched
from sweep.training.cifar import CIFAR10, CIFAR100, Edition, read_cifar
from sweep.training.dataset import read_images
from tests.archives import DEADLINE_S, Server, cifar_batch, offline, pack, pickled, serving

EDITIONS = {"cifar10": CIFAR10, "cifar100": CIFAR100}


@pytest.fixture(scope="module", params=EDITIONS)
def edition(request: pytest.FixtureRequest) -> Edition:
    return EDITIONS[request.param]


@pytest.fixture(scope="module")
def files(edition: Edition) -> dict[str, bytes]:
    contents = {
        name: pickled(cifar_batch(edition, number)) for number, name in enumerate(edition.files)
    }
    return {**contents, "readme.html": b"<html>", "batches.meta": pickled({"label_names": []})}


@pytest.fixture(scope="module")
def content(edition: Edition, files: dict[str, bytes]) -> bytes:
    return pack(edition.folder, files)


@pytest.fixture
def server(edition: Edition, content: bytes) -> Iterator[Server]:
    with serving({edition.archive.name: content}) as running:
        yield running


@pytest.fixture
def archive(edition: Edition, server: Server) -> Archive:
    return server.archive(edition.archive.name)


@pytest.fixture
def unreachable(edition: Edition, content: bytes) -> Archive:
    return offline(edition.archive.name, content)


def check(edition: Edition, root: Path, archive: Archive) -> None:
    images = read_cifar(edition, root, archive)
    num_batches = len(edition.train_files)
    assert images.num_classes == edition.num_classes
    assert images.train.images.shape == (4 * num_batches, 32, 32, 3)
    assert images.test.images.shape == (4, 32, 32, 3)
    first = cifar_batch(edition, 0)["data"][1].reshape(3, 32, 32)
    assert np.array_equal(images.train.images[1], first.transpose(1, 2, 0))
    last = cifar_batch(edition, num_batches)
    assert images.test.labels.tolist() == last[edition.label_key]


def test_the_archives_are_those_that_torchvision_knows() -> None:
    from torchvision import datasets

    for ours, theirs in ((CIFAR10, datasets.CIFAR10), (CIFAR100, datasets.CIFAR100)):
        assert (ours.archive.url, ours.archive.name) == (theirs.url, theirs.filename)
        assert ours.folder == theirs.base_folder
        assert ours.train_files == tuple(name for name, _ in theirs.train_list)
        assert [ours.test_file] == [name for name, _ in theirs.test_list]


def test_an_absent_archive_is_fetched_once_and_kept(
    tmp_path: Path, edition: Edition, archive: Archive, server: Server
) -> None:
    check(edition, tmp_path / "new" / "folder", archive)
    check(edition, tmp_path / "new" / "folder", archive)
    assert server.asked == [archive.name]
    assert not list((tmp_path / "new" / "folder").glob("*.partial"))


def test_a_download_tells_how_far_it_is(
    tmp_path: Path, edition: Edition, archive: Archive, server: Server, content: bytes
) -> None:
    told: list[tuple[str, int, int | None]] = []
    with watched(lambda *words: told.append(words)):
        server.length = len(content)
        read_cifar(edition, tmp_path / "known", archive)
        assert told[-1] == (archive.name, len(content), len(content))
        server.length = None
        read_cifar(edition, tmp_path / "unknown", archive)
        assert told[-1] == (archive.name, len(content), None)
        heard = len(told)
        read_cifar(edition, tmp_path / "known", archive)
    read_cifar(edition, tmp_path / "unwatched", archive)
    assert len(told) == heard


def test_a_download_that_breaks_off_says_so(
    tmp_path: Path, edition: Edition, archive: Archive, server: Server, content: bytes
) -> None:
    server.length = len(content) + 2**20
    with pytest.raises(
        DataError, match=r"cannot be fetched \(it broke off after .+ of 1\.\d+ MiB"
    ):
        read_cifar(edition, tmp_path, archive)
    assert not list(tmp_path.glob("*.gz"))


def test_an_archive_on_disk_is_read_in_place_without_a_network(
    tmp_path: Path, edition: Edition, content: bytes, unreachable: Archive
) -> None:
    (tmp_path / unreachable.name).write_bytes(content)
    check(edition, tmp_path, unreachable)
    assert [path.name for path in tmp_path.iterdir()] == [unreachable.name]


def test_a_read_only_folder_is_enough_to_read_from(
    tmp_path: Path, edition: Edition, content: bytes, unreachable: Archive
) -> None:
    (tmp_path / unreachable.name).write_bytes(content)
    tmp_path.chmod(0o500)
    try:
        check(edition, tmp_path, unreachable)
    finally:
        tmp_path.chmod(0o700)


def test_an_unpacked_folder_is_read_in_place(
    tmp_path: Path, edition: Edition, files: dict[str, bytes]
) -> None:
    folder = tmp_path / edition.folder
    folder.mkdir()
    for name, each in files.items():
        (folder / name).write_bytes(each)
    check(edition, tmp_path, offline(edition.archive.name, b""))


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_archive_is_replaced(
    tmp_path: Path, edition: Edition, archive: Archive, content: bytes, damage: bytes | None
) -> None:
    path = tmp_path / archive.name
    path.write_bytes(content[:-100] if damage is None else damage)
    check(edition, tmp_path, archive)
    assert path.read_bytes() == content


def test_offline_it_is_said_where_to_put_the_file(
    tmp_path: Path, edition: Edition, unreachable: Archive
) -> None:
    with pytest.raises(DataError) as caught:
        read_cifar(edition, tmp_path, unreachable)
    message = str(caught.value)
    assert "cannot be fetched" in message
    assert message.endswith(f"fetch it elsewhere and put it at {tmp_path / unreachable.name}")
    assert "\n" not in message


def test_a_server_without_it_is_told_from_the_network(
    tmp_path: Path, edition: Edition, archive: Archive, server: Server
) -> None:
    server.bodies.clear()
    with pytest.raises(DataError, match=r"cannot be fetched \(Not Found\)"):
        read_cifar(edition, tmp_path, archive)


def test_a_mirror_that_serves_something_else_is_refused_and_nothing_is_kept(
    tmp_path: Path, edition: Edition, archive: Archive, server: Server
) -> None:
    server.bodies[archive.name] = b"<html>please log in</html>"
    with pytest.raises(DataError, match=r"is not the published .* its SHA-256 differs"):
        read_cifar(edition, tmp_path, archive)
    assert not (tmp_path / archive.name).exists()
    assert not list(tmp_path.glob("*.partial"))


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, edition: Edition, unreachable: Archive
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"is not there and its folder cannot be written"):
        read_cifar(edition, tmp_path / "file" / "data", unreachable)


def test_workers_that_start_at_once_fetch_it_once(
    tmp_path: Path, archive: Archive, server: Server
) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sweep.training.archive import Archive, fetched\n"
        "name, url, digest, folder = sys.argv[1:]\n"
        "print('asks', flush=True)\n"
        "fetched(Archive(name=name, url=url, sha256=digest), Path(folder))\n"
    )
    arguments = (archive.name, archive.url, archive.sha256, str(tmp_path / "shared"))
    command = [sys.executable, "-c", code, *arguments]
    server.may_answer.clear()
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    # the first one is kept waiting until all the others have asked too
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"asks\n"
    server.may_answer.set()
    for worker in workers:
        worker.communicate(timeout=DEADLINE_S)
    assert [worker.returncode for worker in workers] == [0, 0, 0, 0]
    assert server.asked == [archive.name]


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        (b"\x80\x02garbage", "NAME cannot be read"),
        (pickled([1]), "NAME holds no names with arrays"),
        (pickled({"data": 1}), "NAME holds no images of 3 x 32 x 32 bytes"),
        ([0], "NAME holds no label from 0 to HIGHEST for each image"),
        ([0, 1, 2, 100], "no label from 0 to HIGHEST"),
        (None, "holds no NAME"),
    ],
)
def test_an_archive_of_something_else_is_refused_in_one_line(
    tmp_path: Path,
    edition: Edition,
    files: dict[str, bytes],
    replaced: Any,
    message: str,
) -> None:
    name = edition.test_file
    if isinstance(replaced, list):
        replaced = pickled({**cifar_batch(edition, 1), edition.label_key: replaced})
    changed = {**files, name: replaced}
    packed = pack(edition.folder, {name: each for name, each in changed.items() if each})
    (tmp_path / edition.archive.name).write_bytes(packed)
    with pytest.raises(DataError) as caught:
        read_cifar(edition, tmp_path, offline(edition.archive.name, packed))
    highest = str(edition.num_classes - 1)
    assert message.replace("NAME", name).replace("HIGHEST", highest) in str(caught.value)
    assert "\n" not in str(caught.value)


class Bomb:
    """A pickle that runs a command when it is read by the ordinary reader."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self.marker),)


def test_reading_a_batch_runs_no_code(
    tmp_path: Path, edition: Edition, files: dict[str, bytes]
) -> None:
    marker = tmp_path / "ran"
    batch = pickled({**cifar_batch(edition, 1), "filenames": Bomb(marker)})
    packed = pack(edition.folder, {**files, edition.test_file: batch})
    (tmp_path / edition.archive.name).write_bytes(packed)
    with pytest.raises(DataError, match=r"names posix.mkdir, which is no array of numbers"):
        read_cifar(edition, tmp_path, offline(edition.archive.name, packed))
    assert not marker.exists()


def test_the_environment_names_the_mirror_and_the_folder(
    monkeypatch: pytest.MonkeyPatch, edition: Edition
) -> None:
    monkeypatch.delenv("SWEEP_DATA", raising=False)
    assert data_root(None) == Path("data")
    monkeypatch.setenv("SWEEP_DATA", "/images")
    assert data_root(None) == Path("/images")
    assert data_root("/own") == Path("/own")
    monkeypatch.setenv(edition.url_variable, "http://mirror/it")
    assert edition.published.url == "http://mirror/it"
    assert edition.published.sha256 == edition.archive.sha256


def test_a_study_file_names_the_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edition: Edition, files: dict[str, bytes]
) -> None:
    (name,) = (name for name, each in EDITIONS.items() if each is edition)
    folder = tmp_path / edition.folder
    folder.mkdir()
    for file, each in files.items():
        (folder / file).write_bytes(each)
    spec = DataSpec.model_validate({"name": name, "root": str(tmp_path), "val_size": 1})
    images = read_images(spec)
    assert images.num_classes == edition.num_classes
    assert len(images.train.labels) == 4 * len(edition.train_files) - 1
