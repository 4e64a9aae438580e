"""Pruners by name. The in-memory study counts epochs done: the first epoch is step 1."""

from optuna.pruners import (
    BasePruner,
    MedianPruner,
    NopPruner,
    PercentilePruner,
    SuccessiveHalvingPruner,
)

from sweep.spec.study import PrunerSpec


def pruner_for(spec: PrunerSpec) -> BasePruner:
    """The Optuna pruner that a study file names; it acts once `min_epochs` epochs are done."""
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
        case _:
            return NopPruner()
