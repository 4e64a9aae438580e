"""A train function whose every epoch depends on the one before."""

from collections.abc import Iterator
from typing import Any

Yielded = tuple[dict[str, float], dict[str, float]]


def train(params: dict[str, Any], device: str, state: Any = None) -> Iterator[Yielded]:
    """Yields a value that only an unbroken or rightly resumed training has."""
    done, total = (0, 1.0) if state is None else (state["done"], state["total"])
    for epoch in range(int(done), params["epochs"]):
        total = total * 0.5 + params["quality"] / (epoch + 1)
        yield {"test_accuracy": total}, {"done": epoch + 1, "total": total}
