"""Watchers: who shows a run's events, a live screen on a terminal and plain lines elsewhere."""

import os
import sys
from contextlib import AbstractContextManager
from typing import Protocol

from sweep.coordinator.events import Event


class Watcher(Protocol):
    """Shows what happens in a run."""

    def show(self, event: Event) -> None:
        """The event is shown, or taken account of."""
        ...


def watch() -> AbstractContextManager[Watcher]:
    """The watcher for the stderr that there is, to be entered."""
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        from sweep.cli.screen import Screen

        return Screen()
    from sweep.cli.lines import Lines

    return Lines()
