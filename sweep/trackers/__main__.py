"""The process that writes a log of a sweep elsewhere: entries come in as lines, faults go out.

It is another process, so that a library that hangs, crashes or fills the memory harms no sweep.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, Timer

from sweep.trackers.entries import from_line
from sweep.trackers.opening import open_tracker

OUTLIVES_S = 10.0
"""How long it may write on after the last line: the sweep is over then, or its process is dead."""


def main() -> None:
    """Write what comes in until it ends. The first fault is told, and nothing is written after."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not for those who read the faults
    asked = json.loads(sys.argv[1])
    lines: SimpleQueue[str | None] = SimpleQueue()
    Thread(target=_read, args=(lines,), daemon=True).start()
    try:
        _write(asked, lines)
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        told.write(f"log: {asked['log']} is left out: {text[:300]}\n")
        told.flush()
        while lines.get() is not None:
            """Taken in for nothing: who sends them must not wait."""


def _write(asked: dict[str, str], lines: "SimpleQueue[str | None]") -> None:
    folder = Path(asked["folder"]) / asked["log"]
    tracker = open_tracker(asked["log"], asked["study"], asked["metric"], folder)
    try:
        while (line := lines.get()) is not None:
            tracker.put(from_line(line))
    except BaseException:
        with suppress(Exception):
            tracker.close()
        raise
    tracker.close()


def _read(lines: "SimpleQueue[str | None]") -> None:
    for line in sys.stdin:
        lines.put(line)
    end = Timer(OUTLIVES_S, os._exit, [1])
    end.daemon = True
    end.start()
    lines.put(None)


if __name__ == "__main__":
    main()
