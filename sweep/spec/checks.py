"""Checks: what is wrong between the parts of a study file that are each right by themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from sweep.records import Direction
from sweep.space.distributions import Categorical, Constant, Distribution, Float, Int
from sweep.space.space import Space
from sweep.spec.document import Place, dotted
from sweep.spec.key_kinds import Epochs
from sweep.spec.reader import Reader
from sweep.spec.recipe import RecipeSpec
from sweep.spec.search_checks import check_bounds, check_search
from sweep.spec.study import BudgetSpec, Objective, SearchSpec
from sweep.spec.training import TrainingValues
from sweep.spec.words import CHOICE_SLIPS, key_hint

METRICS = (
    "test_accuracy",
    "test_loss",
    "val_accuracy",
    "val_loss",
    "train_accuracy",
    "train_loss",
)
_DEFAULTS = {each.name: each.default for each in fields(TrainingValues)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A study file's parts; None for what could not be read, which was complained about.

    `num_images` is how many there are to train on.
    """

    recipe: RecipeSpec
    objective: Objective | None
    space: Space | None
    training: Mapping[str, Any]
    search: SearchSpec
    budget: BudgetSpec
    num_images: int | None


def check_draft(reader: Reader, draft: Draft, is_own: bool) -> None:
    """Complains about every contradiction between the parts.

    `is_own`: the training is the user's, and what its keys mean is not known.
    """
    check_search(
        reader,
        search=draft.search,
        space=draft.space,
        epochs=_planned_epochs(draft),
        num_trials=_num_trials(reader, draft),
    )
    if is_own:
        return
    _check_metric(reader, draft)
    if draft.objective is not None:
        check_bounds(reader, draft.search.pruner, draft.objective.metric)
    if draft.space is not None:
        _check_batch_size(reader, draft, draft.space)
        _check_schedule(reader, draft, draft.space)


def check_keys_once(reader: Reader, training: Mapping[str, Any]) -> None:
    """Complains about every name that is both searched and fixed."""
    for place in (("space",), ("configurations", 0)):
        given = reader.value(place) if reader.has(place[:1]) else None
        for name in given if isinstance(given, dict) else ():
            if name in training and name != "epochs":
                line = reader.document.mark(("training", name)).line
                where = "training" if line is None else f"training (line {line})"
                message = f"{dotted((*place, name))} is also in {where}; remove one of the two"
                reader.complain((*place, name), message)


def _check_metric(reader: Reader, draft: Draft) -> None:
    if draft.objective is None:
        return
    metric, place = draft.objective.metric, ("objective", "metric")
    if metric not in METRICS:
        slip = CHOICE_SLIPS.get(metric.casefold())
        advice = f"did you mean {slip}?" if slip in METRICS else key_hint(metric, METRICS)
        message = f"objective.metric is '{metric}', which the built-in training does not measure"
        reader.complain(place, f"{message}; {advice}")
    better = Direction.MINIMIZE if metric.endswith("_loss") else Direction.MAXIMIZE
    if metric in METRICS and draft.objective.direction is not better:
        message = f"objective.direction is {draft.objective.direction}, the worst {metric} first"
        reader.complain(("objective", "direction"), f"{message}; write {better}")
    data = draft.recipe.data
    if metric.startswith("val_") and data is not None and data.val_size == 0:
        advice = "raise" if reader.has(("data", "val_size")) else "add"
        message = f"objective.metric {metric} needs validation images; {advice} data.val_size"
        reader.complain(place, message)


def _check_batch_size(reader: Reader, draft: Draft, space: Space) -> None:
    limit = draft.num_images
    for place, values in _possible(reader, draft, space, "batch_size"):
        if limit is not None and max(values) > limit:
            message = f"{_named(place, 'batch_size')} {max(values)} is larger than the data"
            reader.complain(place, f"{message}: {limit} images to train on; take fewer")


def _check_schedule(reader: Reader, draft: Draft, space: Space) -> None:
    """The parts of a schedule lie inside the training, and multistep has its steps."""
    epochs = draft.training.get("epochs")
    milestones = list(_possible(reader, draft, space, "milestones"))
    for place, values in _possible(reader, draft, space, "warmup_epochs"):
        if epochs is not None and 0 < max(values) >= epochs:
            message = f"{_named(place, 'warmup_epochs')} {max(values)} leaves nothing"
            reader.complain(place, f"{message} of {epochs} epochs; take fewer")
    for place, values in milestones:
        last = max((epoch for value in values for epoch in Epochs().fit(value)), default=0)
        if epochs is not None and last >= epochs:
            message = f"{_named(place, 'milestones')} reach epoch {last}, but the last of {epochs}"
            reader.complain(place, f"{message} is epoch {epochs - 1}; take earlier ones")
    for place, values in _possible(reader, draft, space, "schedule"):
        if (
            "multistep" in values
            and milestones
            and all(value == () for _, each in milestones for value in each)
        ):
            message = f"{_named(place, 'schedule')} multistep needs milestones"
            reader.complain(place, f"{message}; add training.milestones")


def _planned_epochs(draft: Draft) -> int | None:
    """How long a trial is; None where only a function of one's own knows."""
    epochs = draft.training.get("epochs")
    return epochs if isinstance(epochs, int) else None


def _num_trials(reader: Reader, draft: Draft) -> int | None:
    """How many trials there can be at most; None without a limit.

    A budget from a flag does not count: it shortens a study to try it out.
    """
    num_points = None if draft.space is None else draft.space.num_points
    is_from_file = reader.document.mark(("budget", "trials")).line is not None
    budget = draft.budget.trials if is_from_file else None
    return min((each for each in (budget, num_points) if each is not None), default=None)


def _possible(
    reader: Reader, draft: Draft, space: Space, key: str
) -> Iterator[tuple[Place, list[Any]]]:
    """Where a training key gets its value, with all the values (of a range: its bounds)."""
    if key in draft.training:
        yield ("training", key), [draft.training[key]]
    elif key in space.names:
        yield from _searched(reader, space, key)
    elif not reader.has(("training", key)):
        yield ("training",), [_DEFAULTS[key]]


def _searched(reader: Reader, space: Space, key: str) -> Iterator[tuple[Place, list[Any]]]:
    for index, configuration in enumerate(space.configurations):
        yield ("configurations", index, key), [configuration[key]]
    for param in space.params:
        for index, alternative in enumerate(param.alternatives if param.name == key else ()):
            place = reader.alternative(key, index)
            yield place, _extremes(alternative.distribution)


def _extremes(distribution: Distribution) -> list[Any]:
    match distribution:
        case Categorical():
            return list(distribution.choices)
        case Constant():
            return [distribution.value]
        case Float() | Int():
            return [distribution.low, distribution.high]


def _named(place: Place, key: str) -> str:
    """The place of a value for a message; for a default, the key and that it is one."""
    return f"the default {key}" if place == ("training",) else dotted(place)
