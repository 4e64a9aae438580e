"""Pruners by name. The in-memory study counts epochs done: the first epoch is step 1."""

import warnings
from types import SimpleNamespace
from typing import Any

from optuna.exceptions import ExperimentalWarning
from optuna.pruners import (
    BasePruner,
    HyperbandPruner,
    MedianPruner,
    NopPruner,
    PatientPruner,
    PercentilePruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)
from optuna.study import Study
from optuna.trial import FrozenTrial

from sweep.spec.study import PrunerSpec

NUMBER_KEY = "number"
"""The user attribute that holds our number of a trial. Optuna's own counts draws that were thrown
away too, and so is another one after a restart."""


def pruner_for(spec: PrunerSpec, epochs: int | None) -> BasePruner:
    """The Optuna pruner that a study file names; it acts once `min_epochs` epochs are done.

    `epochs` is how long a trial is, which Hyperband alone needs.
    """
    match spec.name:
        case "median":
            return MedianPruner(spec.startup_trials, n_warmup_steps=spec.min_epochs)
        case "percentile":
            return PercentilePruner(
                spec.percentile, spec.startup_trials, n_warmup_steps=spec.min_epochs
            )
        case "asha":
            return SuccessiveHalvingPruner(
                min_resource=spec.min_epochs, reduction_factor=spec.reduction_factor
            )
        case "hyperband":
            assert epochs is not None, "the study file is refused without epochs"
            return _Hyperband(spec, epochs)
        case "threshold":
            return ThresholdPruner(spec.lower, spec.upper, n_warmup_steps=spec.min_epochs)
        case "patient":
            return _patient(spec, epochs)
        case _:
            return NopPruner()


def _patient(spec: PrunerSpec, epochs: int | None) -> BasePruner:
    assert spec.pruner is not None
    is_alone = spec.pruner.name == "none"
    inner = None if is_alone else pruner_for(spec.pruner, epochs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # since Optuna 2.8
        return PatientPruner(inner, spec.patience)


class _Hyperband(BasePruner):
    """Hyperband, which TPE does not see.

    TPE would learn from the trials of one bracket only: with four brackets and forty trials,
    hardly ever.
    """

    def __init__(self, spec: PrunerSpec, epochs: int) -> None:
        self._brackets = _Brackets(spec.min_epochs, epochs, spec.reduction_factor)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        return self._brackets.prune(study, trial)


class _Brackets(HyperbandPruner):
    """Brackets that follow from our numbers of the trials, and so are the same after a restart."""

    def _get_bracket_id(self, study: Study, trial: FrozenTrial) -> int:
        numbered: Any = SimpleNamespace(number=trial.user_attrs[NUMBER_KEY])
        return super()._get_bracket_id(study, numbered)
