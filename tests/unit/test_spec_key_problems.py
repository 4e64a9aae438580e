"""Keys and values of a study file that no section takes."""

from pathlib import Path

import pytest
from study_texts import LR, OBJECTIVE, OPTIMIZER, SEARCH, TRAINING, changed, problems_of

CASES = {
    "another tool's learning_rate": (
        TRAINING,
        "training: {epochs: 6, learning_rate: 0.1}\n",
        [
            "9: unknown key learning_rate in training; did you mean lr?",
        ],
    ),
    "another tool's bs": (
        TRAINING,
        "training: {epochs: 6, bs: 32}\n",
        [
            "9: unknown key bs in training; did you mean batch_size?",
        ],
    ),
    "another tool's amp": (
        TRAINING,
        "training: {epochs: 6, amp: true}\n",
        [
            "9: unknown key amp in training; did you mean precision?",
        ],
    ),
    "another tool's n_trials": (
        SEARCH,
        SEARCH + "budget: {n_trials: 3}\n",
        [
            "11: unknown key n_trials in budget; did you mean trials?",
        ],
    ),
    "another tool's goal": (
        OBJECTIVE,
        "objective: {metric: test_accuracy, goal: maximize}\n",
        [
            "5: unknown key goal in objective; did you mean direction?",
        ],
    ),
    "another tool's min and max": (
        LR,
        "  lr: {type: float, min: 0.01, max: 1.0}\n",
        [
            "8: unknown key min in space.lr; did you mean low?",
            "8: unknown key max in space.lr; did you mean high?",
        ],
    ),
    "another tool's values": (
        OPTIMIZER,
        "  optimizer: {values: [sgd, adam]}\n",
        [
            "7: unknown key values in space.optimizer; did you mean choices?",
        ],
    ),
    "another tool's parameters": (
        "space:",
        "parameters:",
        [
            "6: unknown key parameters; did you mean space?",
        ],
    ),
    "another tool's method": (
        SEARCH,
        SEARCH + "method: bayes\n",
        [
            "11: unknown key method; did you mean search.sampler?",
        ],
    ),
    "another tool's metric": (
        SEARCH,
        SEARCH + "metric: {name: x}\n",
        [
            "11: unknown key metric; did you mean objective.metric?",
        ],
    ),
    "a typing slip": (
        TRAINING,
        "training: {epochs: 6, momentun: 0.9}\n",
        [
            "9: unknown key momentun in training; did you mean momentum?",
        ],
    ),
    "a key like no other": (
        SEARCH,
        "search: {quux: 1}\n",
        [
            "10: unknown key quux in search; known: sampler, seed, startup_trials, pruner",
        ],
    ),
    "a key of another section": (
        SEARCH,
        SEARCH + "epochs: 3\n",
        [
            "11: unknown key epochs; did you mean training.epochs?",
        ],
    ),
    "a section of later releases": (
        SEARCH,
        SEARCH + "machines: {hosts: 2}\n",
        [
            "11: unknown key machines; known: version, study, description, train, data, "
            "model, objective, space, configurations, training, search, enqueue, budget, "
            "checkpoints, resources, log",
        ],
    ),
    "a time without its unit": (
        SEARCH,
        SEARCH + "resources: {hang_after: 600}\n",
        [
            "11: resources.hang_after is 600; it takes a time with a unit, such as 90s, 30m, "
            "2h or 1h30m: add the unit",
        ],
    ),
    "two problems in the order of their lines": (
        OPTIMIZER,
        "  optimizer: {choices: [sgd, adma]}\n  bs: {choices: [1, 2]}\n",
        [
            "7: space.optimizer.choices.1 is the text 'adma'; it takes sgd, adam, adamw or "
            "rmsprop: did you mean adam?",
            "8: space.bs is no key of the built-in training; did you mean batch_size?",
        ],
    ),
    "another version": (
        "version: 1",
        "version: 2",
        [
            "1: version is 2; this release reads version 1: write version: 1",
        ],
    ),
    "a version in quotes": (
        "version: 1",
        "version: '1'",
        [
            "1: version is the text '1'; this release reads version 1: write version: 1",
        ],
    ),
    "a version with a point": (
        "version: 1",
        "version: 1.0",
        [
            "1: version is 1.0; this release reads version 1: write version: 1",
        ],
    ),
    "a number as a name": (
        "study: s",
        "study: 12",
        [
            "2: study is 12, not text; put it in quotes",
        ],
    ),
    "a name with a slash": (
        "study: s",
        "study: a/b",
        [
            "2: study is the text 'a/b'; it takes 1 to 200 printable characters without / and \\, "
            "no blanks at the ends, and not . or .. alone",
        ],
    ),
    "a name of dots": (
        "study: s",
        "study: ..",
        [
            "2: study is the text '..'; it takes 1 to 200 printable characters without / and \\, "
            "no blanks at the ends, and not . or .. alone",
        ],
    ),
    "a name that is too long": (
        "study: s",
        f"study: {'x' * 201}",
        [
            "2: study is the text "
            "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'; it takes text "
            "of 1 to 200 printable characters",
        ],
    ),
    "a whole number beyond what a table keeps": (
        "training: {epochs: 6}",
        f"training: {{epochs: 6, momentum: {10**20}, weight_decay: {10**20}}}",
        [
            f"9: training.momentum is {10**20}; it takes a number of at least 0 and below 1",
            f"9: training.weight_decay is {10**20}; it takes a number of at least 0: beyond "
            "9007199254740992 write a decimal point",
        ],
    ),
    "a number as a description": (
        SEARCH,
        SEARCH + "description: 3\n",
        [
            "11: description is 3, not text; put it in quotes",
        ],
    ),
    "a number in quotes": (
        TRAINING,
        'training: {epochs: "6"}\n',
        [
            "9: training.epochs is the text '6'; it takes a whole number from 1 to 1000000:"
            " write it without quotes",
        ],
    ),
    "a decimal comma": (
        TRAINING,
        "training: {epochs: 6, momentum: '0,9'}\n",
        [
            "9: training.momentum is the text '0,9'; it takes a number of at least 0 and "
            "below 1: write a decimal point",
        ],
    ),
    "a point in a whole number": (
        TRAINING,
        "training: {epochs: 6.0}\n",
        [
            "9: training.epochs is 6.0; it takes a whole number from 1 to 1000000",
        ],
    ),
    "true for a number": (
        TRAINING,
        "training: {epochs: true}\n",
        [
            "9: training.epochs is true; it takes a whole number from 1 to 1000000",
        ],
    ),
    "a negative number": (
        TRAINING,
        "training: {epochs: 6, weight_decay: -1}\n",
        [
            "9: training.weight_decay is -1; it takes a number of at least 0",
        ],
    ),
    "no batch": (
        TRAINING,
        "training: {epochs: 6, batch_size: 0}\n",
        [
            "9: training.batch_size is 0; it takes a whole number from 1 to 1000000",
        ],
    ),
    "a whole number of thirty digits": (
        TRAINING,
        "training: {epochs: 999999999999999999999999999999}\n",
        [
            "9: training.epochs is 999999999999999999999999999999; it takes a whole number "
            "from 1 to 1000000",
        ],
    ),
    "an empty value": (
        TRAINING,
        "training: {epochs: }\n",
        [
            "9: training.epochs is empty; it takes a whole number from 1 to 1000000",
        ],
    ),
    "an unknown word": (
        TRAINING,
        "training: {epochs: 6, schedule: exponential}\n",
        [
            "9: training.schedule is the text 'exponential'; it takes constant, multistep, "
            "cosine or one_cycle",
        ],
    ),
    "another tool's word": (
        TRAINING,
        "training: {epochs: 6, schedule: OneCycleLR}\n",
        [
            "9: training.schedule is the text 'OneCycleLR'; it takes constant, multistep, "
            "cosine or one_cycle: did you mean one_cycle?",
        ],
    ),
    "no for false": (
        TRAINING,
        "training: {epochs: 6, deterministic: no}\n",
        [
            "9: training.deterministic is the text 'no'; it takes true or false: write false",
        ],
    ),
    "falling milestones": (
        TRAINING,
        "training: {epochs: 6, schedule: multistep, milestones: [4, 2]}\n",
        [
            "9: training.milestones is [4, 2]; it takes rising epochs of at least 1, as a "
            "list ([100, 150]) or as text ('100,150')",
        ],
    ),
    "a word for a section": (
        SEARCH,
        "search: tpe\n",
        [
            "10: search is the text 'tpe', not a mapping: write its keys (sampler, seed, "
            "startup_trials, pruner)",
        ],
    ),
    "nothing for a section": (
        SEARCH,
        "search: \n",
        [
            "10: search is empty; write its keys (sampler, seed, startup_trials, pruner), "
            "or remove it",
        ],
    ),
    "a missing training": (
        TRAINING,
        "",
        [
            "1: training is missing; it takes keys such as {epochs: 30}: add it",
        ],
    ),
    "missing epochs": (
        TRAINING,
        "training: {batch_size: 32}\n",
        [
            "9: training.epochs is missing; it takes a whole number from 1 to 1000000: add it",
        ],
    ),
    "a missing objective": (
        OBJECTIVE,
        "",
        [
            "1: objective is missing; it takes {metric: test_accuracy, direction: "
            "maximize}: add it",
        ],
    ),
    "a missing direction": (
        OBJECTIVE,
        "objective: {metric: test_accuracy}\n",
        [
            "5: objective.direction is missing; it takes maximize or minimize: add it",
        ],
    ),
    "another tool's direction": (
        OBJECTIVE,
        "objective: {metric: test_accuracy, direction: max}\n",
        [
            "5: objective.direction is the text 'max'; it takes maximize or minimize: did "
            "you mean maximize?",
        ],
    ),
    "a time without a unit": (
        SEARCH,
        SEARCH + "budget: {timeout: 7200}\n",
        [
            "11: budget.timeout is 7200; it takes a time with a unit, such as 90s, 30m, 2h "
            "or 1h30m: add the unit",
        ],
    ),
    "a time in words": (
        SEARCH,
        SEARCH + "budget: {timeout: 2 hours}\n",
        [
            "11: budget.timeout is the text '2 hours'; it takes a time with a unit, such as"
            " 90s, 30m, 2h or 1h30m",
        ],
    ),
    "a cost without a price": (
        SEARCH,
        SEARCH + "budget: {max_cost: 10}\n",
        [
            "11: budget.max_cost needs a price: add price_per_hour or price_per_gpu_hour",
        ],
    ),
    "two prices": (
        SEARCH,
        SEARCH + "budget: {price_per_hour: 1, price_per_gpu_hour: 1}\n",
        [
            "11: budget has both price_per_hour and price_per_gpu_hour; remove one",
        ],
    ),
    "no trials": (
        SEARCH,
        SEARCH + "budget: {trials: 0}\n",
        [
            "11: budget.trials is 0; it takes a whole number from 1 to 1000000",
        ],
    ),
    "unknown checkpoints": (
        SEARCH,
        SEARCH + "checkpoints: {keep: best}\n",
        [
            "11: checkpoints.keep is the text 'best'; it takes best_and_last, last, all or "
            "none: did you mean best_and_last?",
        ],
    ),
    "a pruner by another name": (
        SEARCH,
        "search: {pruner: sha}\n",
        [
            "10: search.pruner is the text 'sha'; it takes none, median, percentile, asha, "
            "hyperband, threshold or patient: did you mean asha?",
        ],
    ),
    "a pruner without a name": (
        SEARCH,
        "search: {pruner: {min_epochs: 2}}\n",
        [
            "10: search.pruner.name is missing; it takes none, median, percentile, asha, "
            "hyperband, threshold or patient: add it",
        ],
    ),
    "a key of another pruner": (
        SEARCH,
        "search: {pruner: {name: asha, percentile: 50}}\n",
        [
            "10: unknown key percentile in search.pruner; known: name, min_epochs, "
            "reduction_factor",
        ],
    ),
    "a percentile of hundred": (
        SEARCH,
        "search: {pruner: {name: percentile, percentile: 100}}\n",
        [
            "10: search.pruner.percentile is 100; it takes a number above 0 and below 100",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert problems == expected
