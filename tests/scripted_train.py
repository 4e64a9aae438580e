"""What a scripted study names as its train function; the scripted worker never calls it."""

from collections.abc import Iterator
from typing import Any


def train(params: dict[str, Any], device: str, state: Any = None) -> Iterator[dict[str, float]]:
    """Yields nothing."""
    yield from ()
