"""Probe: whether 16-bit numbers make a training faster on this CPU, by trying both.

Processors with AMX or AVX512-BF16 multiply bf16 about twice as fast as fp32, but a small network
spends its time elsewhere. A GPU needs no probe.
"""

import time
from pathlib import Path
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sweep.clock import monotonic_s
from sweep.spec.recipe import ModelSpec
from sweep.training.device import device_name
from sweep.training.model import build_model, layout_of
from sweep.training.precision import autocast
from sweep.training.remembered import remembered
from sweep.training.resident import normalization_of
from sweep.training.splits import Dataset

CpuPrecision: TypeAlias = Literal["fp32", "bf16"]

CPU = torch.device("cpu")
CPU_INFO = Path("/proc/cpuinfo")
UNITS = ("amx_bf16", "avx512_bf16")
MIN_GAIN = 1.25
"""bf16 must be that much faster: what gains less is mostly not multiplication, and the probe's own
noise would decide."""
FIRST_PIXELS = 4096
MAX_IMAGES = 64
STEP_S = 0.06
"""A step of a few images says how many make one that takes so long: small networks gain less on
small batches. No more than a usual batch."""
PATIENCE_S = 0.4


def fast_bf16_units(cpu_info: Path = CPU_INFO) -> str:
    """What this processor multiplies bf16 with; empty where it has nothing for it."""
    try:
        lines = cpu_info.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    return " ".join(unit for unit in UNITS if unit in flags)


def cpu_precision(spec: ModelSpec, data: Dataset) -> CpuPrecision:
    """The faster of fp32 and bf16 for this network on these images; once found, kept.

    It is fp32 where the processor has nothing for bf16, or a user's network does not bear it.
    """
    units = fast_bf16_units()
    if not units:
        return "fp32"
    subject = {
        "what": "cpu_precision",
        "cpu": device_name(CPU),
        "units": units,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "model": spec.model_dump(exclude={"weights"}),
        "images": [data.in_channels, data.train.image_pixels, data.num_classes],
    }
    found = remembered(subject, lambda: _measured(spec, data))
    return "bf16" if found == "bf16" else "fp32"


def faster(fp32_s: float, bf16_s: float) -> CpuPrecision:
    """bf16 where it is faster by enough."""
    return "bf16" if fp32_s >= MIN_GAIN * bf16_s else "fp32"


def _measured(spec: ModelSpec, data: Dataset) -> CpuPrecision:
    normalization = normalization_of(data, "dataset", layout_of(spec))
    images, labels = next(data.calibration.chunks(normalization, MAX_IMAGES))
    try:
        model = build_model(
            spec.model_copy(update={"weights": None}),
            num_classes=data.num_classes,
            in_channels=data.in_channels,
            seed=0,
            device=CPU,
        ).train()
        size = _num_images(model, images, labels)
        return faster(*_fastest_steps_s(model, images[:size], labels[:size]))
    except Exception:  # a user's network may raise anything: it will say so when it is trained
        return "fp32"


def _num_images(model: nn.Module, images: Tensor, labels: Tensor) -> int:
    """How many of the images make a step of the right length, going by one of fewer images."""
    few = min(max(2, FIRST_PIXELS // images[0, 0].numel()), len(images))
    for _ in range(2):  # the first one also prepares
        seconds = _step_s(model, images[:few], labels[:few], torch.float32)
    return max(few, min(int(few * STEP_S / seconds), len(images)))


def _fastest_steps_s(model: nn.Module, images: Tensor, labels: Tensor) -> tuple[float, float]:
    """The least CPU time of a step in fp32 and in bf16, tried in turn after one of each."""
    dtypes = (torch.float32, torch.bfloat16)
    for dtype in dtypes:
        _step_s(model, images, labels, dtype)
    rounds: list[list[float]] = []
    until_s = monotonic_s() + PATIENCE_S
    while not rounds or monotonic_s() < until_s:
        rounds.append([_step_s(model, images, labels, dtype) for dtype in dtypes])
    fp32_s, bf16_s = (min(times) for times in zip(*rounds, strict=True))
    return fp32_s, bf16_s


def _step_s(model: nn.Module, images: Tensor, labels: Tensor, dtype: torch.dtype) -> float:
    """CPU seconds, which other programs on the machine hardly change."""
    started = time.process_time()
    with autocast(dtype, CPU):
        logits = model(images)
    F.cross_entropy(logits.float(), labels).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()
    return time.process_time() - started
