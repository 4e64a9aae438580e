"""Data: how many varied images a second reach the network, and what they cost in CPU time.

The textbook way is torchvision's transforms, one image after the other, in a DataLoader with 0, 2
or 4 worker processes; ours is sweep.training.resident. Both crop, flip and normalise with the
same distribution. One thread each, so that a core-second of the one is one of the other.
"""

import resource
import time
from collections.abc import Callable, Iterator
from functools import partial

import torch

from benchmarks.measure import Measure, interleaved, measure_of
from benchmarks.options import Options
from benchmarks.peers.textbook import Pictures, training_loader
from benchmarks.pictures import first_images, pictures_of
from benchmarks.result import Row, Table
from sweep.training.images import Images
from sweep.training.resident import move_to, normalization_of
from sweep.training.splits import Augmentation

BATCH = 128
TEXTBOOK_IMAGES = 10_000
OUR_IMAGES = 50_000
QUICK_IMAGES = 512
NUM_WORKERS = (0, 2, 4)
OURS = "resident"

Speeds = tuple[float, float]
"""Images per second of wall clock, and per second of CPU time."""


def run(options: Options) -> Iterator[Table]:
    """One table: images per second and per core-second, and ours as a multiple of each peer's."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield Table(title=f"data, batches of {BATCH} on {_device()}", rows=_rows(options))
    finally:
        torch.set_num_threads(before)


def _rows(options: Options) -> list[Row]:
    found = interleaved(_contenders(options), options.num_rounds)
    ours = _per_core(found[OURS])
    return [
        {
            "path": name,
            "images_per_s": measure_of(wall for wall, _ in speeds),
            "images_per_core_s": _per_core(speeds),
            "resident_is_faster": None if name == OURS else ours.over(_per_core(speeds)),
        }
        for name, speeds in found.items()
    ]


def _per_core(speeds: list[Speeds]) -> Measure:
    return measure_of(per_core for _, per_core in speeds)


def _contenders(options: Options) -> dict[str, Callable[[int], Speeds]]:
    num_ours = QUICK_IMAGES if options.quick else OUR_IMAGES
    num_theirs = QUICK_IMAGES if options.quick else TEXTBOOK_IMAGES
    images = first_images(options.npz, num_ours)
    pictures = pictures_of(first_images(options.npz, num_theirs).train)
    contenders: dict[str, Callable[[int], Speeds]] = {
        f"textbook, {num_workers} workers": partial(_textbook, pictures, num_workers)
        for num_workers in NUM_WORKERS
    }
    return contenders | {OURS: _resident(images)}


def _textbook(pictures: Pictures, num_workers: int, number: int) -> Speeds:
    device = _device()
    loader = training_loader(pictures, BATCH, num_workers, pin_memory=device.type == "cuda")
    return _speeds(lambda: sum(len(images.to(device)) for images, _ in loader))


def _resident(images: Images) -> Callable[[int], Speeds]:
    device = _device()
    data = move_to(images, device)
    normalization = normalization_of(data, "dataset", torch.channels_last)
    augmentation = Augmentation(crop=images.train.images.shape[1] // 8, flip=True)
    batches = data.train.batches(BATCH, augmentation, normalization)
    generator = torch.Generator(device).manual_seed(0)

    def measured(number: int) -> Speeds:
        return _speeds(lambda: sum(len(images) for images, _ in batches.epoch(generator)))

    return measured


def _speeds(go_through: Callable[[], int]) -> Speeds:
    started, cpu_before = time.perf_counter(), _cpu_s()
    num_images = go_through()
    if _device().type == "cuda":
        torch.cuda.synchronize()
    return num_images / (time.perf_counter() - started), num_images / (_cpu_s() - cpu_before)


def _cpu_s() -> float:
    """CPU time of this process and of the children that have ended, such as loader workers."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(kind) for kind in kinds]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
