"""A further rank as the worker sees it: a process, what it was told, and what it has said."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sweep.errors import WireError
from sweep.exits import describe_end
from sweep.records import Cause
from sweep.wire import Assignment, Down, Failed, Finished, Message, Ready, decode, encode

PROGRAM = (sys.executable, "-P", "-m", "sweep.worker.rank")


class RankProcess:
    """A running rank. `fault` is why it has failed, once it has, unless it was done before."""

    def __init__(
        self,
        *,
        rank: int,
        device: str,
        arguments: Mapping[str, str | int | None],
        assignment: Assignment,
    ) -> None:
        self.is_ready = False
        self.has_finished = False
        self.is_gone = False
        self.fault: Failed | None = None
        self._name = f"rank {rank}" + (f" on {device}" if device else "")
        self._assignment = assignment
        down_read, self._down_fd = os.pipe()
        self._up_fd, up_write = os.pipe()
        flags = {**arguments, "down-fd": down_read, "up-fd": up_write}
        self._process = subprocess.Popen(
            [
                *PROGRAM,
                *(f"--{name}={value}" for name, value in flags.items() if value is not None),
            ],
            stdin=subprocess.DEVNULL,
            pass_fds=(down_read, up_write),
            env={**os.environ, "CUDA_VISIBLE_DEVICES": device},
        )
        os.close(down_read)
        os.close(up_write)
        self.send(assignment)

    def send(self, message: Down) -> None:
        """Tell the rank something; that it is gone is heard, not noticed here."""
        line = memoryview(encode(message))
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._down_fd, line) :]

    def heard(self) -> Iterator[Message]:
        """What the rank says, until it is gone and reaped."""
        with os.fdopen(self._up_fd, "rb") as lines, contextlib.suppress(WireError):
            for line in lines:
                message = decode(line)
                self._note(message)
                yield message
        returncode = self._process.wait()
        if self.fault is None and not self.has_finished:
            self.fault = self._failed(f"{self._name} {describe_end(returncode)}", Cause.LOST)

    def kill(self) -> None:
        """The rank ends at once."""
        self._process.kill()

    def end(self, patience_s: float) -> None:
        """The rank has ended, by itself within a time, and is reaped."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._down_fd)

    def _note(self, message: Message) -> None:
        match message:
            case Ready():
                self.is_ready = True
            case Finished():
                self.has_finished = True
            case Failed() if not self.has_finished and self.fault is None:
                self.fault = replace(message, message=f"{self._name}: {message.message}")

    def _failed(self, message: str, cause: Cause) -> Failed:
        told = self._assignment
        return Failed(
            trial=told.trial, attempt=told.attempt, message=message, traceback="", cause=cause
        )
