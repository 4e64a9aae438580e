"""Conditions of a study file that name nothing, leave a gap, or hold twice."""

from pathlib import Path

import pytest
from study_texts import LR, OPTIMIZER, SPACE, changed, problems_of

CASES = {
    "an unknown param": (
        LR,
        "  lr: {when: {optimiser: [sgd]}, type: float, low: 0.01, high: 1.0}\n",
        [
            "8: space.lr.when asks about an unknown param optimiser; did you mean optimizer?",
        ],
    ),
    "an unknown value": (
        LR,
        "  lr:\n"
        "  - {when: {optimizer: [sdg]}, value: 0.1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.2}\n",
        [
            "9: space.lr.0.when.optimizer names sdg; optimizer is one of sgd, adam: use these",
        ],
    ),
    "a circle": (
        SPACE,
        "space:\n"
        "  optimizer:\n"
        "  - {when: {lr: [0.1]}, value: sgd}\n"
        "  - {when: {lr: [0.2]}, value: adam}\n"
        "  lr:\n"
        "  - {when: {optimizer: [sgd]}, value: 0.1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.2}\n",
        [
            "7: `when` goes in a circle: optimizer -> lr -> optimizer; remove one",
        ],
    ),
    "a circle of one": (
        LR,
        "  lr: {when: {lr: [0.1]}, value: 0.1}\n",
        [
            "8: `when` goes in a circle: lr -> lr; remove one",
        ],
    ),
    "a gap": (
        LR,
        "  lr: {when: {optimizer: [sgd]}, type: float, low: 0.01, high: 1.0}\n",
        [
            "8: space.lr has no alternative for optimizer=adam; add one, with a fixed "
            "value where it means nothing",
        ],
    ),
    "a gap in a list": (
        OPTIMIZER + LR,
        "  optimizer: {choices: [sgd, adam, rmsprop]}\n"
        "  lr:\n"
        "  - {when: {optimizer: [sgd]}, value: 0.1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.2}\n",
        [
            "8: space.lr has no alternative for optimizer=rmsprop; add one, with a fixed "
            "value where it means nothing",
        ],
    ),
    "a gap between two params": (
        LR,
        "  momentum: {choices: [0.0, 0.9]}\n"
        "  lr:\n"
        "  - {when: {optimizer: [sgd], momentum: [0.0, 0.9]}, value: 0.1}\n"
        "  - {when: {optimizer: [adam], momentum: [0.0]}, value: 0.2}\n",
        [
            "9: space.lr has no alternative for optimizer=adam, momentum=0.9; add one, with "
            "a fixed value where it means nothing",
        ],
    ),
    "an overlap": (
        LR,
        "  lr:\n"
        "  - {when: {optimizer: [sgd, adam]}, value: 0.1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.2}\n",
        [
            "10: space.lr has alternatives 0 and 1 for optimizer=adam; let only one hold",
        ],
    ),
    "two that always hold": (
        LR,
        "  lr:\n  - {value: 0.1}\n  - {value: 0.2}\n",
        [
            "10: space.lr has alternatives 0 and 1 for any params; let only one hold",
        ],
    ),
    "a range as a parent": (
        LR,
        LR + ("  momentum:\n  - {when: {lr: [0.1]}, value: 0.9}\n"),
        [
            "10: space.momentum.0.when.lr: lr is a float from 0.01 to 1.0, log scale; ask "
            "about a param with choices",
        ],
    ),
    "no param": (
        LR,
        "  lr: {when: {}, value: 0.1}\n",
        [
            "8: space.lr.when is empty; name a param, or remove it",
        ],
    ),
    "no values": (
        LR,
        "  lr: {when: {optimizer: []}, value: 0.1}\n",
        [
            "8: space.lr.when.optimizer is an empty list; name the values it holds for",
        ],
    ),
    "a word": (
        LR,
        "  lr: {when: sgd, value: 0.1}\n",
        [
            "8: space.lr.when is the text 'sgd', not a mapping",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert problems == expected
