"""Projected trials: how a trial of ours looks in Optuna's tables.

There a param has one name and one kind of distribution for all trials, whatever its conditions.
Constants and the params of whole configurations are shown too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial
from optuna.trial import TrialState as OptunaState

from sweep.records import Params, ParamValue, Trial, TrialState
from sweep.space.distributions import Categorical, Constant, Distribution, Float, Int
from sweep.space.space import Param, Space
from sweep.tuner.states import optuna_state


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectedParam:
    """A param in Optuna's tables: its name and distribution for each of its alternatives."""

    param: Param | None
    name: str
    names: tuple[str, ...]
    distributions: tuple[BaseDistribution, ...]

    def index(self, params: Params) -> int:
        return 0 if self.param is None else self.param.index(params)


def projected_params(space: Space) -> tuple[ProjectedParam, ...]:
    """Every param of a space as Optuna's tables can hold it, in the order of the study file."""
    if space.configurations:
        return tuple(_of_configurations(space, name) for name in space.names)
    by_name = {param.name: param for param in space.params}
    return tuple(_of_param(by_name[name]) for name in space.names)


def as_optuna(
    trial: Trial, values: Mapping[int, float], projected: Sequence[ProjectedParam]
) -> FrozenTrial:
    """A trial of ours as Optuna's tables hold it; `values` is the objective by epoch."""
    params: dict[str, ParamValue] = {}
    distributions: dict[str, BaseDistribution] = {}
    for each in projected:
        index = each.index(trial.params)
        params[each.names[index]] = trial.params[each.name]
        distributions[each.names[index]] = each.distributions[index]
    state = OptunaState.FAIL if trial.excluded else optuna_state(trial.state, trial.cause)
    return FrozenTrial(
        number=-1,  # Optuna numbers a trial when it is added
        trial_id=-1,
        state=state,
        value=final_value(trial),
        datetime_start=trial.started_at or trial.created_at,
        datetime_complete=trial.finished_at if trial.state.is_finished else None,
        params=params,
        distributions=distributions,
        user_attrs=_user_attrs(trial),
        system_attrs={},
        intermediate_values=dict(values),
    )


def final_value(trial: Trial) -> float | None:
    """The value that Optuna's tables hold: for complete and pruned trials that count only."""
    has_value = trial.state in (TrialState.COMPLETE, TrialState.PRUNED) and not trial.excluded
    return trial.value if has_value else None


def _user_attrs(trial: Trial) -> dict[str, Any]:
    attrs: dict[str, Any] = {"trial": trial.number, "seed": trial.seed}
    if trial.cause is not None:
        attrs["cause"] = str(trial.cause)
    if trial.excluded:
        attrs["excluded"] = True
    return attrs


def _of_configurations(space: Space, name: str) -> ProjectedParam:
    choices = tuple(dict.fromkeys(each[name] for each in space.configurations))
    return ProjectedParam(
        param=None, name=name, names=(name,), distributions=(CategoricalDistribution(choices),)
    )


def _of_param(param: Param) -> ProjectedParam:
    kinds = [alternative.distribution for alternative in param.alternatives]
    names = (param.name,) * len(kinds)
    if all(isinstance(kind, Categorical | Constant) for kind in kinds) and not _are_numbers(kinds):
        distributions = _one_choice_list(kinds)
    elif _are_numbers(kinds):
        distributions = _number_ranges(kinds)
    else:
        distributions = [_alone(kind) for kind in kinds]
        names = tuple(f"{param.name} ({index})" for index in range(len(kinds)))
    return ProjectedParam(
        param=param, name=param.name, names=names, distributions=tuple(distributions)
    )


def _are_numbers(kinds: Sequence[Distribution]) -> bool:
    return all(
        isinstance(kind, Float | Int) or (isinstance(kind, Constant) and _is_number(kind.value))
        for kind in kinds
    )


def _one_choice_list(kinds: Sequence[Distribution]) -> list[BaseDistribution]:
    choices = tuple(dict.fromkeys(value for kind in kinds for value in kind.values()))
    return [CategoricalDistribution(choices) for _ in kinds]


def _number_ranges(kinds: Sequence[Distribution]) -> list[BaseDistribution]:
    bounds = [_bounds(kind) for kind in kinds]
    ranges = [kind for kind in kinds if isinstance(kind, Float | Int)]
    is_log = bool(ranges) and all(kind.log for kind in ranges) and min(bounds)[0] > 0
    if all(isinstance(low, int) and isinstance(high, int) for low, high in bounds):
        return [IntDistribution(int(low), int(high), log=is_log) for low, high in bounds]
    return [FloatDistribution(float(low), float(high), log=is_log) for low, high in bounds]


def _bounds(kind: Distribution) -> tuple[float, float]:
    match kind:
        case Float(low=low, high=high) | Int(low=low, high=high):
            return low, high
        case Constant(value=int() | float() as value):
            return value, value
    raise AssertionError(f"{kind} is no range of numbers")


def _alone(kind: Distribution) -> BaseDistribution:
    if isinstance(kind, Float | Int):
        return _number_ranges([kind])[0]
    return CategoricalDistribution(tuple(kind.values()))


def _is_number(value: ParamValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
