"""Samplers and pruners of a study file that cannot work."""

from pathlib import Path

import pytest
from study_texts import LR, OBJECTIVE, SEARCH, TRAINING, changed, load_text, problems_of

from sweep.spec.study import PRUNER_KEYS, PrunerSpec, StudySpec

CASES = {
    "an unknown sampler": (
        SEARCH,
        "search: {sampler: cma}\n",
        [
            "10: search.sampler is the text 'cma'; it takes tpe, random, grid, qmc or gp",
        ],
    ),
    "a sampler by another name": (
        SEARCH,
        "search: {sampler: sobol}\n",
        [
            "10: search.sampler is the text 'sobol'; it takes tpe, random, grid, qmc or gp: "
            "did you mean qmc?",
        ],
    ),
    "gp beside a when": (
        LR + TRAINING + SEARCH,
        "  lr:\n"
        "  - {when: {optimizer: [sgd]}, type: float, low: 0.1, high: 1}\n"
        "  - {when: {optimizer: [adam]}, value: 0.1}\n"
        "training: {epochs: 6}\n"
        "search: {sampler: gp}\n",
        [
            "12: search.sampler gp cannot learn lr, which has a when; use tpe, or remove the when",
        ],
    ),
    "a threshold without a bound": (
        SEARCH,
        "search: {pruner: {name: threshold, min_epochs: 2}}\n",
        [
            "10: search.pruner threshold needs a bound; add lower, upper or both",
        ],
    ),
    "a threshold by its name alone": (
        SEARCH,
        "search:\n  pruner: threshold\n",
        [
            "11: search.pruner threshold needs a bound; add lower, upper or both",
        ],
    ),
    "bounds the wrong way round": (
        SEARCH,
        "search: {pruner: {name: threshold, lower: 0.9, upper: 0.5}}\n",
        [
            "10: search.pruner.lower 0.9 is not below upper 0.5; swap them",
        ],
    ),
    "a bound in per cent": (
        SEARCH,
        "search: {pruner: {name: threshold, lower: 60}}\n",
        [
            "10: search.pruner.lower is 60, but test_accuracy is a fraction from 0 to 1; "
            "write 0.6",
        ],
    ),
    "a bound that no accuracy has": (
        SEARCH,
        "search: {pruner: {name: threshold, lower: 0.2, upper: -1}}\n",
        [
            "10: search.pruner.lower 0.2 is not below upper -1; swap them",
            "10: search.pruner.upper is -1, but test_accuracy is a fraction from 0 to 1; "
            "correct it",
        ],
    ),
    "text for a bound": (
        SEARCH,
        "search: {pruner: {name: threshold, lower: '0.5'}}\n",
        [
            "10: search.pruner.lower is the text '0.5'; it takes a number: write it without "
            "quotes",
        ],
    ),
    "patience that is not given": (
        SEARCH,
        "search: {pruner: patient}\n",
        [
            "10: search.pruner.patience is missing; it takes a whole number from 1 to 1000000: "
            "add it",
        ],
    ),
    "patience until the end": (
        SEARCH,
        "search: {pruner: {name: patient, patience: 4}}\n",
        [
            "10: the pruner can never act: patience 4 of 6 epochs; lower it, or use pruner none",
        ],
    ),
    "an impatient key of a patient pruner": (
        SEARCH,
        "search: {pruner: {name: patient, patience: 2, min_epochs: 2}}\n",
        [
            "10: unknown key min_epochs in search.pruner; known: name, patience, pruner",
        ],
    ),
    "a patient pruner that asks one with rungs": (
        SEARCH,
        "search: {pruner: {name: patient, patience: 2, pruner: asha}}\n",
        [
            "10: search.pruner.pruner is the text 'asha'; it takes median, percentile, threshold "
            "or none",
        ],
    ),
    "faults of the pruner that a patient one asks": (
        SEARCH,
        "search:\n"
        "  pruner:\n"
        "    name: patient\n"
        "    patience: 2\n"
        "    pruner:\n"
        "      name: threshold\n"
        "      upper: 90\n"
        "      min_epochs: 6\n",
        [
            "16: search.pruner.pruner.upper is 90, but test_accuracy is a fraction from 0 to 1; "
            "write 0.9",
            "17: the pruner can never act: min_epochs 6 of 6 epochs; lower it, or use pruner none",
        ],
    ),
    "a patient pruner that waits for all trials": (
        SEARCH,
        "search: {pruner: {name: patient, patience: 2, pruner: {name: median, "
        "startup_trials: 9}}}\nbudget: {trials: 9}\n",
        [
            "10: the pruner can never act: startup_trials 9 of 9 trials; lower it, or use pruner "
            "none",
        ],
    ),
    "hyperband whose first rung is the last epoch": (
        SEARCH,
        "search: {pruner: {name: hyperband, min_epochs: 6}}\n",
        [
            "10: the pruner can never act: min_epochs 6 of 6 epochs; lower it, or use pruner none",
        ],
    ),
    "a key that hyperband does not use": (
        SEARCH,
        "search: {pruner: {name: hyperband, max_resource: 6}}\n",
        [
            "10: unknown key max_resource in search.pruner; known: name, min_epochs, "
            "reduction_factor",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), CASES.values(), ids=list(CASES))
def test_each_fault_is_named_with_its_line_and_its_remedy(
    tmp_path: Path, old: str, new: str, expected: list[str]
) -> None:
    assert problems_of(tmp_path, changed(old, new)) == expected


def test_a_loss_may_have_any_bound(tmp_path: Path) -> None:
    text = changed(OBJECTIVE, "objective: {metric: test_loss, direction: minimize}\n").replace(
        SEARCH, "search: {pruner: {name: threshold, upper: 2.5}}\n"
    )
    assert load_text(tmp_path, text).search.pruner.upper == 2.5


def test_hyperband_needs_to_know_the_epochs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def train(params, device):\n    yield {}\n")
    text = "train: ./mine.py:train\n" + changed(SEARCH, "search: {pruner: hyperband}\n")
    assert load_text(tmp_path, text).search.pruner.reduction_factor == 3
    assert problems_of(tmp_path, text.replace(TRAINING, "")) == [
        "10: the pruner hyperband needs to know how long a trial is; add training.epochs"
    ]


def test_a_patient_pruner_asks_the_median_unless_another_is_given(tmp_path: Path) -> None:
    patient = "search: {pruner: {name: patient, patience: 2PRUNER}}\n"
    plain = load_text(tmp_path, changed(SEARCH, patient.replace("PRUNER", "")))
    assert plain.search.pruner.pruner == PrunerSpec(name="median")
    inner = ", pruner: {name: threshold, lower: 0.2, min_epochs: 3}"
    given = load_text(tmp_path, changed(SEARCH, patient.replace("PRUNER", inner)))
    assert given.search.pruner.used() == {
        "name": "patient",
        "patience": 2,
        "pruner": {"name": "threshold", "lower": 0.2, "upper": None, "min_epochs": 3},
    }
    assert StudySpec.from_json(given.to_json()) == given


@pytest.mark.parametrize("name", PRUNER_KEYS)
def test_a_pruner_uses_its_own_keys(name: str) -> None:
    inner = PrunerSpec() if name == "patient" else None
    used = PrunerSpec.model_validate({"name": name, "pruner": inner}).used()
    assert tuple(used) == ("name", *PRUNER_KEYS[name])


def test_a_stored_study_without_the_newer_keys_of_a_pruner_is_read(tmp_path: Path) -> None:
    spec = load_text(tmp_path, changed(SEARCH, "search: {pruner: median}\n"))
    document = spec.to_json()
    for key in ("lower", "upper", "patience", "pruner"):
        del document["search"]["pruner"][key]
    assert StudySpec.from_json(document) == spec
