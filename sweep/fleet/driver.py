"""The NVIDIA driver, asked through NVML: which GPUs it shows, and who uses them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sweep.errors import DeviceError

_UNSEEN_BYTES = 1536 * 1024**2
"""What a GPU that nobody uses may hold: the driver's own, and the rest of a process that ended."""

_DEVICE_FILE = Path("/dev/nvidia0")


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """A GPU, or a part of one (MIG), as the driver describes it.

    `memory_bytes` is None where it has no memory of its own, but uses the machine's.
    """

    uuid: str
    name: str
    memory_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Occupant:
    """Who uses a GPU. `pid` is None for a process that cannot be seen from here, as from inside a
    container; `memory_bytes` None where the driver does not say.
    """

    pid: int | None
    name: str
    memory_bytes: int | None

    def __str__(self) -> str:
        who = "a process that cannot be seen from here" if self.pid is None else f"pid {self.pid}"
        name = f" ({self.name})" if self.name else ""
        size = "" if self.memory_bytes is None else f", {self.memory_bytes / 2**30:.1f} GiB"
        return f"{who}{name}{size}"


def installed_gpus() -> tuple[Installed, ...]:
    """The GPUs in nvidia-smi's order; none without a driver.

    Raises DeviceError where there is a driver and it does not answer.
    """
    with _open_driver() as nvml:
        if nvml is None:
            return ()
        count = nvml.nvmlDeviceGetCount()
        return tuple(_describe(nvml, nvml.nvmlDeviceGetHandleByIndex(n)) for n in range(count))


def driver_version() -> str | None:
    """The version of the driver; None without one. Raises DeviceError as `installed_gpus` does."""
    with _open_driver() as nvml:
        return None if nvml is None else str(nvml.nvmlSystemGetDriverVersion())


def installed_part(uuid: str) -> Installed | None:
    """The part of a GPU (MIG) with this UUID. Raises DeviceError as `installed_gpus` does."""
    with _open_driver() as nvml:
        if nvml is None:
            return None
        try:
            return _describe(nvml, nvml.nvmlDeviceGetHandleByUUID(uuid))
        except nvml.NVMLError:
            return None


def occupants(uuid: str, but: frozenset[int]) -> tuple[Occupant, ...]:
    """Who computes on a GPU, except the processes `but`; nobody where the driver does not say."""
    with _open_driver() as nvml:
        if nvml is None:
            return ()
        try:
            handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
            running = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            memory = _memory(nvml, handle)
        except nvml.NVMLError:
            return ()
    if not running and memory is not None and memory.used > _UNSEEN_BYTES:
        return (Occupant(pid=None, name="", memory_bytes=int(memory.used)),)
    return tuple(
        Occupant(pid=each.pid, name=_name(each.pid), memory_bytes=each.usedGpuMemory)
        for each in running
        if each.pid not in but
    )


@contextmanager
def _open_driver() -> Iterator[Any]:
    """NVML while it is open; None where this machine has no NVIDIA driver."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        if _is_absent(pynvml, error):
            yield None
            return
        raise _silent(error) from error
    try:
        yield pynvml
    except pynvml.NVMLError as error:
        raise _silent(error) from error
    finally:
        pynvml.nvmlShutdown()


def _is_absent(nvml: Any, error: Exception) -> bool:
    """Whether there is no driver, rather than one that is out of order."""
    if isinstance(error, nvml.NVMLError_LibraryNotFound):
        return True
    return isinstance(error, nvml.NVMLError_DriverNotLoaded) and not _DEVICE_FILE.exists()


def _silent(error: Exception) -> DeviceError:
    return DeviceError(
        f"the NVIDIA driver does not answer: {error}; see nvidia-smi, or run on the CPU with "
        "--cpu 2"
    )


def _describe(nvml: Any, handle: Any) -> Installed:
    memory = _memory(nvml, handle)
    return Installed(
        uuid=nvml.nvmlDeviceGetUUID(handle),
        name=nvml.nvmlDeviceGetName(handle),
        memory_bytes=None if memory is None else memory.total,
    )


def _memory(nvml: Any, handle: Any) -> Any | None:
    """What the driver says of a GPU's memory; None for one that uses the machine's."""
    try:
        return nvml.nvmlDeviceGetMemoryInfo(handle)
    except nvml.NVMLError_NotSupported:
        return None


def _name(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return ""
