"""Training on a GPU: the same promises as on the CPU, as far as a GPU can keep them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from sweep.spec.recipe import DataSpec
from sweep.training.checkpoint import load_checkpoint, save_checkpoint
from sweep.training.dataset import load_dataset
from sweep.training.device import check_device
from sweep.training.faults import is_out_of_memory
from sweep.training.precision import dtype_of
from sweep.training.train import TrainConfig, train
from tests.small_images import small_config, write_small_images

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

GPU = "cuda:0"
MEASURED = {"epoch_s", "images_per_s", "peak_memory_bytes"}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_images(tmp_path_factory.mktemp("data") / "images.npz")


def all_metrics(config: TrainConfig, state: Any = None) -> list[dict[str, float]]:
    return [dict(metrics) for metrics, _ in train(config, GPU, state)]


def numbers(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in MEASURED}


def test_the_device_answers_with_its_name() -> None:
    assert check_device(GPU) == torch.cuda.get_device_name(0)


@pytest.mark.parametrize("precision", ["auto", "fp32", "fp16"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "rmsprop"])
def test_every_precision_and_optimizer_learns(
    images: Path, precision: str, optimizer: str
) -> None:
    lr = 0.05 if optimizer == "sgd" else 0.003
    config = small_config(
        images, epochs=8, precision=precision, optimizer=optimizer, lr=lr, schedule="one_cycle"
    )
    assert all_metrics(config)[-1]["test_accuracy"] > 0.8


def test_auto_is_bf16_only_where_the_chip_has_it() -> None:
    has_bf16 = torch.cuda.get_device_capability(0) >= (8, 0)
    expected = torch.bfloat16 if has_bf16 else torch.float16
    assert dtype_of("auto", torch.device(GPU)) == expected


def test_deterministic_training_repeats_itself_and_resumes_to_the_last_digit(
    images: Path, tmp_path: Path
) -> None:
    config = small_config(images, epochs=4, deterministic=True, clip_grad_norm=1.0)
    whole = [numbers(metrics) for metrics in all_metrics(config)]
    epochs = train(config, GPU)
    next(epochs)
    metrics, state = next(epochs)
    saved = save_checkpoint(tmp_path / "two.pt", state, 1, metrics)
    epochs.close()
    resumed = all_metrics(config, load_checkpoint(saved).state)
    assert [numbers(metrics) for metrics in resumed] == whole[2:]


def test_first_weights_do_not_depend_on_the_device(images: Path) -> None:
    config = small_config(images, epochs=1, lr=1e-12, precision="fp32", momentum=0.0)
    [on_gpu] = all_metrics(config)
    [(on_cpu, _)] = train(config, "cpu")
    assert on_gpu["test_loss"] == pytest.approx(on_cpu["test_loss"], rel=1e-2)


def test_larger_batches_take_more_memory_and_the_data_set_stays_resident(images: Path) -> None:
    peaks = [
        all_metrics(small_config(images, epochs=2, batch_size=size))[-1]["peak_memory_bytes"]
        for size in (8, 96)
    ]
    assert peaks[0] < peaks[1]
    data = load_dataset(DataSpec(name="npz", path=str(images)), torch.device(GPU))
    assert data.train.pixels.is_cuda


def test_the_callers_random_numbers_are_left_alone(images: Path) -> None:
    torch.cuda.manual_seed(4)
    expected = torch.rand(2, device=GPU)
    torch.cuda.manual_seed(4)
    all_metrics(small_config(images))
    assert torch.equal(torch.rand(2, device=GPU), expected)


def test_running_out_of_memory_is_told_from_other_faults() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50, dtype=torch.uint8, device=GPU)
    assert is_out_of_memory(caught.value)
