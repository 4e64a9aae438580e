"""Feed: entries handed to the process that writes a log elsewhere, without ever waiting for it."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from types import TracebackType
from typing import IO, Self

from sweep.clock import monotonic_s
from sweep.trackers.entries import Entry, to_line

MOST_WAITING = 20_000
PATIENCE_S = 5.0
LOG = "logging-elsewhere.log"
_SEE = f"; see {LOG} in the study's folder"
WRITER = (sys.executable, "-m", "sweep.trackers")


class Feed:
    """Hands entries to another process, in a thread of its own.

    What that process cannot take is dropped; whatever becomes of it is a line of `notices`, no
    exception. At the end it has `patience_s` to write the rest, then it is killed.
    """

    def __init__(
        self, *, log: str, study: str, metric: str, folder: Path,
        writer: Sequence[str] = WRITER, patience_s: float = PATIENCE_S,
    ) -> None:  # fmt: skip
        asked = {"log": log, "study": study, "metric": metric, "folder": str(folder)}
        self._command = [*writer, json.dumps(asked)]
        self._log = log
        self._folder = folder
        self._patience_s = patience_s
        self._lines: Queue[str | None] = Queue(MOST_WAITING)
        self._notices: Queue[str] = Queue()
        self._process: subprocess.Popen[str] | None = None
        self._threads: list[Thread] = []
        self._is_dropping = False
        self._is_over = False
        self._deadline_s: float | None = None

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._process = self._started()
        except OSError as error:
            self._notices.put(f"log: {self._log} is left out: {error}")
            return self
        for work in (self._write, self._read):
            thread = Thread(target=work, args=(self._process,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process is None:
            return
        deadline_s = self.finish()
        try:
            self._process.wait(max(0.0, deadline_s - monotonic_s()))
        except subprocess.TimeoutExpired:
            self._notices.put(f"log: the rest is not in {self._log}, which takes too long{_SEE}")
            self._is_over = True
            self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(self._patience_s)

    def finish(self) -> float:
        """No entry comes any more; until when, on the monotonic clock, the rest may be written."""
        if self._deadline_s is None:
            self._deadline_s = monotonic_s() + self._patience_s
            with suppress(Full):
                self._lines.put_nowait(None)
        return self._deadline_s

    def put(self, entry: Entry) -> None:
        """The entry is on its way, or dropped where the other process has fallen far behind."""
        if self._is_over:
            return
        try:
            self._lines.put_nowait(to_line(entry))
        except Full:
            if not self._is_dropping:
                self._is_dropping = True
                self._notices.put(f"log: some epochs are not in {self._log}, which lags behind")

    def notices(self) -> list[str]:
        """What there is to tell since the last time, each one line."""
        told = []
        while True:
            try:
                told.append(self._notices.get_nowait())
            except Empty:
                return told

    def _started(self) -> subprocess.Popen[str]:
        with (self._folder / LOG).open("a") as log:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )

    def _write(self, process: subprocess.Popen[str]) -> None:
        pipe: IO[str] | None = process.stdin
        assert pipe is not None
        try:
            while (line := self._lines.get()) is not None:
                pipe.write(line)
                pipe.flush()
        except OSError:
            if not self._is_over:
                self._notices.put(f"log: what writes {self._log} has ended{_SEE}")
            self._is_over = True
        finally:
            with suppress(OSError):
                pipe.close()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as told:
            for line in told:
                self._notices.put(line.strip())
