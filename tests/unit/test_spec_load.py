"""The loader: what a good study file becomes, and files that are none at all."""

from pathlib import Path

import pytest
from study_texts import (
    GOOD,
    LR,
    OPTIMIZER,
    SPACE,
    changed,
    load_text,
    problems_of,
)

from sweep.records import Direction
from sweep.space.distributions import Categorical, Constant, Float, Int
from sweep.spec.load import load_study_file
from sweep.spec.recipe import DataSpec, ModelSpec
from sweep.spec.study import BudgetSpec, CheckpointsSpec, PrunerSpec, SearchSpec


def test_a_study_file_becomes_a_spec_with_every_default(tmp_path: Path) -> None:
    spec = load_text(tmp_path, GOOD)
    assert spec.study == "s"
    assert spec.recipe.data == DataSpec(name="digits")
    assert spec.recipe.model == ModelSpec(width=16)
    assert spec.recipe.train is None
    assert spec.objective.direction is Direction.MAXIMIZE
    assert spec.training == {"epochs": 6}
    assert spec.search == SearchSpec(sampler="tpe", seed=0, startup_trials=10)
    assert spec.search.pruner == PrunerSpec(name="none")
    assert spec.budget == BudgetSpec()
    assert spec.checkpoints == CheckpointsSpec(every_epochs=1, keep="best_and_last")
    assert spec.enqueue == ()


def test_the_name_is_the_files_unless_it_says_another(tmp_path: Path) -> None:
    path = tmp_path / "学习率.yaml"
    path.write_text(changed("study: s\n", ""), encoding="utf-8")
    assert load_study_file(path).study == "学习率"
    path.write_text(changed("study: s\n", "study: 另一个 name\n"), encoding="utf-8")
    assert load_study_file(path).study == "另一个 name"


def test_a_byte_order_mark_and_carriage_returns_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_study_file(path) == load_text(tmp_path, GOOD)


def test_numbers_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    spec = load_text(tmp_path, changed(LR, "  lr: {type: float, low: 1e-3, high: .5}\n"))
    assert spec.space.params[1].alternatives[0].distribution == Float(low=0.001, high=0.5)


def test_words_that_other_yaml_takes_for_switches_and_times_are_text(tmp_path: Path) -> None:
    text = changed("version: 1\n", "description: no\n")
    assert load_text(tmp_path, text).description == "no"
    assert load_text(tmp_path, text.replace("no\n", "1:30\n")).description == "1:30"


def test_every_form_of_a_param_is_read(tmp_path: Path) -> None:
    space = """\
space:
  optimizer: {type: categorical, choices: [SGD, Adam]}
  batch_size: {type: int, low: 16, high: 128, log: true}
  accumulate: {type: int, low: 1, high: 5, step: 2}
  lr: {choices: [1, 0.1]}
  momentum: {value: 0}
  label_smoothing: {type: float, low: 0, high: 0.2, step: 0.1}
  milestones: {choices: ['2,4', '3']}
"""
    params = {
        param.name: param for param in load_text(tmp_path, changed(SPACE, space)).space.params
    }
    found = {name: param.alternatives[0].distribution for name, param in params.items()}
    assert found == {
        "optimizer": Categorical(choices=("sgd", "adam")),
        "batch_size": Int(low=16, high=128, log=True),
        "accumulate": Int(low=1, high=5, step=2),
        "lr": Categorical(choices=(1.0, 0.1)),
        "momentum": Constant(value=0.0),
        "label_smoothing": Float(low=0.0, high=0.2, step=0.1),
        "milestones": Categorical(choices=("2,4", "3")),
    }


def test_params_are_walked_parents_first_and_shown_in_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    space = """\
space:
  lr:
  - {when: {Optimizer: [sgd]}, value: 0.1}
  - {when: {Optimizer: [adam]}, value: 0.001}
  Optimizer: {choices: [sgd, adam]}
"""
    text = changed(SPACE, space.replace("Optimizer", "optimizer"))
    spec = load_text(tmp_path, text)
    assert [param.name for param in spec.space.params] == ["optimizer", "lr"]
    assert spec.space.names == ("lr", "optimizer")


def test_a_condition_may_hang_on_a_param_that_has_conditions_itself(tmp_path: Path) -> None:
    space = """\
space:
  optimizer: {choices: [sgd, adam]}
  schedule:
  - {when: {optimizer: sgd}, choices: [constant, cosine]}
  - {when: {optimizer: Adam}, value: one_cycle}
  lr:
  - {when: {schedule: [Constant]}, value: 0.1}
  - {when: {schedule: [cosine]}, value: 0.2}
  - {when: {schedule: [one_cycle]}, value: 0.003}
"""
    points = list(load_text(tmp_path, changed(SPACE, space)).space.points())
    assert [point["lr"] for point in points] == [0.1, 0.2, 0.003]


def test_configurations_are_tried_in_order_by_a_grid(tmp_path: Path) -> None:
    rows = "configurations:\n- {optimizer: SGD, lr: 1}\n- {lr: 0.001, optimizer: adam}\n"
    spec = load_text(tmp_path, changed(SPACE, rows))
    assert spec.space.configurations == (
        {"optimizer": "sgd", "lr": 1.0},
        {"optimizer": "adam", "lr": 0.001},
    )
    assert spec.space.names == ("optimizer", "lr")
    assert spec.search.sampler == "grid"


def test_points_to_begin_with_are_filled_to_whole_ones(tmp_path: Path) -> None:
    space = f"{SPACE}  momentum: {{value: 0.9}}\n"
    text = changed(SPACE, space) + "enqueue:\n- {lr: 1, optimizer: Adam}\n"
    assert load_text(tmp_path, text).enqueue == (
        {"optimizer": "adam", "lr": 1.0, "momentum": 0.9},
    )


def test_a_function_of_ones_own_takes_any_params_and_keys(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def train(params, device): ...\n")
    text = """\
train: ./mine.py:train
objective: {metric: f1, direction: minimize}
space:
  depth: {type: int, low: 1, high: 3}
  größe: {choices: [S, M]}
training: {rounds: 5, layers: [8, 4], label: x, extra: ~}
"""
    spec = load_text(tmp_path, text)
    assert spec.recipe.train == f"{tmp_path}/mine.py:train"
    assert (spec.recipe.data, spec.recipe.model) == (None, None)
    assert spec.flat_params({"depth": 2, "größe": "S"}) == {
        "rounds": 5,
        "layers": [8, 4],
        "label": "x",
        "extra": None,
        "depth": 2,
        "größe": "S",
    }


def test_a_function_in_a_module_and_a_factory_in_a_file_are_kept(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("def build(): ...\n")
    text = changed("{name: resnet18, width: 16}", "{factory: net.py:build}")
    assert load_text(tmp_path, text).recipe.model == ModelSpec(factory=f"{tmp_path}/net.py:build")
    text = changed("{name: resnet18, width: 16}", "{factory: package.nets:build}")
    assert load_text(tmp_path, text).recipe.model == ModelSpec(factory="package.nets:build")


@pytest.mark.parametrize("name", ["study", "Trial", "epoch_s", "lambda x", "a-b"])
def test_a_function_of_ones_own_does_not_take_columns_or_other_text_as_names(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "mine.py").write_text("def train(params, device): ...\n")
    text = f"""\
train: mine.py:train
objective: {{metric: f1, direction: minimize}}
space:
  {name}: {{choices: [1, 2]}}
"""
    (problem,) = problems_of(tmp_path, text)
    assert problem.startswith(f"4: space.{name} is ")
    assert problem.endswith("rename it")


def test_times_are_seconds(tmp_path: Path) -> None:
    for text, seconds in {"90s": 90, "2h": 7200, "1h30m": 5400, "1.5d": 129600}.items():
        spec = load_text(tmp_path, f"{GOOD}budget: {{timeout: {text}}}\n")
        assert spec.budget.timeout_s == seconds


def test_a_study_in_flow_style_is_read_like_one_in_block_style(tmp_path: Path) -> None:
    space = f"space: {{{OPTIMIZER.strip()}, {LR.strip()}}}\n"
    flow = ", ".join(GOOD.replace(SPACE, space).splitlines())
    assert load_text(tmp_path, f"{{{flow}}}") == load_text(tmp_path, GOOD)
