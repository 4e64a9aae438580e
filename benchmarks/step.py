"""Step: how fast ResNet18 trains, and how much of a step is the framework's and not the device's.

The textbook loop (fp32, DataLoader, `.item()` each step, a new model for each trial) against the
built-in training with the precision that it chooses. On a GPU the DataLoader has two workers, as
in most repositories; on the CPU none, as each would take a core from the training. Both run with
the same threads on the same images. The share of the peak is that of the fastest product of two
large matrices that was measured here, in whatever precision.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.measure import interleaved, measure_of
from benchmarks.options import Options
from benchmarks.peers.textbook import (
    Pictures,
    one_cycle,
    optimizer_of,
    resnet18,
    train_epoch,
    training_loader,
)
from benchmarks.pictures import NUM_CLASSES, first_images, made_up_images, pictures_of, save_npz
from benchmarks.result import Row, Table
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.spec.training import resolve_training, settle_precision
from sweep.training.function import epochs_of, load_train_function
from sweep.training.preparation import choices

LR, MOMENTUM, WEIGHT_DECAY = 0.1, 0.9, 0.0005
GPU_SIZES = tuple((64, batch) for batch in (32, 64, 128, 256, 512))
CPU_SIZES = ((16, 32), (16, 128), (16, 512), (64, 32), (64, 128))
"""Width of the network and batch size."""
QUICK_SIZES = ((2, 16),)
EPOCH_S = {"cuda": 4.0, "cpu": 8.0}
"""About how long an epoch of the peer is made to last."""
TINY = {"width": 2, "side": 8, "batch": 2, "steps": 100}
"""A step of next to nothing: what it takes is the framework's time."""
MATRIX = {"cuda": 8192, "cpu": 2048}

Epoch = Callable[[int], tuple[float, float]]
"""From the round to images per second, and the seconds of a whole trial of two epochs."""


def run(options: Options) -> Iterator[Table]:
    """Images per second by width and batch size, then the framework's time of a step."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    peaks = _peaks(device, quick=options.quick)
    yield Table(title="step: the device's largest products", rows=[peaks])
    sizes = GPU_SIZES if device.type == "cuda" else CPU_SIZES
    rows = [
        row
        for width, batch in (QUICK_SIZES if options.quick else sizes)
        for row in _rows(options, device, width, batch, max(peaks.values()))
    ]
    yield Table(title=f"step: ResNet18 on {device}, {torch.get_num_threads()} threads", rows=rows)
    yield Table(title="step: framework time of a step", rows=_tiny_rows(options, device))


def _rows(
    options: Options, device: torch.device, width: int, batch: int, peak_tflop_per_s: float
) -> list[Row]:
    num_images = batch * _num_steps(options, device, width, batch)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "images.npz"
        images = first_images(options.npz, num_images)
        save_npz(images, path)
        contenders: dict[str, Epoch] = {
            "textbook": partial(_textbook, pictures_of(images.train), device, width, batch),
            "sweep": _ours(path, device, width, batch),
        }
        found = interleaved(contenders, options.num_rounds)
    tflop = 1e-12 * _flop_per_image(width, images.train.images.shape[1])
    theirs = measure_of(speed for speed, _ in found["textbook"])
    return [
        {
            "width": width,
            "batch": batch,
            "loop": name,
            "images_per_s": (speed := measure_of(each for each, _ in results)),
            "share_of_peak": speed.median * tflop / peak_tflop_per_s,
            "trial_s": measure_of(trial_s for _, trial_s in results),
            "is_faster": None if name == "textbook" else speed.over(theirs),
        }
        for name, results in found.items()
    ]


def _tiny_rows(options: Options, device: torch.device) -> list[Row]:
    num_steps = 10 if options.quick else TINY["steps"]
    images = made_up_images(TINY["batch"] * num_steps, TINY["side"])
    sizes = (device, TINY["width"], TINY["batch"])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "images.npz"
        save_npz(images, path)
        contenders: dict[str, Epoch] = {
            "textbook": partial(_textbook, pictures_of(images.train), *sizes),
            "sweep": _ours(path, *sizes),
        }
        found = interleaved(contenders, options.num_rounds)
    times = {
        name: measure_of(1000 * TINY["batch"] / speed for speed, _ in results)
        for name, results in found.items()
    }
    return [{"loop": name, "step_ms": step_ms} for name, step_ms in times.items()]


def _textbook(
    pictures: Pictures, device: torch.device, width: int, batch: int, number: int
) -> tuple[float, float]:
    began = time.perf_counter()
    num_workers = 2 if device.type == "cuda" else 0
    loader = training_loader(pictures, batch, num_workers, pin_memory=device.type == "cuda")
    model = resnet18(width, pictures.num_channels, NUM_CLASSES).to(device)
    optimizer = optimizer_of("sgd", model, lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    scheduler = one_cycle(optimizer, LR, 2 * len(loader))
    for _ in range(2):  # the first warms up
        started = time.perf_counter()
        train_epoch(model, loader, optimizer, scheduler, device)
        ended = time.perf_counter()
    return len(loader) * batch / (ended - started), ended - began


def _ours(path: Path, device: torch.device, width: int, batch: int) -> Epoch:
    """Trials as one worker runs them, one after the other."""
    recipe = RecipeSpec(data=DataSpec(name="npz", path=str(path)), model=ModelSpec(width=width))
    params = resolve_training(
        {
            "epochs": 2,  # the first warms up
            "batch_size": batch,
            "optimizer": "sgd",
            "lr": LR,
            "momentum": MOMENTUM,
            "weight_decay": WEIGHT_DECAY,
            "schedule": "one_cycle",
        }
    ).as_params()
    # tried out, as once in a study
    params = settle_precision(params, choices(recipe, str(device)), str(device))
    function = load_train_function(recipe)

    def trial(number: int) -> tuple[float, float]:
        began = time.perf_counter()
        *_, last = epochs_of(function, params, number, str(device))
        return last.metrics["images_per_s"], time.perf_counter() - began

    return trial


def _num_steps(options: Options, device: torch.device, width: int, batch: int) -> int:
    """So many that the peer's epoch takes about as long as one is to take here."""
    if options.quick:
        return 2
    pictures = pictures_of(first_images(options.npz, 2 * batch).train)
    images_per_s, _ = _textbook(pictures, device, width, batch, 0)
    return max(3, round(EPOCH_S[device.type] * images_per_s / batch))


def _flop_per_image(width: int, side: int) -> float:
    """Forward and backward of one image, counted by torch; the first layer needs no gradient."""
    model = resnet18(width, 3, NUM_CLASSES)
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, 3, side, side)).sum().backward()
    return float(counter.get_total_flops()) / 2


def _peaks(device: torch.device, *, quick: bool) -> dict[str, float]:
    """The most that products of two square matrices reached, in 1e12 operations per second."""
    side = 256 if quick else MATRIX[device.type]
    return {
        f"{name}_tflop_per_s": _product_tflop_per_s(device, dtype, side)
        for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16))
    }


def _product_tflop_per_s(device: torch.device, dtype: torch.dtype, side: int) -> float:
    left, right = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    times = []
    for _ in range(8):
        started = time.perf_counter()
        left @ right
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return 2e-12 * side**3 / median(times)
