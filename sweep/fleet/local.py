"""The local fleet: one worker process a slot on this machine."""

import contextlib
import os
import selectors
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from sweep.clock import monotonic_s
from sweep.errors import WireError
from sweep.fleet.process import WORKER, WorkerProcess
from sweep.fleet.slots import Slot
from sweep.wire import Down, Message, Shutdown

_CLOSE_S = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """A worker has sent a message."""

    slot: Slot
    message: Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A worker's process is gone and reaped; `how` says it in words.

    `last_words` is the last line that it printed outside of any attempt, if there was one.
    """

    slot: Slot
    how: str
    last_words: str


FleetEvent = Received | Ended


class LocalFleet:
    """Workers of this machine. A context manager: none of them outlives it."""

    def __init__(
        self, slots: Sequence[Slot], recipe: str, program: Sequence[str] = WORKER
    ) -> None:
        self.slots = tuple(slots)
        self._recipe = recipe
        self._program = program
        self._workers: dict[int, WorkerProcess] = {}
        self._selector = selectors.DefaultSelector()
        self._logs = ""
        self._wake_read, self._wake_write = -1, -1
        self._wakeup_before = -1

    def __enter__(self) -> "LocalFleet":
        self._logs = tempfile.mkdtemp(prefix="sweep-")
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._wakeup_before = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._shut_down()
        signal.set_wakeup_fd(self._wakeup_before)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)
        shutil.rmtree(self._logs, ignore_errors=True)

    def start(self, slot: Slot) -> None:
        """Start the slot's worker."""
        log = Path(self._logs) / f"worker-{slot.index}.log"
        log.parent.mkdir(exist_ok=True)  # a cleaner of temporary files may have been here
        worker = WorkerProcess(slot, self._program, self._recipe, log)
        self._workers[slot.index] = worker
        self._selector.register(worker.up_fd, selectors.EVENT_READ, slot)
        self._selector.register(worker.pid_fd, selectors.EVENT_READ, slot)

    def pid(self, slot: Slot) -> int:
        """The process id of the slot's worker."""
        return self._workers[slot.index].pid

    def send(self, slot: Slot, message: Down) -> None:
        """Send a message to the slot's worker; nothing happens when it is gone."""
        if worker := self._workers.get(slot.index):
            worker.send(message)

    def dump(self, slot: Slot) -> None:
        """Have the slot's worker print into its log where each of its threads is."""
        if worker := self._workers.get(slot.index):
            worker.dump()

    def stop(self, slot: Slot) -> None:
        """Ask the slot's worker and all it started to end, as SIGTERM does."""
        if worker := self._workers.get(slot.index):
            worker.stop()

    def kill(self, slot: Slot) -> None:
        """Kill the slot's worker with all it started; its end is reported by `wait`."""
        if worker := self._workers.get(slot.index):
            worker.kill()

    def wait(self, timeout_s: float) -> list[FleetEvent]:
        """What has happened, waiting at most `timeout_s`; a signal ends the wait early."""
        ready = self._selector.select(max(0.0, timeout_s))
        self._drain_wakeups()
        slots = {key.data.index: key.data for key, _ in ready if key.data is not None}
        return [event for slot in slots.values() for event in self._collect(slot)]

    def _collect(self, slot: Slot) -> Iterator[FleetEvent]:
        worker = self._workers[slot.index]
        has_ended = _is_readable(worker.pid_fd)  # first: what it still sent is then complete
        try:
            for message in worker.receive():
                yield Received(slot=slot, message=message)
        except WireError as error:
            yield self._reap(slot, f"sent {error}")
            return
        if has_ended:
            yield self._reap(slot, None)
        elif worker.has_hung_up:
            worker.kill()  # it can say nothing more; its end follows

    def _reap(self, slot: Slot, complaint: str | None) -> Ended:
        worker = self._workers.pop(slot.index)
        self._selector.unregister(worker.up_fd)
        self._selector.unregister(worker.pid_fd)
        how = worker.reap()
        return Ended(slot=slot, how=complaint or how, last_words=_last_line(worker.log))

    def _shut_down(self) -> None:
        for worker in self._workers.values():
            worker.send(Shutdown())
        deadline = monotonic_s() + _CLOSE_S
        for index, worker in list(self._workers.items()):
            _wait_readable(worker.pid_fd, deadline - monotonic_s())
            self._reap(self._slot(index), None)

    def _slot(self, index: int) -> Slot:
        return next(slot for slot in self.slots if slot.index == index)

    def _drain_wakeups(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wake_read, 4096):
                pass


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _is_readable(fd: int) -> bool:
    return _wait_readable(fd, 0.0)


def _wait_readable(fd: int, timeout_s: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        return bool(selector.select(max(0.0, timeout_s)))
