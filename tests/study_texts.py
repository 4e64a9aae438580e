"""Study files as text for the tests: a good one, changed in one place, and what is said of it."""

from pathlib import Path

import pytest

from sweep.errors import StudyFileError
from sweep.spec.load import load_study_file
from sweep.spec.study import StudySpec

GOOD = """\
version: 1
study: s
data: {name: digits}
model: {name: resnet18, width: 16}
objective: {metric: test_accuracy, direction: maximize}
space:
  optimizer: {choices: [sgd, adam]}
  lr: {type: float, low: 0.01, high: 1.0, log: true}
training: {epochs: 6}
search: {seed: 0}
"""

DATA = "data: {name: digits}\n"
MODEL = "model: {name: resnet18, width: 16}\n"
OBJECTIVE = "objective: {metric: test_accuracy, direction: maximize}\n"
OPTIMIZER = "  optimizer: {choices: [sgd, adam]}\n"
LR = "  lr: {type: float, low: 0.01, high: 1.0, log: true}\n"
SPACE = f"space:\n{OPTIMIZER}{LR}"
TRAINING = "training: {epochs: 6}\n"
SEARCH = "search: {seed: 0}\n"


def changed(old: str, new: str) -> str:
    """The good study file with one part of it replaced."""
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def load_text(folder: Path, text: str, **overrides: str) -> StudySpec:
    """The spec of a study file with this text."""
    path = folder / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return load_study_file(path, overrides)


def problems_of(folder: Path, text: str) -> list[str]:
    """What is said of a study file with this text, as "line: message"."""
    with pytest.raises(StudyFileError) as caught:
        load_text(folder, text)
    for line in str(caught.value).splitlines():
        assert line.startswith(str(folder / "s.yaml")), line
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]
