"""The channel to the coordinator: messages over two pipes, read by a thread of its own.

The thread also watches the lifeline: the pipe's end means that the coordinator is gone.
"""

import os
import queue
import threading

from sweep.errors import WireError
from sweep.wire import Message, Shutdown, Up, decode, encode
from sweep.worker.lifeline import kill_own_group


class Channel:
    """The worker's two pipes. Once started, the end of the pipe down kills this process group."""

    def __init__(self, down_fd: int, up_fd: int) -> None:
        self._down_fd = down_fd
        self._up_fd = up_fd
        self._sending = threading.Lock()
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def start(self) -> None:
        """Keep both pipes from child programs and begin to read."""
        os.set_inheritable(self._down_fd, False)
        os.set_inheritable(self._up_fd, False)
        threading.Thread(target=self._read, name="lifeline", daemon=True).start()

    def send(self, message: Up) -> None:
        """Send one message whole, whoever else sends. Raises ValueError for a number that is not
        finite."""
        line = memoryview(encode(message))
        with self._sending:
            while line:
                line = line[os.write(self._up_fd, line) :]

    def receive(self) -> Message:
        """The next message, waiting for it."""
        return self._messages.get()

    def _read(self) -> None:
        is_leaving = False
        with os.fdopen(self._down_fd, "rb") as lines:
            for line in lines:
                message = self._decode(line)
                is_leaving = is_leaving or isinstance(message, Shutdown)
                self._messages.put(message)
        if not is_leaving:
            kill_own_group()

    def _decode(self, line: bytes) -> Message:
        try:
            return decode(line)
        except WireError:
            kill_own_group()  # a coordinator that is not understood cannot be served
            raise
