"""Exits: how a process ended, in words."""

import signal


def describe_end(returncode: int) -> str:
    """How a process ended, in words, as the rest of a sentence about it."""
    if returncode >= 0:
        return f"exited with status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = "unknown"
    return f"was killed by signal {-returncode} ({name})"
