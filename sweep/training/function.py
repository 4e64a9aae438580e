"""The train function of a recipe, ours or the user's, under one signature; and its contract."""

import inspect
import random
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from sweep.errors import BrokenContractError, TrainFunctionError
from sweep.spec.recipe import RecipeSpec
from sweep.spec.training import resolve_training
from sweep.training.loading import load_object
from sweep.training.ranks import ranks_here
from sweep.training.train import TrainConfig, train
from sweep.training.workbench import Workbench

TrainFunction: TypeAlias = Callable[
    [Mapping[str, Any], int, str, Mapping[str, Any] | None], Generator[Any, None, None]
]
"""From flat params, the trial's seed, a torch device and the state to go on from, to epochs."""

SEED_LIMIT = 2**32


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EpochResult:
    """What a train function said of one epoch. `state` is None where it gave none."""

    metrics: dict[str, float]
    state: Any = None


def load_train_function(recipe: RecipeSpec) -> TrainFunction:
    """The recipe's train function, ready to be called; nothing is trained yet.

    Raises TrainFunctionError when the user's is missing, cannot be imported or is no generator.
    """
    if recipe.train is None:
        return _built_in(recipe)
    function = load_object(recipe.train)
    if not inspect.isgeneratorfunction(inspect.unwrap(function)):
        raise TrainFunctionError(
            f"{recipe.train} is not a generator: it has no yield; "
            "write def train(params, device, state=None) that yields a dict of metrics each epoch"
        )
    return _users_own(function, recipe.train)


def epochs_of(
    function: TrainFunction,
    params: Mapping[str, Any],
    seed: int,
    device: str,
    state: Any = None,
) -> Generator[EpochResult, None, None]:
    """The epochs of a train function, each checked; closing this closes the function.

    Raises BrokenContractError when it yields nothing, or anything but a mapping of names to
    numbers, alone or with a state. What the function itself raises passes through.
    """
    with closing(function(params, seed, device, state)) as epochs:
        has_yielded = False
        for yielded in epochs:
            has_yielded = True
            yield _checked(yielded)
    if not has_yielded and state is None:
        raise BrokenContractError("the train function ended without a yield; yield each epoch")


def _built_in(recipe: RecipeSpec) -> TrainFunction:
    data, model = recipe.data, recipe.model
    if data is None or model is None:
        raise TrainFunctionError("the built-in training needs data and model in the study file")

    workbench = Workbench()

    def train_recipe(
        params: Mapping[str, Any], seed: int, device: str, state: Mapping[str, Any] | None
    ) -> Generator[Any, None, None]:
        config = TrainConfig(data=data, model=model, training=resolve_training(params), seed=seed)
        ranks = ranks_here()
        if ranks.count == 1:
            return train(config, device, state, workbench)
        workbench.clear()  # a model that others have a hand in is made anew each time
        return train(config, device, state, ranks=ranks)

    return train_recipe


def _users_own(function: Callable[..., Any], name: str) -> TrainFunction:
    takes_state = _takes(function, 3, name)

    def train_own(
        params: Mapping[str, Any], seed: int, device: str, state: Mapping[str, Any] | None
    ) -> Generator[Any, None, None]:
        _seed_globals(seed)
        arguments = (dict(params), device, state) if takes_state else (dict(params), device)
        yield from function(*arguments)

    return train_own


def _takes(function: Callable[..., Any], num_arguments: int, name: str) -> bool:
    """Whether the function can be called with so many arguments; with one less it must be."""
    signature = inspect.signature(function)
    for count in (num_arguments, num_arguments - 1):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count == num_arguments
    raise TrainFunctionError(
        f"{name} takes {signature}; it must take (params, device, state=None)"
    )


def _seed_globals(seed: int) -> None:
    """A user's function that seeds nothing itself still repeats itself with its trial's seed."""
    random.seed(seed)
    np.random.seed(seed % SEED_LIMIT)
    torch.manual_seed(seed)


def _checked(yielded: Any) -> EpochResult:
    metrics, state = yielded if _is_pair(yielded) else (yielded, None)
    if not isinstance(metrics, Mapping):
        raise BrokenContractError(
            f"the train function yields {_described(yielded)}; "
            'it must yield a dict of metrics, such as {"test_accuracy": 0.9}, or (dict, state)'
        )
    if not metrics:
        raise BrokenContractError("the train function yields an empty dict; name a metric in it")
    return EpochResult(
        metrics={_name(key): _number(key, value) for key, value in metrics.items()}, state=state
    )


def _is_pair(yielded: Any) -> bool:
    return isinstance(yielded, tuple) and len(yielded) == 2


def _name(key: Any) -> str:
    if not isinstance(key, str) or not key.isidentifier():
        raise BrokenContractError(
            f"the train function names a metric {key!r}; a name is letters, digits and _"
        )
    return key


def _number(name: str, value: Any) -> float:
    """The value as Python's own number; NumPy's and torch's single numbers count, bools do not."""
    single = value.item() if _is_single(value) else value
    if isinstance(single, bool) or not isinstance(single, int | float):
        raise BrokenContractError(
            f"the train function's metric {name} is {_described(value)}; it must be a number"
        )
    return float(single)


def _is_single(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.numel() == 1
    return isinstance(value, np.generic | np.ndarray) and value.size == 1


def _described(value: Any) -> str:
    text = repr(value)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return f"{type(value).__name__} {shown}" if value is not None else "None"
