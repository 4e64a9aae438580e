"""The study spec: as JSON and back, its hash, and what a change of it means."""

import json
from pathlib import Path

import pytest
from study_texts import GOOD, LR, OBJECTIVE, OPTIMIZER, TRAINING, changed, load_text

from sweep.spec.differences import Kind, differences
from sweep.spec.find import shipped_studies
from sweep.spec.load import load_study_file
from sweep.spec.reserved import RESERVED_NAMES
from sweep.spec.study import StudySpec
from sweep.views import columns

SHIPPED = sorted(shipped_studies().glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_spec_comes_back_from_json_as_it_was(path: Path) -> None:
    spec = load_study_file(path)
    back = StudySpec.from_json(json.loads(json.dumps(spec.to_json(), sort_keys=True)))
    assert back == spec
    assert back.hash == spec.hash


def test_the_hash_changes_with_any_value_and_only_then(tmp_path: Path) -> None:
    spec = load_text(tmp_path, GOOD)
    assert load_text(tmp_path, f"# another comment\n{GOOD}").hash == spec.hash
    assert load_text(tmp_path, changed("epochs: 6", "epochs: 7")).hash != spec.hash
    assert load_text(tmp_path, f"{GOOD}budget: {{trials: 3}}\n").hash != spec.hash


def test_the_built_in_training_gets_every_key_flat(tmp_path: Path) -> None:
    params = load_text(tmp_path, GOOD).flat_params({"optimizer": "adam", "lr": 0.02})
    assert params["epochs"] == 6
    assert params["optimizer"] == "adam"
    assert params["lr"] == 0.02
    assert params["batch_size"] == 128
    assert params["milestones"] == []
    assert json.loads(json.dumps(params)) == params


def changes(folder: Path, old: str, new: str) -> list[tuple[str, str]]:
    """What a change of the good study file means, as (kind, text)."""
    stored = load_text(folder, GOOD)
    found = differences(stored, load_text(folder, changed(old, new)))
    return [(each.kind.value, str(each)) for each in found]


def test_the_same_file_makes_no_difference(tmp_path: Path) -> None:
    assert changes(tmp_path, OPTIMIZER, "  optimizer: {choices: [SGD, adam]}\n") == []


def test_budget_description_search_and_checkpoints_are_harmless(tmp_path: Path) -> None:
    new = "search: {seed: 1}\nbudget: {trials: 9}\ndescription: d\ncheckpoints: {keep: last}\n"
    assert changes(tmp_path, "search: {seed: 0}\n", new) == [
        ("harmless", "description:  -> d"),
        ("harmless", "search.seed: 0 -> 1"),
        ("harmless", "budget.trials: nothing -> 9"),
        ("harmless", "checkpoints.keep: best_and_last -> last"),
    ]


def test_a_changed_param_is_a_change_of_the_space(tmp_path: Path) -> None:
    new = "  lr: {choices: [0.1, 0.2]}\n  momentum: {value: 0.5}\n"
    assert changes(tmp_path, LR, new) == [
        ("space", "space.lr: float from 0.01 to 1.0, log scale -> one of 0.1, 0.2"),
        ("space", "space.momentum: nothing -> always 0.5"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (TRAINING, "training: {epochs: 7}\n", "training.epochs: 6 -> 7"),
        ("width: 16", "width: 32", "model.width: 16 -> 32"),
        ("{name: digits}", "{name: cifar10}", "data.name: digits -> cifar10"),
        (
            OBJECTIVE,
            "objective: {metric: train_accuracy, direction: maximize}\n",
            "objective.metric: test_accuracy -> train_accuracy",
        ),
    ],
)
def test_another_training_or_objective_is_refused(
    tmp_path: Path, old: str, new: str, text: str
) -> None:
    assert changes(tmp_path, old, new) == [("refused", text)]


def test_a_file_that_moved_is_harmless_and_another_one_is_not(tmp_path: Path) -> None:
    text = "train: {}:train\nobjective: {{metric: f1, direction: maximize}}\n"
    text += "space: {{x: {{choices: [1, 2]}}}}\n"
    names = ("a/mine.py", "b/mine.py", "b/other.py")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def train(params, device): ...\n")
    stored, moved, other = (load_text(tmp_path, text.format(name)) for name in names)
    assert [each.kind for each in differences(stored, moved)] == [Kind.HARMLESS]
    assert [each.kind for each in differences(stored, other)] == [Kind.REFUSED]


def test_every_column_of_every_table_is_a_reserved_name() -> None:
    tables = (
        columns.TRIALS_BEFORE_PARAMS,
        columns.TRIALS_AFTER_PARAMS,
        columns.EPOCHS_BEFORE_METRICS,
        columns.ATTEMPTS,
        columns.BY,
        columns.BY_OTHER_OBJECTIVE,
    )
    names = {column.name for table in tables for column in table}
    assert names <= RESERVED_NAMES
