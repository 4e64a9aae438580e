"""Progress: how whoever wants to know is told of work that takes a while."""

from collections.abc import Callable

Watch = Callable[[int, int], None]
"""Is told how much is done, and of how much."""


def unwatched(done: int, total: int) -> None:
    """Nobody wants to know."""
