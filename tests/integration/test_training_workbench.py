"""The workbench: what is kept from one training to the next makes no difference to any of them."""

import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from sweep.errors import DataError
from sweep.spec.recipe import ModelSpec
from sweep.training.train import TrainConfig, train
from sweep.training.workbench import Workbench
from tests.recorders import CarelessRecorder, PlainRecorder, StubbornRecorder
from tests.small_images import small_config, write_small_images

MEASURED = {"epoch_s", "images_per_s", "peak_memory_bytes"}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_images(tmp_path_factory.mktemp("data") / "images.npz")


def numbers(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in MEASURED}


def trained(
    config: TrainConfig, workbench: Workbench | None = None, state: Any = None
) -> list[tuple[dict[str, float], dict[str, torch.Tensor]]]:
    """Each epoch's numbers and weights."""
    return [
        (numbers(metrics), {name: each.clone() for name, each in state["model"].items()})
        for metrics, state in train(config, "cpu", state, workbench)
    ]


def weights_of(config: TrainConfig, workbench: Workbench | None = None) -> list[torch.Tensor]:
    *_, (_, state) = train(config, "cpu", None, workbench)
    return list(state["model"].values())


def assert_same(one: list[Any], other: list[Any]) -> None:
    assert [numbers for numbers, _ in one] == [numbers for numbers, _ in other]
    for (_, weights), (_, others) in zip(one, other, strict=True):
        assert all(torch.equal(weights[name], others[name]) for name in weights)


def recording(recorder: PlainRecorder) -> Workbench:
    return Workbench(lambda device: recorder)


RECIPES: list[dict[str, Any]] = [
    {"optimizer": "sgd", "seed": 1},
    {"optimizer": "adam", "seed": 2, "batch_size": 24, "accumulate": 3},
    {"optimizer": "rmsprop", "seed": 3, "precision": "bf16", "clip_grad_norm": 0.5},
    {"optimizer": "sgd", "seed": 1, "precision": "fp16", "label_smoothing": 0.1},
]


def test_trainings_one_after_the_other_are_those_of_fresh_processes_to_the_bit(
    images: Path,
) -> None:
    workbench = Workbench()
    for recipe in (*RECIPES, *reversed(RECIPES)):
        config = small_config(images, **recipe)
        assert_same(trained(config, workbench), trained(config))


def test_a_training_after_one_that_was_stopped_is_that_of_a_fresh_process(images: Path) -> None:
    workbench = Workbench()
    stopped = train(small_config(images, lr=1.0, epochs=9), "cpu", None, workbench)
    next(stopped)
    stopped.close()
    config = small_config(images, seed=5, optimizer="adamw")
    assert_same(trained(config, workbench), trained(config))


def test_a_training_after_one_that_diverged_is_that_of_a_fresh_process(images: Path) -> None:
    workbench = Workbench()
    *_, (metrics, _) = trained(small_config(images, lr=1e30, epochs=4), workbench)
    assert math.isnan(metrics["test_loss"])
    config = small_config(images)
    assert_same(trained(config, workbench), trained(config))


def test_a_training_after_one_that_failed_starts_on_an_empty_workbench(images: Path) -> None:
    workbench = Workbench()
    before = weights_of(small_config(images), workbench)
    with pytest.raises(DataError):
        trained(small_config(images, batch_size=97), workbench)
    config = small_config(images)
    assert_same(trained(config, workbench), trained(config))
    after = weights_of(config, workbench)
    assert not {each.data_ptr() for each in before} & {each.data_ptr() for each in after}


def test_the_model_stays_where_it_is_in_memory(images: Path) -> None:
    workbench = Workbench()
    first = weights_of(small_config(images, seed=1), workbench)
    second = weights_of(small_config(images, seed=2, batch_size=16), workbench)
    assert [each.data_ptr() for each in first] == [each.data_ptr() for each in second]


def test_another_model_takes_the_place_of_the_one_that_was_there(images: Path) -> None:
    workbench = Workbench()
    trained(small_config(images), workbench)
    config = replace(small_config(images), model=ModelSpec(width=6))
    assert_same(trained(config, workbench), trained(config))


def test_a_users_network_is_made_anew_for_each_training(images: Path, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(
        "from torch import nn\n"
        "class Counting(nn.Module):\n"
        "    def __init__(self, num_classes):\n"
        "        super().__init__()\n"
        "        self.fc, self.calls = nn.Linear(192, num_classes), 0\n"
        "    def forward(self, x):\n"
        "        self.calls += 1\n"
        "        return self.fc(x.flatten(1)) / self.calls\n"
    )
    config = replace(
        small_config(images), model=ModelSpec(factory=f"{tmp_path / 'counting.py'}:Counting")
    )
    recorder = PlainRecorder()
    workbench = recording(recorder)
    assert_same(trained(config, workbench), trained(config))
    assert_same(trained(config, workbench), trained(config))
    assert recorder.recordings == []


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_recorded_steps_come_to_the_same_as_steps_kernel_by_kernel(
    images: Path, caplog: pytest.LogCaptureFixture, recipe: dict[str, Any]
) -> None:
    config = small_config(images, **recipe)
    recorder = PlainRecorder()
    recorded, eager = trained(config, recording(recorder)), trained(config)
    assert recorder.num_live == 1
    assert caplog.records == []
    for (metrics, weights), (others, other_weights) in zip(recorded, eager, strict=True):
        # the losses of an epoch are added up one after the other, not in pairs
        assert metrics.pop("train_loss") == pytest.approx(others.pop("train_loss"), rel=1e-12)
        assert metrics == others
        assert all(torch.equal(weights[name], other_weights[name]) for name in weights)


def test_a_recording_serves_every_training_of_its_batch_size_and_precision(
    images: Path,
) -> None:
    recorder = PlainRecorder()
    workbench = recording(recorder)
    for optimizer, lr in (("sgd", 0.05), ("adam", 0.003), ("rmsprop", 0.001), ("sgd", 0.05)):
        config = small_config(images, optimizer=optimizer, lr=lr)
        once = trained(config, recording(PlainRecorder()))
        assert_same(trained(config, workbench), once)
    assert len(recorder.recordings) == 1
    assert recorder.num_warm_ups == 3


@pytest.mark.parametrize(
    "change",
    [
        {"batch_size": 16},
        {"accumulate": 2},
        {"precision": "bf16"},
        {"label_smoothing": 0.1},
        {"deterministic": True},
    ],
    ids=str,
)
def test_another_course_of_a_batch_is_recorded_anew_and_the_old_recording_is_given_back(
    images: Path, change: dict[str, Any]
) -> None:
    recorder = PlainRecorder()
    workbench = recording(recorder)
    trained(small_config(images), workbench)
    config = small_config(images, **change)
    assert_same(trained(config, workbench), trained(config, recording(PlainRecorder())))
    assert [each.is_reset for each in recorder.recordings] == [True, False]


def test_the_recording_is_given_back_when_a_training_fails(images: Path) -> None:
    recorder = PlainRecorder()
    workbench = recording(recorder)
    trained(small_config(images), workbench)
    with suppress(DataError):
        trained(small_config(images, batch_size=97), workbench)
    assert recorder.num_live == 0


@pytest.mark.parametrize("kind", [StubbornRecorder, CarelessRecorder])
def test_where_recording_fails_or_is_wrong_steps_go_kernel_by_kernel_and_the_log_says_so(
    images: Path, caplog: pytest.LogCaptureFixture, kind: type[PlainRecorder]
) -> None:
    recorder = kind()
    workbench = recording(recorder)
    config = small_config(images, optimizer="adam")
    with caplog.at_level(logging.WARNING):
        assert_same(trained(config, workbench), trained(config))
        assert_same(trained(config, workbench), trained(config))
    reasons = {StubbornRecorder: "not permitted", CarelessRecorder: "a replay is off by"}
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith("steps are launched kernel by kernel, slower than recorded: ")
    assert reasons[kind] in message
    assert "\n" not in message
    assert len(recorder.recordings) == 1
    assert recorder.num_live == 0


def test_what_cannot_be_compared_is_not_trusted(
    images: Path, caplog: pytest.LogCaptureFixture
) -> None:
    *_, (_, state) = train(small_config(images), "cpu")
    state = {**state, "epoch": 0, "model": {**state["model"]}}
    state["model"]["fc.bias"] = torch.full_like(state["model"]["fc.bias"], math.nan)
    recorder = PlainRecorder()
    [(metrics, _)] = trained(small_config(images), recording(recorder), state)
    assert math.isnan(metrics["train_loss"])
    assert "a replay is off by nan" in caplog.text
    assert recorder.num_live == 0


def test_parts_of_different_sizes_are_not_recorded(images: Path) -> None:
    recorder = PlainRecorder()
    config = small_config(images, batch_size=32, accumulate=3)
    assert_same(trained(config, recording(recorder)), trained(config))
    assert recorder.recordings == []


def test_memory_that_runs_out_while_a_recording_warms_up_is_no_reason_to_go_without(
    images: Path,
) -> None:
    class Full(PlainRecorder):
        def warm_up(self, work: Any) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        trained(small_config(images), recording(Full()))


def test_the_peak_holds_what_a_recording_works_in_also_when_it_is_only_replayed(
    images: Path,
) -> None:
    # a replay on a GPU allocates nothing; here nothing is allocated after the third warm-up
    class Hungry(PlainRecorder):
        def warm_up(self, work: Any) -> None:
            super().warm_up(work)
            if self.num_warm_ups == 3:
                torch.ones(300 * 2**20, dtype=torch.uint8)

    workbench = recording(Hungry())
    peaks = [
        [metrics["peak_memory_bytes"] for metrics, _ in train(config, "cpu", None, workbench)]
        for config in (small_config(images), small_config(images, optimizer="adam"))
    ]
    [(plain, _), _] = train(small_config(images), "cpu")
    for peak in (peak for training in peaks for peak in training):
        assert peak > plain["peak_memory_bytes"] + 200 * 2**20
