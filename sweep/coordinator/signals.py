"""Signals: what the user or the host has asked of this process, noted for the loop to read."""

import signal
from types import FrameType, TracebackType
from typing import Any

_WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Counts stop signals while it is entered. An inherited ignore, as of nohup, stays."""

    def __init__(self) -> None:
        self.count = 0
        self.first: signal.Signals | None = None
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Signals":
        for number in _WATCHED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def are_absent(self) -> bool:
        """Whether nothing was asked so far."""
        return self.first is None

    @property
    def exit_code(self) -> int:
        """The shell's convention: 128 and the number of the signal."""
        return 0 if self.first is None else 128 + int(self.first)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        self.first = self.first or signal.Signals(number)
