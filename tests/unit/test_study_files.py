"""The shipped study files: each is right, is what its name says, and says what it is for."""

from pathlib import Path

import pytest

from sweep.space.distributions import Categorical, Float
from sweep.spec.find import find_study_file, shipped_studies
from sweep.spec.load import load_study_file
from sweep.spec.study import PrunerSpec, StudySpec

NAMES = [
    *("baseline", "batch_size", "learning_rate", "lr_bs_opt", "optimizer", "quickstart"),
    "scaling",
]


def shipped(name: str) -> StudySpec:
    return load_study_file(shipped_studies() / f"{name}.yaml")


def test_these_studies_are_shipped() -> None:
    assert sorted(path.stem for path in shipped_studies().glob("*.yaml")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_study_file_has_its_own_name_and_begins_with_its_purpose(name: str) -> None:
    path = find_study_file(name, Path())
    assert path.read_text().startswith("# What it is for: ")
    spec = load_study_file(path)
    assert spec.study == name
    assert spec.description


def test_the_quickstart_is_small_real_and_holds_bad_learning_rates() -> None:
    spec = shipped("quickstart")
    assert spec.recipe.data is not None
    assert spec.recipe.data.name == "digits"
    assert spec.recipe.model is not None
    assert spec.recipe.model.width == 16
    assert spec.training["epochs"] == 6
    assert spec.budget.trials == 20
    assert spec.search.pruner == PrunerSpec(name="median", startup_trials=4, min_epochs=1)
    assert len(spec.enqueue) == 3
    assert spec.space.names == ("optimizer", "batch_size", "lr")
    for optimizer, high in {"sgd": 1.0, "adam": 0.1, "rmsprop": 0.1}.items():
        lr = spec.space.params[2].distribution({"optimizer": optimizer})
        assert lr == Float(low=0.0001, high=high, log=True)


def test_the_joint_search_is_over_rate_batch_size_and_optimizer() -> None:
    spec = shipped("lr_bs_opt")
    assert spec.space.names == ("optimizer", "batch_size", "lr", "weight_decay")
    assert spec.enqueue[2] == {
        "optimizer": "rmsprop",
        "batch_size": 128,
        "lr": 0.005,
        "weight_decay": 0.0,
    }
    assert (spec.budget.trials, spec.budget.timeout_s) == (40, 7200)
    pruner = PrunerSpec(name="percentile", percentile=75, startup_trials=8, min_epochs=8)
    assert spec.search.pruner == pruner


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("learning_rate", (0.1, 0.01, 0.001)),
        ("batch_size", (64, 128, 256)),
        ("scaling", (1, 2, 4)),
    ],
)
def test_a_comparison_varies_one_param_and_tries_each_value_once(
    name: str, values: tuple[float, ...]
) -> None:
    spec = shipped(name)
    (param,) = spec.space.params
    assert param.alternatives[0].distribution == Categorical(choices=values)
    assert spec.search.sampler == "grid"
    assert spec.flat_params({param.name: values[0]})["momentum"] == 0.9


def test_the_scaling_gives_each_gpu_work_enough() -> None:
    spec = shipped("scaling")
    assert [spec.num_gpus(point) for point in spec.space.points()] == [1, 2, 4]
    assert (spec.searches_gpus, spec.most_gpus) == (True, 4)
    params = spec.flat_params({"gpus_per_trial": 4})
    assert "gpus_per_trial" not in params, "no key of the training"
    assert params["batch_size"] / 4 >= 256


def test_the_optimizers_are_whole_configurations() -> None:
    assert shipped("optimizer").space.configurations == (
        {"optimizer": "sgd", "lr": 0.01},
        {"optimizer": "adam", "lr": 0.001},
        {"optimizer": "rmsprop", "lr": 0.005},
    )


def test_the_baseline_is_one_long_training_in_three_steps() -> None:
    spec = shipped("baseline")
    assert spec.space.num_points == 1
    params = spec.flat_params(next(iter(spec.space.points())))
    assert params["epochs"] == 200
    assert (params["schedule"], params["milestones"]) == ("multistep", [100, 150])
    assert (params["lr"], params["momentum"], params["weight_decay"]) == (0.1, 0.9, 0.0005)
