"""Params of a study file that say what cannot be chosen."""

from pathlib import Path

import pytest
from study_texts import LR, OPTIMIZER, SEARCH, SPACE, TRAINING, changed, load_text, problems_of

CASES = {
    "a missing space": (
        SPACE,
        "\n",
        [
            "1: space is missing; it takes params such as lr: {type: float, low: 0.01, "
            "high: 1.0, log: true}: add it",
        ],
    ),
    "an empty space": (
        SPACE,
        "space: {}\n",
        [
            "6: space is empty; add params such as lr: {type: float, low: 0.01, high: 1.0, "
            "log: true}",
        ],
    ),
    "nothing for a space": (
        SPACE,
        "space:\n",
        [
            "6: space is empty; add params such as lr: {type: float, low: 0.01, high: 1.0, "
            "log: true}",
        ],
    ),
    "a bound in quotes": (
        LR,
        '  lr: {type: float, low: "0.01", high: 1.0}\n',
        [
            "8: space.lr.low is the text '0.01'; it takes a number: write it without quotes",
        ],
    ),
    "low above high": (
        LR,
        "  lr: {type: float, low: 1.0, high: 0.1}\n",
        [
            "8: space.lr: low 1.0 is above high 0.1; exchange them",
        ],
    ),
    "low equal to high": (
        LR,
        "  lr: {type: float, low: 0.1, high: 0.1}\n",
        [
            "8: space.lr: low and high are both 0.1; write value: 0.1",
        ],
    ),
    "a log scale from zero": (
        LR,
        "  weight_decay: {type: float, low: 0, high: 0.1, log: true}\n",
        [
            "8: space.weight_decay: log needs a low above 0, not 0.0; raise it or remove log",
        ],
    ),
    "a log scale from below zero": (
        LR,
        "  lr: {type: float, low: -1, high: 1.0, log: true}\n",
        [
            "8: space.lr: log needs a low above 0, not -1.0; raise it or remove log",
        ],
    ),
    "a log scale with steps": (
        LR,
        "  lr: {type: float, low: 0.1, high: 1.0, log: true, step: 0.1}\n",
        [
            "8: space.lr: log and step exclude each other; remove one",
        ],
    ),
    "a step wider than the range": (
        LR,
        "  lr: {type: float, low: 0.1, high: 1.0, step: 1.0}\n",
        [
            "8: space.lr: step 1.0 is wider than 0.1 to 1.0; take a smaller one",
        ],
    ),
    "a step of nothing": (
        LR,
        "  lr: {type: float, low: 0.1, high: 1.0, step: 0}\n",
        [
            "8: space.lr.step is 0; it takes a number above 0",
        ],
    ),
    "a step too small to count": (
        LR,
        "  lr: {type: float, low: 0.1, high: 1.0, step: 1e-300}\n",
        [
            "8: space.lr: step 1e-300 makes over 1000000000 points; take a larger one",
        ],
    ),
    "no for the scale": (
        LR,
        "  lr: {type: float, low: 0.01, high: 1.0, log: no}\n",
        [
            "8: space.lr.log is the text 'no'; it takes true or false: write false",
        ],
    ),
    "a range without a type": (
        LR,
        "  lr: {low: 0.1, high: 1.0}\n",
        [
            "8: space.lr.type is missing; it takes float or int: add it",
        ],
    ),
    "a range without high": (
        LR,
        "  lr: {type: float, low: 0.1}\n",
        [
            "8: space.lr.high is missing; it takes a number: add it",
        ],
    ),
    "another tool's type": (
        LR,
        "  lr: {type: loguniform, low: 0.1, high: 1.0}\n",
        [
            "8: space.lr.type is the text 'loguniform'; it takes float, int or categorical:"
            " did you mean float with log: true?",
        ],
    ),
    "half a batch": (
        LR,
        "  batch_size: {type: int, low: 16.5, high: 64}\n",
        [
            "8: space.batch_size.low is 16.5; it takes a whole number",
        ],
    ),
    "a float for whole numbers": (
        LR,
        "  batch_size: {type: float, low: 16, high: 64}\n",
        [
            "8: space.batch_size.type is float, but it takes whole numbers: write type: int",
        ],
    ),
    "a range of names": (
        OPTIMIZER,
        "  optimizer: {type: int, low: 1, high: 2}\n",
        [
            "7: space.optimizer is a range, but it takes sgd, adam, adamw or rmsprop: write"
            " choices",
        ],
    ),
    "a learning rate of zero": (
        LR,
        "  lr: {type: float, low: 0, high: 1.0}\n",
        [
            "8: space.lr.low is 0.0; it takes a number above 0",
        ],
    ),
    "no choices": (
        OPTIMIZER,
        "  optimizer: {choices: []}\n",
        [
            "7: space.optimizer.choices is an empty list; name at least one choice",
        ],
    ),
    "a categorical without choices": (
        OPTIMIZER,
        "  optimizer: {type: categorical}\n",
        [
            "7: space.optimizer.choices is missing; it takes a list of values: add it",
        ],
    ),
    "a word for choices": (
        OPTIMIZER,
        "  optimizer: {choices: sgd}\n",
        [
            "7: space.optimizer.choices is the text 'sgd', not a list; start each entry with '- '",
        ],
    ),
    "an empty choice": (
        OPTIMIZER,
        "  optimizer: {choices: [sgd, ~]}\n",
        [
            "7: space.optimizer.choices mixes text and empty entries; keep to one sort",
        ],
    ),
    "text with numbers": (
        OPTIMIZER,
        "  optimizer: {choices: [sgd, 1]}\n",
        [
            "7: space.optimizer.choices mixes text and numbers; keep to one sort",
        ],
    ),
    "true with numbers": (
        LR,
        "  deterministic: {choices: [true, 1]}\n",
        [
            "8: space.deterministic.choices mixes true/false and numbers; keep to one sort",
        ],
    ),
    "64 and 64.0": (
        LR,
        "  batch_size: {choices: [64, 64.0]}\n",
        [
            "8: space.batch_size.choices holds 64 and 64.0, which are the same; remove one",
        ],
    ),
    "Adam and adam": (
        OPTIMIZER,
        "  optimizer: {choices: [Adam, adam]}\n",
        [
            "7: space.optimizer.choices holds Adam and adam, which are the same; remove one",
        ],
    ),
    "the same number twice": (
        LR,
        "  lr: {choices: [0.1, 1e-1]}\n",
        [
            "8: space.lr.choices holds 0.1 and 0.1, which are the same; remove one",
        ],
    ),
    "an optimizer with a slip": (
        OPTIMIZER,
        "  optimizer: {choices: [sgd, adma]}\n",
        [
            "7: space.optimizer.choices.1 is the text 'adma'; it takes sgd, adam, adamw or "
            "rmsprop: did you mean adam?",
        ],
    ),
    "an unknown optimizer": (
        OPTIMIZER,
        "  optimizer: {choices: [sgd, lion]}\n",
        [
            "7: space.optimizer.choices.1 is the text 'lion'; it takes sgd, adam, adamw or "
            "rmsprop",
        ],
    ),
    "lists as choices": (
        LR,
        "  milestones: {choices: [[1, 2], [2, 3]]}\n",
        [
            "8: space.milestones.choices.0 is a list; a searched value is single: write it "
            "as text, such as '2,4'",
            "8: space.milestones.choices.1 is a list; a searched value is single: write it "
            "as text, such as '2,4'",
        ],
    ),
    "choices with a bound": (
        LR,
        "  lr: {choices: [0.1, 0.2], low: 0.1}\n",
        [
            "8: space.lr.low does not go with choices; remove one of the two",
        ],
    ),
    "choices with a value": (
        LR,
        "  lr: {choices: [0.1, 0.2], value: 0.1}\n",
        [
            "8: space.lr.choices does not go with value; remove one of the two",
        ],
    ),
    "choices with a type of ranges": (
        LR,
        "  lr: {choices: [0.1, 0.2], type: float}\n",
        [
            "8: space.lr.type is the text 'float'; it takes categorical",
        ],
    ),
    "a list for a param": (
        OPTIMIZER,
        "  optimizer: [sgd, adam]\n",
        [
            "7: space.optimizer is a list; write {choices: [...]}, or alternatives with `when`",
        ],
    ),
    "a number for a param": (
        LR,
        "  lr: 0.1\n",
        [
            "8: space.lr is 0.1; write {value: ...}, or put it under training",
        ],
    ),
    "nothing for a param": (
        LR,
        "  lr: \n",
        [
            "8: space.lr is empty; write {type: float, low: 0.01, high: 1.0, log: true}, "
            "{choices: [...]} or {value: ...}",
        ],
    ),
    "an empty mapping for a param": (
        LR,
        "  lr: {}\n",
        [
            "8: space.lr says nothing of its values; give type, low and high, or choices, "
            "or value",
        ],
    ),
    "a column's name": (
        LR,
        "  value: {choices: [1, 2]}\n",
        [
            "8: space.value is named like a column of the tables; rename it",
        ],
    ),
    "another table's column": (
        LR,
        "  best_trial: {choices: [1, 2]}\n",
        [
            "8: space.best_trial is named like a column of the tables; rename it",
        ],
    ),
    "searched epochs": (
        LR,
        "  epochs: {choices: [3, 6]}\n",
        [
            "8: space.epochs cannot be searched; put epochs under training",
        ],
    ),
    "another tool's param": (
        LR,
        "  learning_rate: {choices: [0.1, 0.2]}\n",
        [
            "8: space.learning_rate is no key of the built-in training; did you mean lr?",
        ],
    ),
    "a param that trains nothing": (
        LR,
        "  dropout: {choices: [0.1, 0.2]}\n",
        [
            "8: space.dropout is no key of the built-in training; known: batch_size, "
            "optimizer, lr, momentum, weight_decay, schedule, milestones, gamma, "
            "warmup_epochs, label_smoothing, clip_grad_norm, accumulate, lr_scaling, "
            "precision, recalibrate_batch_norm, normalize, deterministic, on_oom, gpus_per_trial",
        ],
    ),
    "a key in space and training": (
        TRAINING,
        "training: {epochs: 6, lr: 0.1}\n",
        [
            "8: space.lr is also in training (line 9); remove one of the two",
        ],
    ),
    "space and configurations": (
        SEARCH,
        SEARCH + ("configurations:\n- {lr: 0.1}\n"),
        [
            "11: configurations stand instead of a space, and both are here; remove one",
        ],
    ),
    "no configurations": (
        SPACE,
        "configurations: []\n",
        [
            "6: configurations is an empty list; add at least one",
        ],
    ),
    "a word for a configuration": (
        SPACE,
        "configurations:\n- sgd\n",
        [
            "7: configurations.0 is the text 'sgd'; write params, such as {lr: 0.1}",
        ],
    ),
    "an empty configuration": (
        SPACE,
        "configurations:\n- {}\n",
        [
            "7: configurations.0 gives no params; write some, such as {lr: 0.1}",
        ],
    ),
    "a configuration that lacks a param": (
        SPACE,
        "configurations:\n- {lr: 0.1, optimizer: sgd}\n- {lr: 0.2}\n",
        [
            "8: configurations.1 lacks optimizer; every configuration gives the same "
            "params: add it",
        ],
    ),
    "a configuration with a param more": (
        SPACE,
        "configurations:\n- {lr: 0.1}\n- {lr: 0.2, optimizer: sgd}\n",
        [
            "8: configurations.1.optimizer is not in the first configuration; add it there",
        ],
    ),
    "the same configuration twice": (
        SPACE,
        "configurations:\n- {optimizer: Adam}\n- {optimizer: adam}\n",
        [
            "8: configurations.1 is the same as configurations.0; remove one",
        ],
    ),
    "a value that a configuration may not have": (
        SPACE,
        "configurations:\n- {lr: 0}\n",
        [
            "7: configurations.0.lr is 0; it takes a number above 0",
        ],
    ),
    "epochs in configurations": (
        SPACE,
        "configurations:\n- {epochs: 3}\n- {epochs: 4}\n",
        [
            "7: configurations.0.epochs cannot be searched; put epochs under training",
            "8: configurations.1.epochs cannot be searched; put epochs under training",
        ],
    ),
    "a key in configurations and training": (
        SPACE + TRAINING,
        "configurations:\n- {lr: 0.1}\ntraining: {epochs: 6, lr: 0.1}\n",
        [
            "7: configurations.0.lr is also in training (line 8); remove one of the two",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert problems == expected


@pytest.mark.parametrize(
    ("keys", "points"),
    [
        ("low: 0.8, high: 0.9, step: 0.1", [0.8, 0.9]),
        ("low: 0.1, high: 0.3, step: 0.2", [0.1, 0.3]),
        ("low: 0.7, high: 1.0, step: 0.3", [0.7, 1.0]),
    ],
)
def test_a_step_as_wide_as_its_range_is_two_points(
    tmp_path: Path, keys: str, points: list[float]
) -> None:
    spec = load_text(tmp_path, changed(LR, f"  lr: {{type: float, {keys}}}\n"))
    (lr,) = (param for param in spec.space.params if param.name == "lr")
    assert list(lr.alternatives[0].distribution.values()) == points


def test_a_range_wider_than_a_float_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    text = "train: ./mine.py:train\nobjective: {metric: m, direction: maximize}\n"
    text += "space: {x: {type: float, low: -1e308, high: 1e308}}\n"
    assert problems_of(tmp_path, text) == [
        "3: space.x: from -1e+308 to 1e+308 is more than a float holds; bring them nearer"
    ]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("p" * 64, f"space.'{'p' * 57}...' has 64 characters; a name has at most 60: shorten it"),
        ("1st", "space.1st is no name; it takes letters, digits and _, no digit first: rename it"),
    ],
)
def test_what_is_wrong_with_the_name_of_a_param_is_said(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "mine.py").write_text("")
    text = "train: ./mine.py:train\nobjective: {metric: m, direction: maximize}\n"
    text += f"space:\n  {name}: {{choices: [1, 2]}}\n"
    assert problems_of(tmp_path, text) == [f"4: {problem}"]
