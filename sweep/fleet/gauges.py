"""Gauges: how busy the GPUs are right now, asked of the driver; unknown is no fault."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

import pynvml


class Gauges:
    """The driver's gauges, open while entered. Without a driver every reading is unknown."""

    def __init__(self) -> None:
        self._is_open = False

    def __enter__(self) -> Self:
        try:
            pynvml.nvmlInit()
            self._is_open = True
        except pynvml.NVMLError:
            self._is_open = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_open:
            pynvml.nvmlShutdown()
            self._is_open = False

    def use_percent(self, uuids: Iterable[str]) -> Mapping[str, int | None]:
        """How much of the last moment each GPU was computing, by UUID; None where unknown."""
        return {uuid: self._use_percent(uuid) for uuid in uuids}

    def free_bytes(self, uuid: str) -> int | None:
        """How much of a GPU's memory nobody uses now; None where unknown."""
        if not self._is_open:
            return None
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            return int(pynvml.nvmlDeviceGetMemoryInfo(handle).free)
        except pynvml.NVMLError:
            return None

    def _use_percent(self, uuid: str) -> int | None:
        if not self._is_open:
            return None
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            return int(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        except pynvml.NVMLError:
            return None
