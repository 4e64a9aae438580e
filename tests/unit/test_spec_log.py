"""The key log: which logs a study names, and what is said of others."""

from pathlib import Path

import pytest

from sweep.errors import StudyFileError
from sweep.spec.differences import Kind, differences
from sweep.spec.load import load_study_file
from sweep.spec.study import StudySpec

STUDY = """\
data: {name: digits}
model: {name: resnet18}
objective: {metric: test_accuracy, direction: maximize}
space: {lr: {choices: [0.1, 0.2]}}
training: {epochs: 1}
"""


def loaded(folder: Path, line: str) -> StudySpec:
    path = folder / "s.yaml"
    path.write_text(f"{STUDY}{line}\n")
    return load_study_file(path)


@pytest.mark.parametrize(
    ("line", "logs"),
    [
        ("", ()),
        ("log: [tensorboard]", ("tensorboard",)),
        ("log: TensorBoard", ("tensorboard",)),
        ("log: [wandb, mlflow, wandb]", ("wandb", "mlflow")),
    ],
)
def test_logs_are_listed_each_once_and_kept(
    tmp_path: Path, line: str, logs: tuple[str, ...]
) -> None:
    spec = loaded(tmp_path, line)
    assert spec.log == logs
    assert StudySpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("log: [tensorbord]", "s.yaml:6: log is the text 'tensorbord'"),
        ("log: []", "s.yaml:6: log is []; it takes a list of tensorboard, mlflow and wandb"),
        ("log: [1]", "s.yaml:6: log is [1]; it takes a list of tensorboard, mlflow and wandb"),
        ("log: true", "s.yaml:6: log is true; it takes a list of tensorboard, mlflow and wandb"),
        ("log: {a: 1}", "s.yaml:6: log is a mapping"),
    ],
)
def test_other_logs_are_refused_with_the_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(StudyFileError) as caught:
        loaded(tmp_path, line)
    assert said in str(caught.value)


def test_a_log_may_be_named_later_and_a_spec_without_the_key_is_read(tmp_path: Path) -> None:
    before = loaded(tmp_path, "")
    stored = {key: value for key, value in before.to_json().items() if key != "log"}
    changes = differences(StudySpec.from_json(stored), loaded(tmp_path, "log: [tensorboard]"))
    assert [(each.key, each.kind) for each in changes] == [("log", Kind.HARMLESS)]
