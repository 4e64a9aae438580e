"""Training for real: resumed is uninterrupted, seeds decide, and every key does its work."""

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from sweep.errors import DataError
from sweep.spec.recipe import DataSpec, ModelSpec
from sweep.spec.training import TrainingValues, resolve_training
from sweep.training.checkpoint import load_checkpoint, save_checkpoint
from sweep.training.dataset import load_dataset
from sweep.training.evaluated import evaluated_weights
from sweep.training.model import build_model
from sweep.training.resident import normalization_of
from sweep.training.train import TrainConfig, train
from tests.small_images import NUM_TRAIN, small_config, write_small_images

CPU = torch.device("cpu")
DEADLINE_S = 60
MEASURED = {"epoch_s", "images_per_s", "peak_memory_bytes"}
"""What depends on the machine's mood."""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_images(tmp_path_factory.mktemp("data") / "images.npz")


def numbers(metrics: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if name not in MEASURED}


def all_numbers(config: TrainConfig, state: Any = None) -> list[dict[str, float]]:
    return [numbers(metrics) for metrics, _ in train(config, "cpu", state)]


@pytest.mark.parametrize("before", ["fp32", "bf16"])
def test_a_training_goes_on_in_a_precision_that_scales_where_the_one_before_did_not(
    images: Path, before: str
) -> None:
    _, state = next(train(small_config(images, precision=before), "cpu"))
    (rest,) = all_numbers(small_config(images, precision="fp16"), state)
    assert math.isfinite(rest["train_loss"])


def last_weights(config: TrainConfig) -> dict[str, torch.Tensor]:
    *_, (_, state) = train(config, "cpu")
    return {name: tensor.clone() for name, tensor in state["model"].items()}


RECIPES: list[dict[str, Any]] = [
    {"optimizer": "sgd", "schedule": "multistep", "milestones": [1, 3]},
    {"optimizer": "adam", "schedule": "one_cycle", "accumulate": 2, "label_smoothing": 0.1},
    {"optimizer": "adamw", "schedule": "cosine", "warmup_epochs": 1, "clip_grad_norm": 0.5},
    {"optimizer": "rmsprop", "schedule": "constant", "precision": "bf16"},
    {"optimizer": "sgd", "precision": "fp16", "recalibrate_batch_norm": False},
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe["optimizer"])
def test_resumed_from_a_checkpoint_is_uninterrupted_to_the_last_digit(
    images: Path, tmp_path: Path, recipe: dict[str, Any]
) -> None:
    config = small_config(images, val_size=16, **{"epochs": 4, "batch_size": 16, **recipe})
    whole = all_numbers(config)
    interrupted = train(config, "cpu")
    next(interrupted)
    metrics, state = next(interrupted)
    saved = save_checkpoint(tmp_path / "two.pt", state, 1, metrics)
    interrupted.close()
    resumed = all_numbers(config, load_checkpoint(saved).state)
    assert whole[2:] == resumed
    assert all(math.isfinite(value) for epoch in whole for value in epoch.values())


def test_a_training_that_is_over_yields_nothing_more(images: Path) -> None:
    config = small_config(images)
    *_, (_, state) = train(config, "cpu")
    assert list(train(config, "cpu", state)) == []


def test_a_trial_in_a_used_process_is_one_in_a_fresh_process(images: Path) -> None:
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from sweep.training.train import train\n"
        "from tests.small_images import small_config\n"
        "config = small_config(Path(sys.argv[1]), seed=3, optimizer='adam')\n"
        "print(json.dumps([metrics for metrics, _ in train(config, 'cpu')]))\n"
    )
    command = [sys.executable, "-c", code, str(images)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=DEADLINE_S)
    fresh = [numbers(metrics) for metrics in json.loads(answer.stdout)]
    all_numbers(small_config(images, seed=8, batch_size=24, epochs=1))
    assert all_numbers(small_config(images, seed=3, optimizer="adam")) == fresh


def test_the_seed_decides_everything(images: Path) -> None:
    first, again = (all_numbers(small_config(images, seed=1)) for _ in range(2))
    assert first == again
    assert all_numbers(small_config(images, seed=2)) != first


def test_two_trainings_taken_in_turns_do_not_disturb_each_other(images: Path) -> None:
    configs = [small_config(images, seed=seed) for seed in (1, 2)]
    alone = [all_numbers(config) for config in configs]
    in_turns = zip(*(train(config, "cpu") for config in configs), strict=True)
    together = [[numbers(metrics) for metrics, _ in pair] for pair in in_turns]
    assert [list(pair) for pair in zip(*together, strict=True)] == alone


def test_the_callers_random_numbers_and_settings_are_left_alone(images: Path) -> None:
    torch.manual_seed(4)
    expected = torch.rand(2)
    torch.manual_seed(4)
    for _ in train(small_config(images, deterministic=True), "cpu"):
        assert not torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.benchmark
        assert torch.is_grad_enabled()
    assert torch.equal(torch.rand(2), expected)


def test_dropout_of_a_users_network_is_drawn_from_the_seed_also_after_resuming(
    images: Path, tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\n"
        "def build(num_classes, in_channels):\n"
        "    return nn.Sequential(nn.Conv2d(in_channels, 8, 3), nn.ReLU(), nn.Dropout(0.5),\n"
        "                         nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(288, num_classes))\n"
    )
    config = replace(
        small_config(images, epochs=3),
        model=ModelSpec(factory=f"{tmp_path / 'net.py'}:build"),
    )
    whole = all_numbers(config)
    _, state = next(train(config, "cpu"))
    assert all_numbers(config, state) == whole[1:]
    assert whole[0] != all_numbers(replace(config, seed=9))[0]


def test_metrics_are_those_that_are_promised(images: Path) -> None:
    metrics, state = next(train(small_config(images, val_size=16), "cpu"))
    judged = {
        f"{split}_{kind}" for split in ("train", "val", "test") for kind in ("loss", "accuracy")
    }
    assert set(metrics) == judged | {"lr"} | MEASURED
    assert all(type(value) in (int, float) for value in metrics.values())
    assert metrics["images_per_s"] > 0
    assert metrics["peak_memory_bytes"] > 2**20
    assert "val_loss" not in next(train(small_config(images), "cpu"))[0]
    assert state["epoch"] == 0


def test_a_colour_is_learnt(images: Path) -> None:
    epochs = all_numbers(small_config(images, epochs=8, schedule="one_cycle"))
    assert epochs[-1]["test_accuracy"] > 0.9
    assert epochs[-1]["train_loss"] < epochs[0]["train_loss"] / 2


def test_digits_are_learnt_in_four_epochs() -> None:
    training = resolve_training(
        {"epochs": 4, "batch_size": 64, "lr": 0.05, "schedule": "one_cycle"}
    )
    config = TrainConfig(
        data=DataSpec(name="digits"), model=ModelSpec(width=16), training=training, seed=0
    )
    assert all_numbers(config)[-1]["test_accuracy"] > 0.9


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_training_that_diverges_yields_that_epoch_with_nan(images: Path, precision: str) -> None:
    # fp16 first looks for a scale that fits, and takes no step meanwhile
    config = small_config(images, lr=1e30, epochs=12, precision=precision, val_size=16)
    *_, metrics = all_numbers(config)
    judged = [value for name, value in metrics.items() if "loss" in name or "accuracy" in name]
    assert len(judged) == 6
    assert all(math.isnan(value) for value in judged)


def test_the_exported_weights_give_the_accuracy_that_was_reported(images: Path) -> None:
    config = small_config(images, epochs=1)
    [(metrics, state)] = train(config, "cpu")
    data = load_dataset(config.data, CPU)
    model = build_model(
        config.model,
        num_classes=data.num_classes,
        in_channels=data.in_channels,
        seed=77,
        device=CPU,
    )
    pixels = normalization_of(data, "dataset", torch.contiguous_format).apply(data.test.pixels)
    losses = []
    for weights in (evaluated_weights(state), state["model"]):
        model.load_state_dict(weights)
        logits = model.eval()(pixels)
        losses.append(F.cross_entropy(logits, data.test.labels).item())
    accuracy = (logits.argmax(1) == data.test.labels).double().mean()
    assert losses[0] == pytest.approx(metrics["test_loss"], rel=1e-5)
    assert losses[1] != pytest.approx(metrics["test_loss"], rel=1e-2)
    assert 0 <= accuracy <= 1


def test_recalibration_makes_the_first_epochs_accuracy_mean_something() -> None:
    values = {"epochs": 1, "batch_size": 256, "lr": 0.1}
    accuracies = []
    for fresh in (False, True):
        training = resolve_training({**values, "recalibrate_batch_norm": fresh})
        config = TrainConfig(
            data=DataSpec(name="digits"), model=ModelSpec(width=8), training=training, seed=0
        )
        accuracies.append(all_numbers(config)[0]["test_accuracy"])
    assert accuracies[1] > accuracies[0] + 0.1


def test_recalibration_leaves_training_and_its_own_statistics_alone(images: Path) -> None:
    lagging, fresh = (
        last_weights(small_config(images, recalibrate_batch_norm=recalibrated))
        for recalibrated in (False, True)
    )
    assert all(torch.equal(lagging[name], fresh[name]) for name in lagging)


def test_a_batch_larger_than_the_data_is_refused_in_one_line(images: Path) -> None:
    with pytest.raises(DataError, match=f"batch_size is 97, but there are only {NUM_TRAIN}"):
        next(train(small_config(images, batch_size=97), "cpu"))


CHANGED: dict[str, tuple[dict[str, Any], Any]] = {
    "batch_size": ({}, 16),
    "optimizer": ({}, "adam"),
    "lr": ({}, 0.01),
    "momentum": ({}, 0.5),
    "weight_decay": ({}, 0.1),
    "schedule": ({}, "cosine"),
    "milestones": ({"schedule": "multistep"}, [1]),
    "gamma": ({"schedule": "multistep", "milestones": [1]}, 0.5),
    "warmup_epochs": ({}, 1),
    "label_smoothing": ({}, 0.2),
    "clip_grad_norm": ({}, 0.01),
    "accumulate": ({}, 2),
    "lr_scaling": ({}, "linear"),
    "precision": ({}, "bf16"),
    "normalize": ({}, "half"),
}
"""For each key what it is tried with, and the value that must lead to other weights."""

TESTED_ALONE = {"epochs", "recalibrate_batch_norm", "deterministic", "on_oom"}


def test_no_training_key_is_left_out_of_the_tests() -> None:
    assert set(CHANGED) | TESTED_ALONE == {each.name for each in fields(TrainingValues)}


@pytest.mark.parametrize("key", CHANGED)
def test_changing_a_training_key_changes_the_training(images: Path, key: str) -> None:
    others, value = CHANGED[key]
    before = last_weights(small_config(images, **others))
    after = last_weights(small_config(images, **{**others, key: value}))
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_epochs_are_as_many_as_asked_for(images: Path) -> None:
    assert len(all_numbers(small_config(images, epochs=3))) == 3


def test_the_lr_reported_is_that_of_the_last_step(images: Path) -> None:
    def lrs(**training: Any) -> list[float]:
        return [each["lr"] for each in all_numbers(small_config(images, lr=0.5, **training))]

    assert lrs(schedule="multistep", milestones=[1], gamma=0.1) == pytest.approx([0.5, 0.05])
    assert lrs(warmup_epochs=2) == pytest.approx([0.25, 0.5])
    assert lrs(lr_scaling="linear", batch_size=64) == pytest.approx([0.125, 0.125])
    # three steps an epoch: the last of the cosine's six is at five sixths of the way
    assert lrs(schedule="cosine")[1] == pytest.approx(0.5 * (1 + math.cos(5 / 6 * math.pi)) / 2)


def test_deterministic_is_asked_of_torch_while_it_trains(images: Path, tmp_path: Path) -> None:
    (tmp_path / "nosy.py").write_text(
        "import torch\n"
        "seen = []\n"
        "class Nosy(torch.nn.Linear):\n"
        "    def forward(self, x):\n"
        "        seen.append(torch.are_deterministic_algorithms_enabled())\n"
        "        return super().forward(x.flatten(1))\n"
        "def build(num_classes, in_channels):\n"
        "    return Nosy(in_channels * 64, num_classes)\n"
    )
    from sweep.training.loading import load_object

    seen = load_object(f"{tmp_path / 'nosy.py'}:build").__globals__["seen"]
    model = ModelSpec(factory=f"{tmp_path / 'nosy.py'}:build")
    for wanted in (True, False):
        seen.clear()
        config = replace(small_config(images, deterministic=wanted), model=model)
        list(train(config, "cpu"))
        assert set(seen) == {wanted}


def test_a_users_network_may_look_at_images_as_rows_of_numbers(
    images: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.py").write_text(
        "from torch import nn\n"
        "class Rows(nn.Module):\n"
        "    def __init__(self, num_classes):\n"
        "        super().__init__()\n"
        "        self.conv = nn.Conv2d(3, 4, 3)\n"
        "        self.fc = nn.Linear(4 * 36, num_classes)\n"
        "    def forward(self, x):\n"
        "        return self.fc(self.conv(x).view(len(x), -1))\n"
    )
    model = ModelSpec(factory=f"{tmp_path / 'rows.py'}:Rows")
    assert len(all_numbers(replace(small_config(images), model=model))) == 2


def test_accumulation_gives_the_whole_batchs_gradient_where_there_is_no_batch_norm(
    images: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain.py").write_text(
        "from torch import nn\n"
        "def build(num_classes, in_channels):\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(in_channels * 64, num_classes))\n"
    )
    model = ModelSpec(factory=f"{tmp_path / 'plain.py'}:build")
    configs = [
        replace(small_config(images, accumulate=parts, epochs=1), model=model) for parts in (1, 5)
    ]
    whole, in_parts = (last_weights(config) for config in configs)
    for name in whole:
        torch.testing.assert_close(whole[name], in_parts[name], rtol=1e-4, atol=1e-6)
    first, second = (all_numbers(config)[0] for config in configs)
    assert first["train_loss"] == pytest.approx(second["train_loss"], rel=1e-5)
    assert first["train_accuracy"] == pytest.approx(second["train_accuracy"])


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_sixteen_bits_learn_as_thirty_two_do(images: Path, precision: str) -> None:
    config = small_config(images, epochs=6, precision=precision, schedule="one_cycle")
    assert all_numbers(config)[-1]["test_accuracy"] > 0.8


def test_the_cpu_calculates_in_fp32_by_itself(images: Path) -> None:
    assert all_numbers(small_config(images)) == all_numbers(small_config(images, precision="fp32"))
