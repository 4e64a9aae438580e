"""The process that writes a sweep's logs elsewhere: entries come in as lines, faults go out.

It is another process, so that a library that hangs, crashes or fills the memory harms no sweep.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from sweep.trackers.entries import Tracker, from_line
from sweep.trackers.opening import open_tracker


def main() -> None:
    """Write what comes in until it ends. The first fault of a tracker is told, and ends it."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not for those who read the faults
    asked = json.loads(sys.argv[1])
    trackers: dict[str, Tracker] = {}
    for name in asked["logs"]:
        folder = Path(asked["folder"]) / name
        try:
            trackers[name] = open_tracker(name, asked["study"], asked["metric"], folder)
        except Exception as error:
            _tell(told, name, error)
    for line in sys.stdin:
        for name in list(trackers):
            try:
                trackers[name].put(from_line(line))
            except Exception as error:
                _tell(told, name, error)
                with suppress(Exception):
                    trackers.pop(name).close()
    for name, tracker in trackers.items():
        try:
            tracker.close()
        except Exception as error:
            _tell(told, name, error)


def _tell(told: "os._TextIOWrapper", name: str, error: Exception) -> None:  # type: ignore[name-defined]
    text = " ".join(str(error).split()) or type(error).__name__
    told.write(f"log: {name} is left out: {text[:300]}\n")
    told.flush()


if __name__ == "__main__":
    main()
