"""Templates: the files that a user starts from, as text; writing them is somebody else's."""

import json
import re

_HEAD = """\
# A study: what is searched, with which training, and for how long. Check it:  sweep check {file}
# Run it:  sweep run --study {file}      Keys behind a # are options: remove the # to use one.
version: 1
study: {name}
# description: One line on what this study is for
"""

_BUILT_IN = """\

# digits (comes with scikit-learn); cifar10, cifar100 or fashion_mnist (downloaded once); or your
# own images: npz with a path (one file: x_train, y_train, x_test, y_test, uint8, N,H,W,C), or
# folder with a path and an image_size (pictures in train/CLASS/ and test/CLASS/).
data:
  name: digits
  # val_size: 200        # training images that are kept apart for validation
  # augment: {crop: 1, flip: false}

model:
  name: resnet18
  width: 16              # channels of the first stage; 64 is the usual ResNet18
  # stem: cifar          # or imagenet, for images of 100 pixels and more

# One of test_accuracy, test_loss, val_accuracy, val_loss (val_ needs data.val_size).
objective: {metric: test_accuracy, direction: maximize}

# What may be chosen: choices, a range (type, low, high; log or step if you like; bounds are
# included), or one value. Any training key but epochs can stand here.
space:
  optimizer: {choices: [sgd, adam]}
  batch_size: {choices: [32, 64, 128]}
  lr:                    # another range for each optimizer
  - {when: {optimizer: [sgd]}, type: float, low: 0.001, high: 1.0, log: true}
  - {when: {optimizer: [adam]}, type: float, low: 0.0001, high: 0.01, log: true}

# What is the same in every trial. A key stands here or in the space, not in both.
training:
  epochs: 6
  schedule: one_cycle    # constant, multistep, cosine, one_cycle
  # weight_decay: 0.0005
  # precision: auto      # auto, fp32, bf16, fp16
"""

_OWN = """\

# The training is a function of your own. It gets what stands in `space` and `training` as one flat
# dict, and yields its metrics once per epoch.
train: {train}

# Any metric that the function yields.
objective: {{metric: test_accuracy, direction: maximize}}

# What may be chosen: choices, a range (type, low, high; log or step if you like; bounds are
# included), or one value. Any name can stand here.
space:
  lr: {{type: float, low: 0.01, high: 10.0, log: true}}
  weight_decay: {{choices: [0.0, 0.001, 0.01]}}

# What is the same in every trial. A key stands here or in the space, not in both.
training:
  epochs: 10
"""

_TAIL = """\

search:
  sampler: tpe           # tpe, gp, random, qmc, or grid (which needs a step in every range)
  seed: 0
  # none, median, percentile, asha, hyperband, threshold or patient:
  pruner: {name: median, startup_trials: 4, min_epochs: 2}
  # startup_trials: 8    # random trials before tpe learns from them

# Points that you want tried first.
enqueue:
- {enqueue}

budget:
  trials: 12             # in all, over every run of this study
  # timeout: 2h
  # price_per_hour: 2.5
  # max_cost: 10

# checkpoints: {every_epochs: 1, keep: best_and_last}
# resources:
#   hang_after: 30m      # how long a trial may be silent; otherwise its epochs tell
#   trials_per_gpu: 1    # or auto: as many as fit
#   gpus_per_trial: 1    # several train one trial together; may also stand in the space
# log: [tensorboard]     # also: mlflow, wandb; into the folder of the run
"""

_FUNCTION = '''\
"""A training function for `sweep`: softmax regression on digits, in NumPy."""

import numpy as np
from sklearn.datasets import load_digits


def train(params, device, state=None):
    """Yields the metrics and the state after each epoch; goes on after `state` if there is one."""
    images, labels = load_digits(return_X_y=True)
    images, truth = images / 16, np.eye(10)[labels]
    weights = np.zeros((64, 10)) if state is None else np.array(state["weights"])
    for epoch in range(0 if state is None else state["epoch"] + 1, params["epochs"]):
        scores = np.exp(images[:1437] @ weights)
        error = scores / scores.sum(1, keepdims=True) - truth[:1437]
        gradient = images[:1437].T @ error / 1437 + params["weight_decay"] * weights
        weights = weights - params["lr"] * gradient
        accuracy = np.mean((images[1437:] @ weights).argmax(1) == labels[1437:])
        state = {"epoch": epoch, "weights": weights.tolist()}
        yield {"test_accuracy": float(accuracy)}, state
'''


def study_template(name: str, file: str) -> str:
    """The text of a study file for the built-in training, with its options as comments.

    `file` is the name that the file will have. The study runs on a CPU in about a minute.
    """
    points = (
        "{optimizer: sgd, batch_size: 64, lr: 0.1}",
        "{optimizer: adam, batch_size: 64, lr: 0.003}",
    )
    return _head(name, file) + _BUILT_IN + _tail(points)


def own_study_template(name: str, file: str, train: str) -> str:
    """The text of a study file whose training is `train`, such as ./mine.py:train."""
    points = ("{lr: 1.0, weight_decay: 0.0}",)
    return _head(name, file) + _OWN.format(train=_quoted(train)) + _tail(points)


def function_template() -> str:
    """The text of a training function that runs with `own_study_template` as it is."""
    return _FUNCTION


def _head(name: str, file: str) -> str:
    return _HEAD.format(name=_quoted(name), file=file)


def _tail(points: tuple[str, ...]) -> str:
    return _TAIL.replace("- {enqueue}", "\n".join(f"- {point}" for point in points))


def _quoted(text: str) -> str:
    """Text as YAML takes it: as it is where that can only be read as text, else in quotes."""
    is_plain = re.fullmatch(r"[A-Za-z_./][A-Za-z0-9_./:-]*", text) and not text.endswith(":")
    is_word = text.casefold() in ("true", "false", "null", "yes", "no", "on", "off")
    return text if is_plain and not is_word else json.dumps(text, ensure_ascii=False)
