"""Distribution names: how a param of our space appears in the tuner's in-memory Optuna study.

A param whose alternatives differ by condition becomes one Optuna param for each alternative, so
that the sampler learns each range apart. A float with a step appears as the index of its value,
which has one exact form. Constants are not shown to the sampler at all.
"""

from collections.abc import Iterator

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import Trial

from sweep.records import Params, ParamValue
from sweep.space.distributions import Categorical, Constant, Distribution, Float, Int
from sweep.space.space import Param, Space


def optuna_distribution(distribution: Float | Int | Categorical) -> BaseDistribution:
    """The Optuna distribution that allows the same values."""
    match distribution:
        case Float(step=float()):
            return IntDistribution(0, _last_index(distribution))
        case Float(low=low, high=high, log=log):
            return FloatDistribution(low, high, log=log)
        case Int(low=low, high=high, log=log, step=step):
            return IntDistribution(low, high, log=log, step=step)
        case Categorical(choices=choices):
            return CategoricalDistribution(choices)


def all_distributions(space: Space) -> dict[str, BaseDistribution]:
    """Every distribution that a sampler may be asked for, whichever conditions hold."""
    return {
        _alternative_name(param, index): optuna_distribution(alternative.distribution)
        for param in space.params
        for index, alternative in enumerate(param.alternatives)
        if not isinstance(alternative.distribution, Constant)
    }


def suggest(trial: Trial, space: Space) -> Params:
    """A point of the space, param by param, each from the alternative that holds."""
    chosen: dict[str, ParamValue] = {}
    for param in space.params:
        chosen[param.name] = _suggest_one(trial, param, chosen)
    return chosen


def sampled_params(
    space: Space, params: Params
) -> tuple[dict[str, ParamValue], dict[str, BaseDistribution]]:
    """The params that a sampler may learn from and their distributions, by Optuna names."""
    values: dict[str, ParamValue] = {}
    distributions: dict[str, BaseDistribution] = {}
    for name, inner_name, distribution in _sampled(space, params):
        values[inner_name] = _inner_value(distribution, params[name])
        distributions[inner_name] = optuna_distribution(distribution)
    return values, distributions


def _sampled(space: Space, params: Params) -> Iterator[tuple[str, str, Float | Int | Categorical]]:
    for param in space.params:
        distribution = param.distribution(params)
        if not isinstance(distribution, Constant):
            yield param.name, _inner_name(param, params), distribution


def _suggest_one(trial: Trial, param: Param, chosen: Params) -> ParamValue:
    distribution: Distribution = param.distribution(chosen)
    name = _inner_name(param, chosen)
    match distribution:
        case Constant(value=value):
            return value
        case Float(step=float()):
            return distribution.at(trial.suggest_int(name, 0, _last_index(distribution)))
        case Float(low=low, high=high, log=log):
            return trial.suggest_float(name, low, high, log=log)
        case Int(low=low, high=high, log=log, step=step):
            return trial.suggest_int(name, low, high, log=log, step=step)
        case Categorical(choices=choices):
            choice = trial.suggest_categorical(name, choices)
            assert choice is not None
            return choice


def _inner_value(distribution: Distribution, value: ParamValue) -> ParamValue:
    if isinstance(distribution, Float) and distribution.step is not None:
        return distribution.index(float(value))
    return value


def _last_index(distribution: Float) -> int:
    assert distribution.num_points is not None
    return distribution.num_points - 1


def _inner_name(param: Param, params: Params) -> str:
    return _alternative_name(param, param.index(params))


def _alternative_name(param: Param, index: int) -> str:
    return param.name if len(param.alternatives) == 1 else f"{param.name}#{index}"
