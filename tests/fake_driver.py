"""A made-up NVIDIA driver in place of NVML's module: its GPUs, and who computes on them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import pytest

MEMORY_BYTES = 2**37


class NVMLError(Exception):
    """What NVML raises."""


class NVMLError_LibraryNotFound(NVMLError):
    """No driver is installed."""


class NVMLError_DriverNotLoaded(NVMLError):
    """The library is there, the driver is not."""


class NVMLError_NotSupported(NVMLError):
    """This GPU cannot answer that."""


@dataclass
class FakeDriver:
    """GPUs by UUID, each with its processes (pid, bytes). `fault` is raised at the start.

    `names` are those of the GPUs that are no H200; `unified` ones have no memory of their own.
    """

    uuids: tuple[str, ...]
    processes: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)
    used_bytes: dict[str, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    names: dict[str, str] = field(default_factory=dict)
    unified: tuple[str, ...] = ()
    fault: Exception | None = None

    def init(self) -> None:
        if self.fault is not None:
            raise self.fault

    def by_uuid(self, uuid: str) -> str:
        if uuid not in self.uuids + self.parts:
            raise NVMLError("Not Found")
        return uuid

    def running(self, uuid: str) -> list[SimpleNamespace]:
        found = self.processes.get(uuid, [])
        return [SimpleNamespace(pid=pid, usedGpuMemory=size) for pid, size in found]

    def memory(self, uuid: str) -> SimpleNamespace:
        if uuid in self.unified:
            raise NVMLError_NotSupported("Not Supported")
        used = self.used_bytes.get(uuid, 0)
        return SimpleNamespace(total=MEMORY_BYTES, used=used, free=MEMORY_BYTES - used)


def install(monkeypatch: pytest.MonkeyPatch, driver: FakeDriver) -> FakeDriver:
    """Put the driver in NVML's place."""
    functions: dict[str, type | Callable[..., object]] = {
        "NVMLError": NVMLError,
        "NVMLError_LibraryNotFound": NVMLError_LibraryNotFound,
        "NVMLError_DriverNotLoaded": NVMLError_DriverNotLoaded,
        "NVMLError_NotSupported": NVMLError_NotSupported,
        "nvmlInit": driver.init,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: len(driver.uuids),
        "nvmlDeviceGetHandleByIndex": lambda index: driver.uuids[index],
        "nvmlDeviceGetHandleByUUID": driver.by_uuid,
        "nvmlDeviceGetUUID": lambda uuid: uuid,
        "nvmlDeviceGetName": lambda uuid: driver.names.get(uuid, "H200"),
        "nvmlDeviceGetMemoryInfo": driver.memory,
        "nvmlDeviceGetComputeRunningProcesses": driver.running,
    }
    module = ModuleType("pynvml")
    for name, function in functions.items():
        setattr(module, name, function)
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return driver
