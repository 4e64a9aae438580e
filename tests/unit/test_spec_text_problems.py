"""The text of a study file: what YAML itself, or our strictness, refuses."""

from pathlib import Path

import pytest
from study_texts import LR, OPTIMIZER, SEARCH, TRAINING, changed, problems_of

CASES = {
    "a tab that indents": (
        "  lr: {type",
        "\tlr: {type",
        [
            "8: a tab; YAML takes spaces only: replace it",
        ],
    ),
    "a tab between key and value": (
        "study: s",
        "study:\ts",
        [
            "2: a tab; YAML takes spaces only: replace it",
        ],
    ),
    "a repeated key": (
        SEARCH,
        SEARCH + "study: t\n",
        [
            "11: repeated key study; it stands first in line 2: remove one",
        ],
    ),
    "a repeated key inside": (
        LR,
        "  lr: {type: float, low: 0.01, high: 1.0, low: 0.1}\n",
        [
            "8: repeated key space.lr.low; it stands first in line 8: remove one",
        ],
    ),
    "an anchor": (
        OPTIMIZER,
        "  optimizer: &a {choices: [sgd, adam]}\n",
        [
            "7: anchor &a; anchors are refused: remove it",
        ],
    ),
    "an alias": (
        OPTIMIZER,
        "  optimizer: &a {choices: [sgd, adam]}\n  schedule: *a\n",
        [
            "7: anchor &a; anchors are refused: remove it",
            "8: alias *a; aliases are refused: write the value out",
        ],
    ),
    "a merge key": (
        TRAINING,
        "training: &t {epochs: 6}\nbudget: {<<: *t}\n",
        [
            "9: anchor &t; anchors are refused: remove it",
            "10: alias *t; aliases are refused: write the value out",
        ],
    ),
    "a bomb of aliases": (
        SEARCH,
        SEARCH + ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        [
            "11: anchor &a; anchors are refused: remove it",
            "12: anchor &b; anchors are refused: remove it",
            "12: alias *a; aliases are refused: write the value out",
            "12: alias *a; aliases are refused: write the value out",
            "13: alias *b; aliases are refused: write the value out",
            "13: alias *b; aliases are refused: write the value out",
            "13: unknown key c; known: version, study, description, train, data, model, "
            "objective, space, configurations, training, search, enqueue, budget, "
            "checkpoints, resources, log",
        ],
    ),
    "a tag": (
        "study: s",
        "study: !!str s",
        [
            "2: a tag (!); tags are refused: remove it",
        ],
    ),
    "a tag that would run a program": (
        "study: s",
        "study: !!python/object/apply:os.system [ls]",
        [
            "2: a tag (!); tags are refused: remove it",
        ],
    ),
    "a number that starts with a zero": (
        TRAINING,
        "training: {epochs: 017}\n",
        [
            "9: 017 starts with a zero; leave it out, or quote it as text",
        ],
    ),
    "a number with underscores": (
        TRAINING,
        "training: {epochs: 1_000}\n",
        [
            "9: 1_000 holds underscores; write 1000, or quote it as text",
        ],
    ),
    "a number in another base": (
        TRAINING,
        "training: {epochs: 0x10}\n",
        [
            "9: 0x10 is no decimal number; write it in digits, or quote it as text",
        ],
    ),
    "an infinite number": (
        LR,
        "  lr: {type: float, low: 0.1, high: .inf}\n",
        [
            "8: .inf is no finite number; write one that is",
        ],
    ),
    "no number": (
        TRAINING,
        "training: {epochs: 6, momentum: .nan}\n",
        [
            "9: .nan is no finite number; write one that is",
        ],
    ),
    "a number too large for a float": (
        TRAINING,
        "training: {epochs: 6, momentum: 1e999}\n",
        [
            "9: 1e999 is too long or too large a number; write a smaller one",
        ],
    ),
    "a number of five thousand digits": (
        TRAINING,
        f"training: {{epochs: {'9' * 5000}}}\n",
        [
            "9: 9999999999999999999999999999999999999999... is too long or too large a "
            "number; write a smaller one",
        ],
    ),
    "a list as a key": (
        SEARCH,
        SEARCH + ("? [a]\n: b\n"),
        [
            "11: a list or mapping as a key; keys are names: write one",
        ],
    ),
    "a second document": (
        SEARCH,
        SEARCH + ("---\nversion: 1\n"),
        [
            "11: a second document starts here; a file holds one study",
        ],
    ),
    "another YAML version": (
        "version: 1",
        "%YAML 1.1\n---\nversion: 1",
        [
            "2: %YAML asks for another version; remove the line",
        ],
    ),
    "an unclosed brace": (
        TRAINING,
        "training: {epochs: 6\n",
        [
            "10: broken YAML: expected ',' or '}', but got ':'; look at this line and the "
            "one before",
        ],
    ),
    "a second colon": (
        "study: s",
        "study: a: b",
        [
            "2: a second colon, or a wrong indentation; quote text that holds ': '",
        ],
    ),
    "a character that starts no value": (
        "study: s",
        "study: @s",
        [
            "2: the character '@' starts no value; quote it",
        ],
    ),
    "a control character": (
        "study: s",
        "study: \x01s",
        [
            "2: the character U+0001; only printable text is taken: remove it",
        ],
    ),
    "nesting without end": (
        "study: s",
        f"study: {'[' * 30}{']' * 30}\n",
        [
            "2: nested deeper than 20; write it flatter",
        ],
    ),
    "a scalar beside keys": (
        SEARCH,
        SEARCH + "quickstart\n",
        [
            "12: broken YAML: could not find expected ':'; look at this line and the one before",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    problems = problems_of(tmp_path, changed(old, new))
    assert problems == expected
