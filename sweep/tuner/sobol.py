"""Sobol: quasi-random points that fill the space more evenly than random ones.

Sobol, "On the distribution of points in a cube", 1967, scrambled as by Owen. Optuna's QMCSampler
keeps its place in the sequence in the study that it draws for, and begins only when a trial is
complete. Here a point follows from the study's seed and its place alone, and every alternative of
a param has a dimension of its own.
"""

import math
from collections.abc import Mapping
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial
from scipy.stats.qmc import Sobol


class SobolSampler(BaseSampler):
    """Draws the point at one place of the sequence of a seed."""

    def __init__(
        self, distributions: Mapping[str, BaseDistribution], *, seed: int, place: int
    ) -> None:
        self._distributions = dict(distributions)
        self._seed = seed
        self._place = place

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """All of the space, from the first trial on."""
        return self._distributions

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The whole point."""
        if not search_space:
            return {}
        sequence = Sobol(len(search_space), scramble=True, rng=self._seed)
        if self._place > 0:  # SciPy cannot go forward by nothing
            sequence.fast_forward(self._place)
        shares = sequence.random(1)[0].tolist()
        return {
            name: _value(distribution, share)
            for (name, distribution), share in zip(search_space.items(), shares, strict=True)
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Never asked for: `sample_relative` draws every param."""
        raise AssertionError(f"{param_name} is no param of the space")


def _value(distribution: BaseDistribution, share: float) -> Any:
    """The value below which `share` (0..1) of the distribution lies."""
    match distribution:
        case FloatDistribution(low=low, high=high, log=log):
            return min(max(_between(low, high, share, log), low), high)
        case IntDistribution(low=low, high=high, log=True):
            value = round(_between(low - 0.5, high + 0.5, share, True))
            return min(max(value, low), high)
        case IntDistribution(low=low, high=high, step=step):
            return low + step * _index(share, (high - low) // step + 1)
        case CategoricalDistribution(choices=choices):
            return choices[_index(share, len(choices))]
    raise AssertionError(f"{distribution} is none of ours")


def _between(low: float, high: float, share: float, log: bool) -> float:
    if log:
        return math.exp(_between(math.log(low), math.log(high), share, False))
    return low + share * (high - low)


def _index(share: float, count: int) -> int:
    return min(int(share * count), count - 1)
