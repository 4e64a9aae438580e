"""CIFAR-10 from an archive in the published layout, from disk and from a server of our own."""

import io
import pickle
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from sweep.errors import DataError
from sweep.training.archive import Archive
from sweep.training.cifar10 import CIFAR10, data_root, published, read_cifar10

NAME = "cifar-10-python.tar.gz"
BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
DEADLINE_S = 60


def batch(number: int, num_images: int = 4) -> dict[str, Any]:
    pixels = np.random.default_rng(number).integers(0, 256, (num_images, 3072), dtype=np.uint8)
    return {
        "batch_label": f"batch {number}",
        "labels": [(number + i) % 10 for i in range(num_images)],
        "data": pixels,
        "filenames": [f"{i}.png" for i in range(num_images)],
    }


def pickled(value: Any) -> bytes:
    """As the published files are: protocol 2, with the module names of NumPy 1."""
    return pickle.dumps(value, protocol=2).replace(b"numpy._core.multi", b"numpy.core.multi")


def pack(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    contents = {name: pickled(batch(number)) for number, name in enumerate(BATCHES)}
    return {**contents, "readme.html": b"<html>", "batches.meta": pickled({"label_names": []})}


@pytest.fixture(scope="module")
def content(files: dict[str, bytes]) -> bytes:
    return pack(files)


class Server(ThreadingHTTPServer):
    """Serves one body to whoever asks, once it may, and counts how often that was."""

    body = b""
    num_requests = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.may_answer = Event()
        self.may_answer.set()


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.num_requests += 1
        assert self.server.may_answer.wait(DEADLINE_S)
        self.send_response(200 if self.server.body else 404)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(content: bytes) -> Iterator[Server]:
    with Server() as running:
        running.body = content
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def archive(server: Server, content: bytes) -> Archive:
    url = f"http://127.0.0.1:{server.server_port}/{NAME}"
    return Archive(name=NAME, url=url, sha256=sha256(content).hexdigest())


def offline(content: bytes) -> Archive:
    """The archive at an address where nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    digest = sha256(content).hexdigest()
    return Archive(name=NAME, url=f"http://127.0.0.1:{port}/{NAME}", sha256=digest)


def check(root: Path, archive: Archive) -> None:
    images = read_cifar10(root, archive)
    assert images.train.images.shape == (20, 32, 32, 3)
    assert images.test.images.shape == (4, 32, 32, 3)
    first = batch(0)["data"][1].reshape(3, 32, 32)
    assert np.array_equal(images.train.images[1], first.transpose(1, 2, 0))
    assert images.test.labels.tolist() == batch(5)["labels"]


def test_the_archive_is_the_one_that_torchvision_knows() -> None:
    from torchvision.datasets import CIFAR10 as theirs

    assert (CIFAR10.url, CIFAR10.name) == (theirs.url, theirs.filename)


def test_an_absent_archive_is_fetched_once_and_kept(
    tmp_path: Path, archive: Archive, server: Server
) -> None:
    check(tmp_path / "new" / "folder", archive)
    check(tmp_path / "new" / "folder", archive)
    assert server.num_requests == 1
    assert not list((tmp_path / "new" / "folder").glob("*.partial"))


def test_an_archive_on_disk_is_read_in_place_without_a_network(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / NAME).write_bytes(content)
    check(tmp_path, offline(content))
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_read_only_folder_is_enough_to_read_from(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    tmp_path.chmod(0o500)
    try:
        check(tmp_path, offline(content))
    finally:
        tmp_path.chmod(0o700)


def test_an_unpacked_folder_is_read_in_place(tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name, each in files.items():
        (folder / name).write_bytes(each)
    check(tmp_path, offline(b""))


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_a_damaged_archive_is_replaced(
    tmp_path: Path, archive: Archive, content: bytes, damage: bytes | None
) -> None:
    (tmp_path / NAME).write_bytes(content[:-100] if damage is None else damage)
    check(tmp_path, archive)
    assert (tmp_path / NAME).read_bytes() == content


def test_offline_it_is_said_where_to_put_the_file(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError) as caught:
        read_cifar10(tmp_path, offline(content))
    message = str(caught.value)
    assert "cannot be fetched" in message
    assert message.endswith(f"fetch it elsewhere and put it at {tmp_path / NAME}")
    assert "\n" not in message


def test_a_server_without_it_is_told_from_the_network(
    tmp_path: Path, archive: Archive, server: Server
) -> None:
    server.body = b""
    with pytest.raises(DataError, match=r"cannot be fetched \(Not Found\)"):
        read_cifar10(tmp_path, archive)


def test_a_mirror_that_serves_something_else_is_refused_and_nothing_is_kept(
    tmp_path: Path, archive: Archive, server: Server
) -> None:
    server.body = b"<html>please log in</html>"
    with pytest.raises(DataError, match=r"is not the published .* its SHA-256 differs"):
        read_cifar10(tmp_path, archive)
    assert not (tmp_path / NAME).exists()
    assert not list(tmp_path.glob("*.partial"))


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"is not there and its folder cannot be written"):
        read_cifar10(tmp_path / "file" / "data", offline(content))


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
    assert server.num_requests == 1


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"test_batch": b"\x80\x02garbage"}, "test_batch cannot be read"),
        ({"test_batch": pickled([1])}, "test_batch is no batch of CIFAR-10"),
        ({"test_batch": pickled({"data": 1})}, "holds no images of 3 x 32 x 32 bytes"),
        ({"test_batch": pickled({**batch(1), "labels": [0]})}, "holds no label from 0 to 9"),
        ({"test_batch": pickled({**batch(1), "labels": [0, 1, 2, 10]})}, "no label from 0 to 9"),
        ({"data_batch_3": None, "data_batch_4": None}, "holds no data_batch_3, data_batch_4"),
    ],
)
def test_an_archive_of_something_else_is_refused_in_one_line(
    tmp_path: Path, files: dict[str, bytes], replaced: dict[str, Any], message: str
) -> None:
    changed = {name: each for name, each in {**files, **replaced}.items() if each is not None}
    packed = pack(changed)
    (tmp_path / NAME).write_bytes(packed)
    with pytest.raises(DataError) as caught:
        read_cifar10(tmp_path, offline(packed))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


class Bomb:
    """A pickle that runs a command when it is read by the ordinary reader."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.mkdir, (str(self.marker),)


def test_reading_a_batch_runs_no_code(tmp_path: Path, files: dict[str, bytes]) -> None:
    marker = tmp_path / "ran"
    packed = pack({**files, "test_batch": pickled({**batch(1), "filenames": Bomb(marker)})})
    (tmp_path / NAME).write_bytes(packed)
    with pytest.raises(DataError, match=r"names posix.mkdir, which is no array of numbers"):
        read_cifar10(tmp_path, offline(packed))
    assert not marker.exists()


def test_the_environment_names_the_mirror_and_the_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SWEEP_DATA", raising=False)
    assert data_root(None) == Path("data")
    monkeypatch.setenv("SWEEP_DATA", "/images")
    monkeypatch.setenv("SWEEP_CIFAR10_URL", "http://mirror/it")
    assert data_root(None) == Path("/images")
    assert data_root("/own") == Path("/own")
    assert published() == replace(CIFAR10, url="http://mirror/it")
