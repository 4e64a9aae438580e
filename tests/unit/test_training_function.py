"""A user's own train function: how it is found, called and held to its contract."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sweep.errors import BrokenContractError, TrainFunctionError
from sweep.spec.recipe import DataSpec, ModelSpec, RecipeSpec
from sweep.training.function import EpochResult, epochs_of, load_train_function


@pytest.fixture(autouse=True)
def _path_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def own(folder: Path, code: str, name: str = "train") -> RecipeSpec:
    path = folder / "mine.py"
    path.write_text(code)
    return RecipeSpec(train=f"{path}:{name}")


def run(recipe: RecipeSpec, state: Any = None, seed: int = 0, **params: Any) -> list[EpochResult]:
    return list(epochs_of(load_train_function(recipe), params, seed, "cpu", state))


def run_code(folder: Path, body: str) -> list[EpochResult]:
    return run(own(folder, f"def train(params, device, state=None):\n    {body}\n"))


def test_it_gets_params_device_and_state_and_yields_metrics_and_state(tmp_path: Path) -> None:
    recipe = own(
        tmp_path,
        "def train(params, device, state=None):\n"
        "    for epoch in range(state['next'] if state else 0, params['epochs']):\n"
        "        yield {'accuracy': params['lr'], 'on': len(device)}, {'next': epoch + 1}\n",
    )
    first = run(recipe, epochs=3, lr=0.5)
    assert [epoch.metrics for epoch in first] == [{"accuracy": 0.5, "on": 3.0}] * 3
    assert len(run(recipe, state=first[0].state, epochs=3, lr=0.5)) == 2


def test_metrics_alone_mean_that_there_is_no_state(tmp_path: Path) -> None:
    [epoch] = run_code(tmp_path, "yield {'accuracy': 1}")
    assert epoch.metrics == {"accuracy": 1.0}
    assert epoch.state is None


def test_a_function_without_a_state_argument_is_called_without_one(tmp_path: Path) -> None:
    recipe = own(tmp_path, "def train(params, device):\n    yield {'accuracy': 1}\n")
    assert len(run(recipe, state={"next": 3})) == 1


def test_closing_closes_the_users_function(tmp_path: Path) -> None:
    recipe = own(
        tmp_path,
        "def train(params, device, state=None):\n"
        "    try:\n"
        "        while True:\n"
        "            yield {'accuracy': 1}\n"
        "    finally:\n"
        "        open(params['marker'], 'w').close()\n",
    )
    marker = tmp_path / "closed"
    epochs = epochs_of(load_train_function(recipe), {"marker": str(marker)}, 0, "cpu")
    next(epochs)
    assert not marker.exists()
    epochs.close()
    assert marker.exists()


def test_what_it_raises_passes_through_with_its_own_lines(tmp_path: Path) -> None:
    recipe = own(tmp_path, "def train(params, device, state=None):\n    yield {'a': 1 / 0}\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run(recipe)
    last = caught.traceback[-1]
    assert Path(last.path).name == "mine.py"
    assert last.lineno == 1


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.5), np.int64(3), torch.tensor(0.5)])
def test_single_numbers_of_every_library_are_numbers(value: Any) -> None:
    def function(*_: Any) -> Iterator[Any]:
        yield {"accuracy": value}

    [epoch] = epochs_of(function, {}, 0, "cpu")
    assert epoch.metrics == {"accuracy": float(value)}
    assert type(epoch.metrics["accuracy"]) is float


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_handed_on(value: float) -> None:
    def function(*_: Any) -> Iterator[Any]:
        yield {"loss": value}

    [epoch] = epochs_of(function, {}, 0, "cpu")
    assert repr(epoch.metrics["loss"]) == repr(value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return\n    yield", "ended without a yield"),
        ("yield 'text'", "yields str 'text'; it must yield a dict of metrics"),
        ("yield 0.5", "yields float 0.5"),
        ("yield None", "yields None"),
        ("yield ('a', 'b')", "yields tuple ('a', 'b')"),
        ("yield {}", "yields an empty dict"),
        ("yield {'a': 'b'}", "metric a is str 'b'; it must be a number"),
        ("yield {'a': True}", "metric a is bool True"),
        ("yield {'a': None}", "metric a is None"),
        ("yield {'a': [1, 2]}", "metric a is list [1, 2]"),
        ("yield {1: 0.5}", "names a metric 1; a name is letters, digits and _"),
        ("yield {'a b': 0.5}", "names a metric 'a b'"),
    ],
)
def test_what_is_no_epoch_breaks_the_contract(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(BrokenContractError) as caught:
        run_code(tmp_path, body)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_array_of_numbers_is_no_metric() -> None:
    def function(*_: Any) -> Iterator[Any]:
        yield {"a": torch.zeros(3)}

    with pytest.raises(BrokenContractError, match="metric a is Tensor"):
        list(epochs_of(function, {}, 0, "cpu"))


def test_resuming_after_the_last_epoch_yields_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    recipe = own(tmp_path, "def train(params, device, state=None):\n    yield from ()\n")
    assert run(recipe, state={"next": 3}) == []


def test_a_trials_seed_decides_the_random_numbers_of_a_function_that_seeds_nothing(
    tmp_path: Path,
) -> None:
    recipe = own(
        tmp_path,
        "import random, numpy, torch\n"
        "def train(params, device, state=None):\n"
        "    yield {'a': random.random(), 'b': numpy.random.rand(), 'c': torch.rand(1)}\n",
    )
    first, again, other = (run(recipe, seed=seed)[0].metrics for seed in (5, 5, 2**40))
    assert first == again
    assert all(first[name] != other[name] for name in first)


def test_siblings_of_its_file_can_be_imported_also_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "beside_one.py").write_text("VALUE = 1\n")
    (tmp_path / "beside_two.py").write_text("VALUE = 2\n")
    recipe = own(
        tmp_path,
        "from beside_one import VALUE\n"
        "def train(params, device, state=None):\n"
        "    import beside_two\n"
        "    yield {'a': VALUE + beside_two.VALUE}\n",
    )
    assert run(recipe)[0].metrics == {"a": 3.0}


def test_files_of_the_same_name_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    results = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        code = f"def train(params, device, state=None):\n    yield {{'a': {number}}}\n"
        results.append(run(own(folder, code))[0].metrics["a"])
    assert results == [1, 2]


def test_a_dataclass_in_its_file_finds_its_module(tmp_path: Path) -> None:
    recipe = own(
        tmp_path,
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Config:\n"
        "    lr: float\n"
        "def train(params, device, state=None):\n"
        "    yield {'a': Config(2).lr}\n",
    )
    assert run(recipe)[0].metrics == {"a": 2.0}


def test_a_decorated_generator_function_is_one(tmp_path: Path) -> None:
    recipe = own(
        tmp_path,
        "import functools\n"
        "def logged(function):\n"
        "    @functools.wraps(function)\n"
        "    def wrapper(*arguments):\n"
        "        return function(*arguments)\n"
        "    return wrapper\n"
        "@logged\n"
        "def train(params, device, state=None):\n"
        "    yield {'a': 1}\n",
    )
    assert len(run(recipe)) == 1


def test_a_function_of_an_installed_package_is_found_by_its_dotted_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_package").mkdir()
    (tmp_path / "a_package" / "__init__.py").touch()
    (tmp_path / "a_package" / "part.py").write_text(
        "def train(params, device, state=None):\n    yield {'a': 1}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert len(run(RecipeSpec(train="a_package.part:train"))) == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def train(params, device): return 1", "is not a generator: it has no yield"),
        ("train = 3", "has no function train"),
        ("def trains(p, d): yield", "has no function train; did you mean trains?"),
        ("def Train(p, d): yield", "has no function train; did you mean Train?"),
        ("def train(params): yield", "takes (params); it must take (params, device, state=None)"),
        ("import nothing_like_it", "mine.py:1 cannot be imported: ModuleNotFoundError: No module"),
        ("x = 1\ny = x / 0", "mine.py:2 cannot be imported: ZeroDivisionError: division by zero"),
        ("def train(:", "mine.py cannot be imported: SyntaxError: invalid syntax"),
        ("raise SystemExit", "mine.py:1 cannot be imported: SystemExit: it ended the program"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, code: str, message: str
) -> None:
    with pytest.raises(TrainFunctionError) as caught:
        load_train_function(own(tmp_path, code))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("/nowhere/mine.py:train", "/nowhere/mine.py: no such file"),
        ("no_package_of_this_name:train", "No module named 'no_package_of_this_name'"),
        ("/nowhere/mine.py", "names no function; write ./mine.py:train"),
        ("train", "names no function"),
    ],
)
def test_a_reference_to_nothing_is_refused(reference: str, message: str) -> None:
    with pytest.raises(TrainFunctionError) as caught:
        load_train_function(RecipeSpec(train=reference))
    assert message in str(caught.value)


def test_a_failed_import_leaves_no_half_made_module(tmp_path: Path) -> None:
    before = set(sys.modules)
    with pytest.raises(TrainFunctionError):
        load_train_function(own(tmp_path, "raise ValueError"))
    assert {name for name in set(sys.modules) - before if "mine" in name} == set()


def test_the_built_in_training_is_called_in_the_same_way() -> None:
    recipe = RecipeSpec(data=DataSpec(name="digits"), model=ModelSpec(width=2))
    [epoch] = run(recipe, epochs=1, batch_size=512, lr=0.1)
    assert epoch.metrics["lr"] == 0.1
    assert epoch.state["epoch"] == 0


def test_the_built_in_training_needs_data_and_model() -> None:
    with pytest.raises(TrainFunctionError, match="needs data and model"):
        load_train_function(RecipeSpec())
