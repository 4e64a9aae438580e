"""The pause: while a disk is full nothing is started; it ends by itself when there is room."""

import tempfile
from pathlib import Path

from sweep.clock import monotonic_s

_FIRST_S = 2.0
_LONGEST_S = 60.0
_PROBE_BYTES = 2**20


class Pause:
    """Begins when something could not be written to a folder. There is room again when a file can
    be written there, looked for after a time that doubles as long as nothing gets on.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._interval_s = _FIRST_S
        self._look_at_s = 0.0

    @property
    def is_on(self) -> bool:
        return self._folder is not None

    def begin(self, folder: Path) -> bool:
        """Something did not fit in the folder; whether that is news."""
        is_news = self._folder is None
        self._folder = folder
        if is_news:
            self._look_at_s = monotonic_s() + self._interval_s
            self._interval_s = min(2 * self._interval_s, _LONGEST_S)
        return is_news

    def progressed(self) -> None:
        """Something was written after all."""
        self._interval_s = _FIRST_S

    def look(self) -> bool:
        """Whether the pause has ended just now."""
        if self._folder is None or monotonic_s() < self._look_at_s:
            return False
        if not _has_room(self._folder):
            self._look_at_s = monotonic_s() + _FIRST_S
            return False
        self._folder = None
        return True


def _has_room(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError:
        return False
    return True
