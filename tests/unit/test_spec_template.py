"""The templates: files to start from that are right, options included, and run as they are."""

import re
from pathlib import Path
from typing import Any

import pytest

from sweep.spec.load import load_study_file
from sweep.spec.template import function_template, own_study_template, study_template


def with_options(text: str) -> str:
    """The template with every option that it holds as a comment switched on."""
    return re.sub(r"(?m)^( *)# (\w+: )", r"\1\2", text)


@pytest.mark.parametrize("name", ["mine", "学习率", "no", "12", "a: b", "it's", 'say "x"', "a#b"])
def test_the_template_is_a_study_of_that_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(study_template(name, path.name), encoding="utf-8")
    assert load_study_file(path).study == name


def test_every_option_of_the_template_is_right(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    text = study_template("s", path.name)
    path.write_text(with_options(text))
    spec = load_study_file(path)
    assert text.count("\n# ") + text.count("  # ") > 10
    assert spec.description == "One line on what this study is for"
    assert spec.recipe.data is not None
    assert spec.recipe.data.val_size == 200
    assert spec.budget.timeout_s == 7200
    assert spec.budget.max_cost == 10


def test_the_template_for_ones_own_function_is_right_with_its_options(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(function_template())
    path = tmp_path / "s.yaml"
    text = own_study_template("s", path.name, "./mine.py:train")
    for each in (text, with_options(text)):
        path.write_text(each)
        assert load_study_file(path).recipe.train == f"{tmp_path}/mine.py:train"


def epochs_of(state: Any = None, **params: float) -> list[tuple[dict[str, float], Any]]:
    namespace: dict[str, Any] = {}
    exec(function_template(), namespace)
    given = {"epochs": 10, "lr": 1.0, "weight_decay": 0.0, **params}
    return list(namespace["train"](given, "cpu", state))


def test_the_template_function_learns() -> None:
    results = epochs_of()
    assert len(results) == 10
    accuracies = [metrics["test_accuracy"] for metrics, _ in results]
    assert accuracies[-1] > max(0.84, accuracies[0])


def test_the_template_function_goes_on_from_its_state_to_the_last_digit() -> None:
    whole = epochs_of()
    resumed = epochs_of(state=whole[3][1])
    assert resumed == whole[4:]


def test_the_template_study_holds_learning_rates_worth_pruning() -> None:
    best = epochs_of()[-1][0]["test_accuracy"]
    assert epochs_of(lr=10.0)[-1][0]["test_accuracy"] < best - 0.1
