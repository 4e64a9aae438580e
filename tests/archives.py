"""Archives of data sets as they are published, made up, and a server of our own that has them."""

import io
import pickle
import socket
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import numpy as np

from sweep.training.archive import Archive
from sweep.training.cifar import Edition

DEADLINE_S = 60


def cifar_batch(edition: Edition, number: int, num_images: int = 4) -> dict[str, Any]:
    """One batch of CIFAR; both kinds of labels, where the set has two."""
    pixels = np.random.default_rng(number).integers(0, 256, (num_images, 3072), dtype=np.uint8)
    labels = [(number + i) % edition.num_classes for i in range(num_images)]
    coarse = {} if edition.label_key == "labels" else {"coarse_labels": [0] * num_images}
    return {
        "batch_label": f"batch {number}",
        edition.label_key: labels,
        **coarse,
        "data": pixels,
        "filenames": [f"{i}.png" for i in range(num_images)],
    }


def pickled(value: Any) -> bytes:
    """As the published files are: protocol 2, with the module names of NumPy 1."""
    return pickle.dumps(value, protocol=2).replace(b"numpy._core.multi", b"numpy.core.multi")


def pack(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A gzipped tar of files in a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def idx(array: np.ndarray) -> bytes:
    """An array of bytes in the IDX format of MNIST."""
    sides = np.array(array.shape, dtype=">u4").tobytes()
    return b"\0\0\x08" + bytes([array.ndim]) + sides + array.astype(np.uint8).tobytes()


class Server(ThreadingHTTPServer):
    """Serves bodies by their names to whoever asks, once it may, and notes what was asked for."""

    def __init__(self, bodies: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.bodies = bodies
        self.asked: list[str] = []
        self.length: int | None = None
        """What it says that a body's length is, beside what it is; None says nothing."""
        self.may_answer = Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def archive(self, name: str) -> Archive:
        """A file of this server, as published."""
        digest = sha256(self.bodies[name]).hexdigest()
        return Archive(name=name, url=f"{self.url}/{name}", sha256=digest)


class _Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.server.asked.append(name)
        assert self.server.may_answer.wait(DEADLINE_S)
        self.send_response(200 if name in self.server.bodies else 404)
        if self.server.length is not None:
            self.send_header("Content-Length", str(self.server.length))
        self.end_headers()
        self.wfile.write(self.server.bodies.get(name, b""))

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving(bodies: dict[str, bytes]) -> Iterator[Server]:
    """A running server."""
    with Server(bodies) as running:
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def offline(name: str, content: bytes) -> Archive:
    """An archive at an address where nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    digest = sha256(content).hexdigest()
    return Archive(name=name, url=f"http://127.0.0.1:{port}/{name}", sha256=digest)
