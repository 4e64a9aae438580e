"""The training keys: one table for the checks, the defaults and the documentation."""

import json
from dataclasses import fields

import pytest

from sweep.errors import UsageError
from sweep.spec.training import (
    TRAINING_KINDS,
    TrainingValues,
    resolve_training,
    training_table,
)


def test_every_key_but_epochs_has_a_default() -> None:
    values = resolve_training({"epochs": 6})
    assert values.batch_size == 128
    assert values.optimizer == "sgd"
    assert values.momentum == 0.9
    assert values.weight_decay == 0.0005
    assert values.schedule == "constant"
    assert values.clip_grad_norm is None
    assert values.milestones == ()
    with pytest.raises(UsageError, match="epochs is missing; it takes a whole number"):
        resolve_training({})


@pytest.mark.parametrize(
    ("optimizer", "lr"), [("sgd", 0.1), ("adam", 0.001), ("adamw", 0.001), ("rmsprop", 0.001)]
)
def test_the_learning_rate_left_out_is_the_optimizers_own(optimizer: str, lr: float) -> None:
    assert resolve_training({"epochs": 1, "optimizer": optimizer}).lr == lr
    assert resolve_training({"epochs": 1, "optimizer": optimizer, "lr": 0.5}).lr == 0.5


def test_flat_params_resolve_to_the_same_values_after_json() -> None:
    values = resolve_training({"epochs": 6, "milestones": "2, 4", "clip_grad_norm": 0, "lr": 1})
    assert values.milestones == (2, 4)
    assert values.clip_grad_norm is None
    assert isinstance(values.lr, float)
    assert resolve_training(json.loads(json.dumps(values.as_params()))) == values


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bs": 3}, "unknown training key bs; known: epochs, batch_size, "),
        ({"momentun": 0.9}, "unknown training key momentun; did you mean momentum?"),
        ({"momentum": 1}, "training.momentum is 1; it takes a number of at least 0 and below 1"),
        ({"gamma": 2}, "training.gamma is 2; it takes a number above 0 and at most 1"),
        ({"epochs": True}, "training.epochs is true; it takes a whole number from 1 to 1000000"),
        ({"lr": float("nan")}, "training.lr is nan; it takes a number above 0"),
        (
            {"clip_grad_norm": -1},
            "training.clip_grad_norm is -1; it takes none or a number above 0",
        ),
    ],
)
def test_what_a_key_does_not_take_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_training({"epochs": 6, **given})
    assert str(caught.value).startswith(message)


def test_words_ignore_case() -> None:
    assert resolve_training({"epochs": 1, "optimizer": "AdamW"}).optimizer == "adamw"
    assert resolve_training({"epochs": 1, "clip_grad_norm": "None"}).clip_grad_norm is None


def test_the_documented_table_has_a_row_for_every_key() -> None:
    rows = training_table().splitlines()
    assert rows[0] == "| key | values | default | what it does |"
    keys = [row.split(" | ")[0].removeprefix("| ") for row in rows[2:]]
    assert keys == [key.name for key in fields(TrainingValues)] == list(TRAINING_KINDS)
    assert all(row.count(" | ") == 3 for row in rows[2:])
    lr = "| lr | a number above 0 | 0.1 for sgd, else 0.001 | learning rate, "
    assert rows[5].startswith(lr)
