"""Search checks: samplers and pruners that do not go with the space, the epochs or the trials."""

from sweep.space.space import Space
from sweep.spec.document import Place, dotted
from sweep.spec.reader import Reader
from sweep.spec.study import PRUNER_KEYS, PrunerSpec, SearchSpec


def check_search(
    reader: Reader,
    *,
    search: SearchSpec,
    space: Space | None,
    epochs: int | None,
    num_trials: int | None,
) -> None:
    """Complains about what can never work.

    `epochs` is None where they are not known, `num_trials` where the trials have no limit.
    """
    place: Place = ("search", "pruner")
    _check_acts(reader, place, search.pruner, epochs)
    _check_startup(reader, place, search.pruner, num_trials)
    if search.pruner.name == "hyperband" and epochs is None:
        message = "the pruner hyperband needs to know how long a trial is; add training.epochs"
        reader.complain(place, message)
    if space is not None and space.configurations:
        _check_order(reader, search)
    elif space is not None:
        _check_space(reader, space, search)


def check_bounds(
    reader: Reader, pruner: PrunerSpec, metric: str, place: Place = ("search", "pruner")
) -> None:
    """Complains about a bound that no accuracy of the built-in training can pass."""
    if pruner.pruner is not None:
        check_bounds(reader, pruner.pruner, metric, (*place, "pruner"))
    if not metric.endswith("_accuracy"):
        return
    for key, bound in (("lower", pruner.lower), ("upper", pruner.upper)):
        if bound is not None and not 0 <= bound <= 1:
            message = f"{dotted((*place, key))} is {bound:g}, but {metric} is a fraction"
            advice = f"write {bound / 100:g}" if 1 < bound <= 100 else "correct it"
            reader.complain((*place, key), f"{message} from 0 to 1; {advice}")


def _check_acts(reader: Reader, place: Place, pruner: PrunerSpec, epochs: int | None) -> None:
    """A pruner is not asked after the last epoch."""
    if epochs is None:
        return
    if "min_epochs" in PRUNER_KEYS[pruner.name] and pruner.min_epochs >= epochs:
        message = f"the pruner can never act: min_epochs {pruner.min_epochs} of {epochs} epochs"
        reader.complain((*place, "min_epochs"), f"{message}; lower it, or use pruner none")
    if pruner.pruner is None:
        return
    # the epoch that was best, those of patience, and the one that is judged
    if pruner.patience + 2 > epochs - 1:
        message = f"the pruner can never act: patience {pruner.patience} of {epochs} epochs"
        reader.complain((*place, "patience"), f"{message}; lower it, or use pruner none")
    _check_acts(reader, (*place, "pruner"), pruner.pruner, epochs)


def _check_startup(
    reader: Reader, place: Place, pruner: PrunerSpec, num_trials: int | None
) -> None:
    """Some pruners compare with complete trials."""
    if pruner.pruner is not None:
        _check_startup(reader, (*place, "pruner"), pruner.pruner, num_trials)
    needs_others = "startup_trials" in PRUNER_KEYS[pruner.name]
    if needs_others and num_trials is not None and pruner.startup_trials >= num_trials:
        message = f"the pruner can never act: startup_trials {pruner.startup_trials}"
        advice = "lower it, or use pruner none"
        reader.complain((*place, "startup_trials"), f"{message} of {num_trials} trials; {advice}")


def _check_order(reader: Reader, search: SearchSpec) -> None:
    if search.sampler != "grid":
        message = f"search.sampler {search.sampler} does not go with configurations"
        reader.complain(("search", "sampler"), f"{message}; they are tried in order: remove it")


def _check_space(reader: Reader, space: Space, search: SearchSpec) -> None:
    for param in space.params:
        if search.sampler == "gp" and param.parents:
            message = f"search.sampler gp cannot learn {param.name}, which has a when"
            reader.complain(("search", "sampler"), f"{message}; use tpe, or remove the when")
        for index, alternative in enumerate(param.alternatives):
            if search.sampler == "grid" and alternative.distribution.num_points is None:
                place = reader.alternative(param.name, index)
                message = f"{dotted(place)} is a range without step, which a grid cannot list"
                reader.complain(place, f"{message}; add step, or write choices")
