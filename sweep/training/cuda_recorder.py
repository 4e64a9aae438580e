"""Recorder of CUDA devices: work as a CUDA graph."""

from collections.abc import Callable

import torch

from sweep.training.recorded import Recorder, Recording


class CudaRecorder:
    """Records on one GPU, on a stream of its own."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._aside = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def warm_up(self, work: Callable[[], None]) -> None:
        """As torch asks for before a capture: on another stream than the usual one."""
        usual = torch.cuda.current_stream(self._device)
        self._aside.wait_stream(usual)
        with torch.cuda.stream(self._aside):
            work()
        usual.wait_stream(self._aside)

    def record(self, work: Callable[[], None]) -> Recording:
        """A graph of the work, in memory of its own. Raises RuntimeError as torch does."""
        graph = torch.cuda.CUDAGraph()
        capture = torch.cuda.graph(graph, stream=self._aside)
        # a capture that fails leaves its own stream the current one
        usual = torch.cuda.stream(torch.cuda.current_stream(self._device))
        with torch.cuda.device(self._device), usual, capture:
            work()
        return graph


def recorder_for(device: torch.device) -> Recorder | None:
    """The device's recorder; None where a recording would win nothing: on the CPU."""
    return CudaRecorder(device) if device.type == "cuda" else None
