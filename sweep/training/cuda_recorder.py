"""Recorder of CUDA devices: work as a CUDA graph."""

from collections.abc import Callable

import torch

from sweep.training.recorded import Recorder, Recording


class CudaRecorder:
    """Records on the current GPU."""

    def __init__(self) -> None:
        self._aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def warm_up(self, work: Callable[[], None]) -> None:
        """As torch asks for before a capture: on another stream than the usual one."""
        self._aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._aside):
            work()
        torch.cuda.current_stream().wait_stream(self._aside)

    def record(self, work: Callable[[], None]) -> Recording:
        """A graph of the work, in memory of its own. Raises RuntimeError as torch does."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph


def recorder_for(device: torch.device) -> Recorder | None:
    """The device's recorder; None where a recording would win nothing: on the CPU."""
    return CudaRecorder() if device.type == "cuda" else None
