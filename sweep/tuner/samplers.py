"""Samplers by name: which Optuna sampler draws the params of one trial."""

import hashlib
import warnings

from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, RandomSampler, TPESampler

from sweep.spec.study import SearchSpec


def sampler_for(search: SearchSpec, number: int, draw: int) -> BaseSampler:
    """A fresh sampler for one draw of one trial, seeded by the study's seed and both numbers.

    Fresh and seeded so that a study that was interrupted draws what an unbroken one would have.
    """
    seed = _derived_seed(search.seed, number, draw)
    if search.sampler == "random":
        return RandomSampler(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # TPE's `group`, since Optuna 2.8
        return TPESampler(n_startup_trials=search.startup_trials, group=True, seed=seed)


def trial_seed(study_seed: int, number: int) -> int:
    """The seed of a trial's training: 31 bits drawn from the study's seed and its number."""
    return _derived_seed(study_seed, number, None) >> 1


def _derived_seed(study_seed: int, number: int, draw: int | None) -> int:
    text = f"{study_seed}:{number}" if draw is None else f"{study_seed}:{number}:{draw}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
