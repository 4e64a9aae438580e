"""Samplers by name: which sampler draws the params of one trial."""

import hashlib
import warnings
from dataclasses import dataclass

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, GPSampler, RandomSampler, TPESampler

from sweep.space.space import Space
from sweep.spec.study import SearchSpec
from sweep.tuner.distributions import all_distributions
from sweep.tuner.groups import with_quick_groups

_REDRAW_STRIDE = 2**16
"""How far apart in a sequence of points the draws of one trial lie: more than a study has trials
that are drawn, so that no two draws share a place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draw:
    """Which draw it is: the trial's number, how many trials were drawn before it, and how often
    this one was drawn already."""

    number: int
    num_before: int
    attempt: int


def sampler_for(search: SearchSpec, space: Space, draw: Draw) -> BaseSampler:
    """A fresh sampler for one draw of one trial, seeded by the study's seed and both numbers.

    Fresh and seeded so that a study that was interrupted draws what an unbroken one would have.
    The quasi-random sequence is one for the study, with the study's seed, for the same reason.
    """
    seed = _derived_seed(search.seed, draw.number, draw.attempt)
    match search.sampler:
        case "random":
            return RandomSampler(seed=seed)
        case "qmc":
            return _sobol(search, space, draw)
        case "gp":
            return GPSampler(
                seed=seed, n_startup_trials=search.startup_trials, warn_independent_sampling=False
            )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # TPE's `group`, since Optuna 2.8
        sampler = TPESampler(n_startup_trials=search.startup_trials, group=True, seed=seed)
    return with_quick_groups(sampler)


def trial_seed(study_seed: int, number: int) -> int:
    """The seed of a trial's training: 31 bits drawn from the study's seed and its number."""
    return _derived_seed(study_seed, number, None) >> 1


def _sobol(search: SearchSpec, space: Space, draw: Draw) -> BaseSampler:
    # Imported here: SciPy's statistics take most of a second, and no other sampler needs them.
    from sweep.tuner.sobol import SobolSampler

    place = draw.num_before + draw.attempt * _REDRAW_STRIDE
    return SobolSampler(all_distributions(space), seed=search.seed, place=place)


def _derived_seed(study_seed: int, number: int, draw: int | None) -> int:
    text = f"{study_seed}:{number}" if draw is None else f"{study_seed}:{number}:{draw}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
