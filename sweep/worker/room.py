"""Room: in how many parts a batch goes through, and how that grows when memory runs out.

The optimizer sees the same batch, BatchNorm each part by itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sweep.records import Cause
from sweep.wire import Assignment, Failed, OnOom

SMALLEST_MICRO_BATCH = 16
"""With fewer images at once BatchNorm's statistics are mostly chance."""


class Room:
    """The room that an attempt has in memory. Of a user's own training nothing is known.

    Where several devices share a batch, it is about the largest share.
    """

    def __init__(self, assignment: Assignment) -> None:
        self.too_large: int | None = None
        self._params = assignment.params
        self._on_oom = assignment.on_oom
        self._batch_size = 0
        self._num_parts = 1
        if self._on_oom is not None:
            num_devices = 1 + len(assignment.other_devices)
            self._batch_size = _ceiling(_whole(assignment.params["batch_size"]), num_devices)
            self._num_parts = min(_whole(assignment.params["accumulate"]), self._batch_size)
        self._num_parts_asked = self._num_parts

    @property
    def micro_batch(self) -> int | None:
        """How many images go through at once, in the largest part; None where it is not known."""
        return _ceiling(self._batch_size, self._num_parts) if self._batch_size else None

    @property
    def params(self) -> Mapping[str, Any]:
        """The params, with as many parts of a batch as there is room for."""
        if self._num_parts == self._num_parts_asked:
            return self._params
        return {**self._params, "accumulate": self._num_parts}

    def avoid(self, too_large: int | None) -> bool:
        """Whether so few images go through at once that memory is not known to be too small."""
        while too_large is not None and (self.micro_batch or 0) >= too_large:
            if not self._shrink():
                return False
        return True

    def run_out(self) -> bool:
        """Memory has run out; whether the attempt is to go on, with half as many at once."""
        self.too_large = self.micro_batch
        return self._shrink()

    def judged(self, failed: Failed) -> Failed:
        """The failure as the study counts it: memory that ran out may be one like any other."""
        if failed.cause is not Cause.OUT_OF_MEMORY:
            return failed
        cause = Cause.EXCEPTION if self._on_oom is OnOom.FAIL else failed.cause
        return replace(failed, cause=cause, too_large=self.too_large)

    def _shrink(self) -> bool:
        """Whether half as many images at once are allowed; they are taken then."""
        fewer = _ceiling(self._batch_size, 2 * self._num_parts)
        if self._on_oom is not OnOom.ACCUMULATE or fewer < SMALLEST_MICRO_BATCH:
            return False
        self._num_parts *= 2
        return True


def _ceiling(count: int, parts: int) -> int:
    return -(-count // parts)


def _whole(value: Any) -> int:
    assert isinstance(value, int), "the built-in training's params are checked"
    return value
