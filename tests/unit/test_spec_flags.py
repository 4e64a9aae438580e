"""Flags: single values of a study file, overridden from the command line."""

from pathlib import Path

import pytest
from study_texts import GOOD, SEARCH, changed, load_text

from sweep.errors import StudyFileError
from sweep.spec.study import PrunerSpec


def test_flags_override_single_values_of_any_kind(tmp_path: Path) -> None:
    overrides = {
        "training.epochs": "3",
        "search.pruner.name": "median",
        "space.lr.low": "1e-3",
        "space.optimizer": "{choices: [rmsprop]}",
        "budget.timeout": "90s",
        "study": "other",
    }
    spec = load_text(tmp_path, GOOD, **overrides)
    assert spec.training == {"epochs": 3}
    assert spec.search.pruner == PrunerSpec(name="median")
    assert spec.budget.timeout_s == 90
    assert spec.study == "other"
    assert next(iter(spec.space.params[0].alternatives[0].distribution.values())) == "rmsprop"


def test_flags_reach_into_lists_by_position(tmp_path: Path) -> None:
    text = GOOD + "enqueue:\n- {optimizer: sgd, lr: 0.1}\n"
    spec = load_text(tmp_path, text, **{"enqueue.0.lr": "0.5"})
    assert spec.enqueue == ({"optimizer": "sgd", "lr": 0.5},)


NO_PLACE = "no such place in a study file; write it as in training.epochs=3"


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("training.bs", "4", "=4: unknown key bs in training; did you mean batch_size?"),
        (
            "training.epochs",
            "017",
            "=017: 017 starts with a zero; leave it out, or quote it as text",
        ),
        ("study", "a\tb", ": a tab; YAML takes spaces only: replace it"),
        (
            "budget.trials",
            "0",
            "=0: budget.trials is 0; it takes a whole number from 1 to 1000000",
        ),
        ("enqueue.3.lr", "1", f"=1: {NO_PLACE}"),
        ("training..epochs", "3", f"=3: {NO_PLACE}"),
        ("version.major", "1", f"=1: {NO_PLACE}"),
        (".".join("a" * 30), "1", f"=1: {NO_PLACE}"),
    ],
)
def test_a_fault_of_a_flag_is_told_under_the_flags_name(
    tmp_path: Path, key: str, text: str, problem: str
) -> None:
    with pytest.raises(StudyFileError) as caught:
        load_text(tmp_path, f"{GOOD}enqueue: []\n", **{key: text})
    assert str(caught.value) == f"--set {key}{problem}"


def test_a_flag_for_a_searched_key_is_told_at_the_param(tmp_path: Path) -> None:
    with pytest.raises(StudyFileError) as caught:
        load_text(tmp_path, GOOD, **{"training.lr": "0.1"})
    message = "space.lr is also in training; remove one of the two"
    assert str(caught.value) == f"{tmp_path}/s.yaml:8: {message}"


def test_a_budget_from_a_flag_may_be_too_short_for_the_pruner(tmp_path: Path) -> None:
    text = changed(SEARCH, "search: {pruner: {name: median, startup_trials: 4}}\n")
    assert load_text(tmp_path, text, **{"budget.trials": "2"}).budget.trials == 2
