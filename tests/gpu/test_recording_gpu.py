"""CUDA graphs and memory on a GPU: what stands in for them on the CPU, here for real."""

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from sweep.spec.training import resolve_training
from sweep.training.cuda_recorder import CudaRecorder
from sweep.training.evaluation import padded
from sweep.training.gradients import EagerGradients
from sweep.training.memory import baseline_memory_bytes, limit_memory
from sweep.training.precision import gradient_scaler
from sweep.training.recorded import RecordedGradients, Recording
from sweep.training.resnet import DEPTHS, ResNet
from sweep.training.step import work_of
from sweep.training.train import TrainConfig, train
from sweep.training.workbench import Workbench
from tests.small_images import small_config, write_small_images

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

GPU = torch.device("cuda:0")
MEASURED = {"epoch_s", "images_per_s", "peak_memory_bytes"}
PRECISIONS = ["fp32", "auto", "fp16"]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_images(tmp_path_factory.mktemp("data") / "images.npz")


@pytest.fixture
def without_tf32() -> Iterator[None]:
    """Convolutions in whole fp32, so that two ways to a sum are near each other."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    yield
    torch.backends.cudnn.allow_tf32 = before


def all_numbers(config: TrainConfig, workbench: Workbench | None = None) -> list[dict[str, float]]:
    return [numbers(metrics) for metrics, _ in train(config, "cuda:0", None, workbench)]


def numbers(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in MEASURED}


def eager() -> Workbench:
    return Workbench(lambda device: None)


def batches(count: int, size: int = 64) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)
    pairs = [
        (
            torch.randn(size, 3, 32, 32, generator=generator),
            torch.randint(10, (size,), generator=generator),
        )
        for _ in range(count)
    ]
    return [
        (images.to(GPU).to(memory_format=torch.channels_last), labels.to(GPU))
        for images, labels in pairs
    ]


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    model = ResNet(DEPTHS["resnet18"], num_classes=10, in_channels=3, width=16, stem="cifar")
    return model.to(GPU).to(memory_format=torch.channels_last)


@pytest.mark.usefixtures("without_tf32")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("parts", [1, 2])
def test_a_graphs_gradients_are_those_of_steps_kernel_by_kernel(
    precision: str, parts: int
) -> None:
    values = {"epochs": 1, "batch_size": 64, "accumulate": parts, "precision": precision}
    work = work_of(resolve_training(values), GPU)
    data = [
        part
        for images, labels in batches(3)
        for part in zip(images.tensor_split(parts), labels.tensor_split(parts), strict=True)
    ]
    one, other = network(), network()
    scaler = gradient_scaler(work.dtype, GPU)
    plain = EagerGradients(one, work, scaler)
    recorded = RecordedGradients(other, work, CudaRecorder(GPU), *data[0])
    recorded.warm_up()
    recorded.record()
    recorded.begin(scaler)
    tolerance = {torch.float32: 1e-4, torch.float16: 1e-2}.get(work.dtype, 3e-2)
    for start in range(0, len(data), parts):
        for gradients in (plain, recorded):
            gradients.clear()
            for part in data[start : start + parts]:
                gradients.add(*part)
        for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
            assert mine.grad is not None
            distance = torch.linalg.vector_norm(mine.grad - theirs.grad)
            assert distance <= tolerance * torch.linalg.vector_norm(mine.grad) + 1e-6
    torch.testing.assert_close(
        plain.take_totals(), recorded.take_totals(), rtol=tolerance, atol=tolerance
    )
    assert all(
        torch.allclose(mine, theirs, rtol=tolerance, atol=tolerance)
        for mine, theirs in zip(one.buffers(), other.buffers(), strict=True)
    )


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop"])
def test_trainings_are_recorded_without_a_warning_and_learn(
    images: Path, caplog: pytest.LogCaptureFixture, precision: str, optimizer: str
) -> None:
    lr = 0.05 if optimizer == "sgd" else 0.003
    workbench = Workbench()
    with caplog.at_level(logging.WARNING):
        for seed in (0, 1):
            config = small_config(
                images,
                seed=seed,
                epochs=8,
                precision=precision,
                optimizer=optimizer,
                lr=lr,
                schedule="one_cycle",
                clip_grad_norm=5.0,
            )
            assert all_numbers(config, workbench)[-1]["test_accuracy"] > 0.8
    assert caplog.records == []


@pytest.mark.usefixtures("without_tf32")
def test_one_step_by_a_graph_is_one_step_kernel_by_kernel(images: Path) -> None:
    config = small_config(images, epochs=1, batch_size=96, precision="fp32", deterministic=True)
    [recorded], [plain] = all_numbers(config), all_numbers(config, eager())
    assert recorded["train_loss"] == pytest.approx(plain["train_loss"], rel=1e-4)
    assert recorded["test_loss"] == pytest.approx(plain["test_loss"], rel=1e-3)


def test_work_that_cannot_be_recorded_leaves_everything_as_it_was(
    images: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Impatient(CudaRecorder):
        def record(self, work: Callable[[], None]) -> Recording:
            def waiting() -> None:
                work()
                torch.cuda.synchronize()

            return super().record(waiting)

    usual = torch.cuda.current_stream()
    config = small_config(images, deterministic=True)
    with caplog.at_level(logging.WARNING):
        recorded = all_numbers(config, Workbench(Impatient))
    assert "steps are launched kernel by kernel" in caplog.text
    assert torch.cuda.current_stream() == usual
    assert recorded == all_numbers(config, eager())


def test_two_trainings_in_one_process_are_two_in_fresh_ones(images: Path) -> None:
    workbench = Workbench()
    for seed, batch_size in ((1, 32), (2, 32), (3, 16), (1, 32)):
        config = small_config(images, seed=seed, batch_size=batch_size, deterministic=True)
        assert all_numbers(config, workbench) == all_numbers(config)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_an_epoch_waits_for_the_gpu_as_often_with_many_steps_as_with_few(
    images: Path, precision: str
) -> None:
    def waits(batch_size: int) -> int:
        config = small_config(
            images, batch_size=batch_size, precision=precision, clip_grad_norm=1.0
        )
        epochs = train(config, "cuda:0")
        next(epochs)  # with the recording
        torch.cuda.set_sync_debug_mode("warn")
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                next(epochs)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        return sum("synchroniz" in str(each.message) for each in caught)

    assert waits(4) == waits(48)


def test_the_peak_is_that_of_the_eager_steps_though_a_replay_allocates_nothing(
    images: Path,
) -> None:
    def peaks(workbench: Workbench, optimizer: str) -> list[float]:
        config = small_config(
            images, epochs=3, batch_size=96, optimizer=optimizer, deterministic=True
        )
        return [
            metrics["peak_memory_bytes"] for metrics, _ in train(config, "cuda:0", None, workbench)
        ]

    kept = Workbench()
    for optimizer in ("sgd", "adam"):
        recorded, plain = peaks(kept, optimizer), peaks(eager(), optimizer)
        assert len(set(recorded)) == 1
        assert recorded[-1] == pytest.approx(plain[-1], rel=0.25)


def test_memory_is_back_at_its_baseline_after_every_training(images: Path) -> None:
    workbench = Workbench()
    config = small_config(images, batch_size=32)
    all_numbers(config, workbench)
    baseline = baseline_memory_bytes("cuda:0")
    for seed in range(5):
        all_numbers(small_config(images, seed=seed, batch_size=32, optimizer="adam"), workbench)
        stopped = train(small_config(images, seed=seed), "cuda:0", None, workbench)
        next(stopped)
        stopped.close()
        assert baseline_memory_bytes("cuda:0") == baseline
    all_numbers(small_config(images, batch_size=16), workbench)
    workbench.clear()
    held = baseline_memory_bytes("cuda:0")
    assert held is not None
    assert baseline is not None
    assert held < baseline


def test_evaluation_sees_one_shape_only(images: Path) -> None:
    chunks = [(torch.ones(count, 3, 8, 8, device=GPU), torch.ones(count)) for count in (5, 4)]
    assert {tuple(each.shape) for each, _ in padded(chunks)} == {(5, 3, 8, 8)}


def test_memory_runs_out_beyond_the_limit_and_only_there() -> None:
    _, total = torch.cuda.mem_get_info(GPU)
    try:
        limit_memory("cuda:0", 2**30)
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(2 * 2**30, dtype=torch.uint8, device=GPU)
        torch.empty(2**28, dtype=torch.uint8, device=GPU)
    finally:
        limit_memory("cuda:0", total)


def test_a_batch_that_does_not_fit_goes_through_in_parts(tmp_path: Path) -> None:
    from sweep.fleet.devices import visible_gpus
    from sweep.fleet.local import LocalFleet
    from sweep.fleet.slots import Slot
    from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
    from sweep.wire import Finished
    from tests.worker_talk import Talk

    slot = Slot(index=0, device=visible_gpus()[0], num_threads=1, memory_limit_bytes=400 * 2**20)
    recipe = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=64))
    training: dict[str, Any] = {"epochs": 2, "batch_size": 1400, "precision": "fp32"}
    with LocalFleet((slot,), recipe.model_dump_json()) as fleet:
        told = Talk(fleet, tmp_path).trial(0, training)
    assert told.end == Finished(trial=0, attempt=1, stopped=False)
    assert {report.micro_batch for report in told.reports} < {700, 350, 175, 88, 44, 22}
