"""Parts of a study file that are right each, and wrong together."""

from pathlib import Path

import pytest
from study_texts import DATA, LR, MODEL, OBJECTIVE, SEARCH, SPACE, TRAINING, changed, problems_of

CASES = {
    "a batch larger than the data": (
        LR,
        "  batch_size: {choices: [64, 2048]}\n",
        [
            "8: space.batch_size 2048 is larger than the data: 1437 images to train on; "
            "take fewer",
        ],
    ),
    "a fixed batch larger than the data": (
        TRAINING,
        "training: {epochs: 6, batch_size: 1438}\n",
        [
            "9: training.batch_size 1438 is larger than the data: 1437 images to train on; "
            "take fewer",
        ],
    ),
    "a batch larger than what validation leaves": (
        DATA,
        "data: {name: digits, val_size: 1400}\n",
        [
            "9: the default batch_size 128 is larger than the data: 37 images to train on; "
            "take fewer",
        ],
    ),
    "a batch range that ends above the data": (
        LR,
        "  batch_size: {type: int, low: 64, high: 4096}\n",
        [
            "8: space.batch_size 4096 is larger than the data: 1437 images to train on; "
            "take fewer",
        ],
    ),
    "a batch of one alternative": (
        LR,
        "  batch_size:\n"
        "  - {when: {optimizer: [sgd]}, value: 64}\n"
        "  - {when: {optimizer: [adam]}, value: 2000}\n",
        [
            "10: space.batch_size.1 2000 is larger than the data: 1437 images to train on; "
            "take fewer",
        ],
    ),
    "a grid over a range": (
        SEARCH,
        "search: {sampler: grid}\n",
        [
            "8: space.lr is a range without step, which a grid cannot list; add step, or "
            "write choices",
        ],
    ),
    "a grid over one range of two": (
        LR + TRAINING + SEARCH,
        "  lr:\n"
        "  - {when: {optimizer: [sgd]}, type: float, low: 0.1, high: 1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.1}\n"
        "training: {epochs: 6}\n"
        "search: {sampler: grid}\n",
        [
            "9: space.lr.0 is a range without step, which a grid cannot list; add step, or "
            "write choices",
        ],
    ),
    "a sampler for configurations": (
        SPACE + TRAINING + SEARCH,
        "configurations:\n- {lr: 0.1}\ntraining: {epochs: 6}\nsearch: {sampler: random}\n",
        [
            "9: search.sampler random does not go with configurations; they are tried in "
            "order: remove it",
        ],
    ),
    "a pruner that waits for the last epoch": (
        SEARCH,
        "search: {pruner: {name: median, min_epochs: 6}}\n",
        [
            "10: the pruner can never act: min_epochs 6 of 6 epochs; lower it, or use pruner none",
        ],
    ),
    "a rung beyond the last epoch": (
        SEARCH,
        "search: {pruner: {name: asha, min_epochs: 7}}\n",
        [
            "10: the pruner can never act: min_epochs 7 of 6 epochs; lower it, or use pruner none",
        ],
    ),
    "a pruner of one epoch": (
        TRAINING + SEARCH,
        "training: {epochs: 1}\nsearch: {pruner: median}\n",
        [
            "10: the pruner can never act: min_epochs 1 of 1 epochs; lower it, or use pruner none",
        ],
    ),
    "a pruner that waits for all trials": (
        SEARCH,
        "search: {pruner: {name: median, startup_trials: 20}}\nbudget: {trials: 20}\n",
        [
            "10: the pruner can never act: startup_trials 20 of 20 trials; lower it, or use"
            " pruner none",
        ],
    ),
    "a pruner that waits for more than the points": (
        LR + TRAINING + SEARCH,
        "  lr: {choices: [0.1, 0.2]}\n"
        "training: {epochs: 6}\n"
        "search: {pruner: {name: percentile, startup_trials: 4}}\n",
        [
            "10: the pruner can never act: startup_trials 4 of 4 trials; lower it, or use "
            "pruner none",
        ],
    ),
    "a metric by another name": (
        OBJECTIVE,
        "objective: {metric: accuracy, direction: maximize}\n",
        [
            "5: objective.metric is 'accuracy', which the built-in training does not "
            "measure; did you mean test_accuracy?",
        ],
    ),
    "a metric that is not measured": (
        OBJECTIVE,
        "objective: {metric: f1, direction: maximize}\n",
        [
            "5: objective.metric is 'f1', which the built-in training does not measure; "
            "known: test_accuracy, test_loss, val_accuracy, val_loss, train_accuracy, "
            "train_loss",
        ],
    ),
    "validation without images for it": (
        OBJECTIVE,
        "objective: {metric: val_accuracy, direction: maximize}\n",
        [
            "5: objective.metric val_accuracy needs validation images; add data.val_size",
        ],
    ),
    "validation on none of the images": (
        f"{DATA}{MODEL}{OBJECTIVE}",
        "data: {name: digits, val_size: 0}\nobjective: {metric: val_loss, direction: minimize}\n",
        [
            "4: objective.metric val_loss needs validation images; raise data.val_size",
        ],
    ),
    "milestones beyond the last epoch": (
        TRAINING,
        "training: {epochs: 6, schedule: multistep, milestones: [3, 6]}\n",
        [
            "9: training.milestones reach epoch 6, but the last of 6 is epoch 5; take "
            "earlier ones",
        ],
    ),
    "searched milestones beyond the last epoch": (
        LR + TRAINING,
        "  milestones: {choices: ['2,4', '4,8']}\ntraining: {epochs: 6, schedule: multistep}\n",
        [
            "8: space.milestones reach epoch 8, but the last of 6 is epoch 5; take earlier ones",
        ],
    ),
    "multistep without milestones": (
        TRAINING,
        "training: {epochs: 6, schedule: multistep}\n",
        [
            "9: training.schedule multistep needs milestones; add training.milestones",
        ],
    ),
    "warm-up until the end": (
        TRAINING,
        "training: {epochs: 6, warmup_epochs: 6}\n",
        [
            "9: training.warmup_epochs 6 leaves nothing of 6 epochs; take fewer",
        ],
    ),
    "searched warm-up until the end": (
        LR,
        "  warmup_epochs: {type: int, low: 0, high: 6}\n",
        [
            "8: space.warmup_epochs 6 leaves nothing of 6 epochs; take fewer",
        ],
    ),
    "a point outside the space": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: sgd, lr: 2.0}\n"),
        [
            "12: enqueue.0: lr is 2.0, outside the space; it is float from 0.01 to 1.0, log scale",
        ],
    ),
    "a point with an unknown choice": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: lion, lr: 0.1}\n"),
        [
            "12: enqueue.0: optimizer is lion, outside the space; it is one of sgd, adam",
        ],
    ),
    "half a point": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: sgd}\n"),
        [
            "12: enqueue.0: lr is missing; it is float from 0.01 to 1.0, log scale",
        ],
    ),
    "a point with an unknown param": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: sgd, lr: 0.1, optimiser: adam}\n"),
        [
            "12: enqueue.0: unknown param optimiser; did you mean optimizer?",
        ],
    ),
    "a point with a fixed key": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: sgd, lr: 0.1, epochs: 6}\n"),
        [
            "12: enqueue.0: epochs is fixed in training; remove it",
        ],
    ),
    "the same point twice": (
        SEARCH,
        SEARCH + ("enqueue:\n- {optimizer: sgd, lr: 0.1}\n- {lr: 1e-1, optimizer: SGD}\n"),
        [
            "13: enqueue.1 is the same point as enqueue.0; remove one",
        ],
    ),
    "a word for a point": (
        SEARCH,
        SEARCH + ("enqueue:\n- sgd\n"),
        [
            "12: enqueue.0 is the text 'sgd'; write params, such as {lr: 0.1}",
        ],
    ),
    "a point instead of a list": (
        SEARCH,
        SEARCH + "enqueue: {optimizer: sgd, lr: 0.1}\n",
        [
            "11: enqueue is a mapping, not a list; start each entry with '- '",
        ],
    ),
    "a point that is no configuration": (
        SPACE + TRAINING + SEARCH,
        "configurations:\n- {lr: 0.1}\ntraining: {epochs: 6}\nenqueue:\n- {lr: 0.2}\n",
        [
            "10: enqueue.0: no configuration has these params; give those of exactly one",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert problems == expected
