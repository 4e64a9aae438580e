"""A spec as text: what a study file says, with what it leaves to the defaults."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sweep.cli.grid import facts_text
from sweep.coordinator.plan import Plan
from sweep.fleet.slots import Slot
from sweep.records import Outline
from sweep.space.space import Space
from sweep.spec.folder import list_folder
from sweep.spec.recipe import RecipeSpec
from sweep.spec.resources import AUTO
from sweep.spec.study import BudgetSpec, SearchSpec, StudySpec
from sweep.store.url import hide_password
from sweep.views.display import one_line, show_count, show_duration, show_params

_WIDTH = 99


def spec_text(spec: StudySpec) -> str:
    """The study: its space typed, its number of points, its recipe, its search and budget."""
    return facts_text(_facts(spec), _WIDTH)


def plan_text(plan: Plan, outline: Outline | None) -> str:
    """The study, and what a run would do: where, with what, and which trials come first."""
    return facts_text([*_facts(plan.spec), *_plan_facts(plan, outline)], _WIDTH)


def _plan_facts(plan: Plan, outline: Outline | None) -> Iterator[tuple[str, str]]:
    yield "slots", _slots(plan.slots)
    yield "idle", idle_text(plan)
    if plan.extra_trials is not None:
        yield "extra", f"{show_count(plan.extra_trials, 'trial')} more than are finished"
    yield "database", hide_password(plan.url)
    yield "stored", _stored(outline)
    yield "run folder", str(plan.run_folder.absolute())
    yield from _first_points(plan.spec, outline)
    yield "written", "nothing: this was a dry run"


def idle_text(plan: Plan) -> str:
    """Which of the chosen GPUs nothing runs on, and why; empty where there is none."""
    if not plan.idle:
        return ""
    names = ", ".join(device.short_name for device in plan.idle)
    verb = "stays" if len(plan.idle) == 1 else "stay"
    return f"{names} {verb} idle: a trial has {len(plan.slots[0].devices)} GPUs"


def _slots(slots: Sequence[Slot]) -> str:
    """How many there are, on which devices, and what each of them has."""
    devices = {
        device.uuid: f"{device.short_name} ({device.name})"
        for slot in slots
        for device in slot.devices
        if device.uuid
    }
    first = slots[0]
    threads = show_count(first.num_threads, "thread")
    has = threads if not first.others else f"{len(first.devices)} processes of {threads}"
    limit = first.memory_limit_bytes
    room = "" if limit is None else f" and {limit / 2**20:.0f} MiB"
    return f"{len(slots)} on {', '.join(devices.values()) or 'the CPU'}, each with {has}{room}"


def _facts(spec: StudySpec) -> Iterator[tuple[str, str]]:
    yield "study", spec.study
    yield "", " ".join(one_line(line) for line in spec.description.splitlines())
    yield "objective", f"{spec.objective.direction} {spec.objective.metric}"
    yield from _recipe(spec.recipe)
    yield from _space(spec.space)
    yield "points", _points(spec.space)
    yield "training", _values(spec.training) or "all defaults"
    yield "defaults", _values(_defaults(spec))
    yield "search", _search(spec.search)
    yield "pruner", _pruner(spec.search)
    yield "enqueue", _enqueue(spec)
    yield "budget", _budget(spec.budget)
    yield "resources", _resources(spec)


def _recipe(recipe: RecipeSpec) -> Iterator[tuple[str, str]]:
    if recipe.train is not None:
        yield "train", recipe.train
    if recipe.data is not None:
        data = recipe.data.model_dump(exclude_none=True)
        yield "data", _values(data | {"augment": data["augment"] or "by data set"})
        if recipe.data.name == "folder":
            yield "images", str(list_folder(Path(str(recipe.data.path)), recipe.data.test_split))
    if recipe.model is not None:
        model = recipe.model.model_dump(exclude_none=True)
        yield (
            "model",
            _values(model if recipe.model.factory is None else {"factory": recipe.model.factory}),
        )


def _space(space: Space) -> Iterator[tuple[str, str]]:
    params = sorted(space.params, key=lambda param: space.names.index(param.name))
    title = "space"
    for param in params:
        for alternative in param.alternatives:
            yield title, f"{one_line(param.name)}: {alternative}"
            title = ""
    for configuration in space.configurations:
        yield title, show_params(configuration)
        title = ""


def _points(space: Space) -> str:
    return "without end" if space.num_points is None else str(space.num_points)


def _defaults(spec: StudySpec) -> dict[str, Any]:
    given = {*spec.training, *spec.space.names}
    return {key: value for key, value in spec.flat_params({}).items() if key not in given}


def _search(search: SearchSpec) -> str:
    learns = search.sampler in ("tpe", "gp")
    first = f", {search.startup_trials} random trials first" if learns else ""
    return f"{search.sampler}, seed {search.seed}{first}"


def _pruner(search: SearchSpec) -> str:
    values = dict(search.pruner.used())
    name = values.pop("name")
    return f"{name}, {_values(values)}" if values else str(name)


def _enqueue(spec: StudySpec) -> str:
    return f"{show_count(len(spec.enqueue), 'point')} first" if spec.enqueue else ""


def _budget(budget: BudgetSpec) -> str:
    limits = (
        None if budget.trials is None else show_count(budget.trials, "trial"),
        None if budget.timeout_s is None else show_duration(budget.timeout_s),
        None if budget.max_cost is None else f"{budget.max_cost:g} {budget.currency}",
    )
    return ", ".join(limit for limit in limits if limit is not None) or "none: until it is stopped"


def _resources(spec: StudySpec) -> str:
    """How many GPUs go with a trial, or trials with a GPU."""
    resources = spec.resources
    if resources.trials_per_gpu == AUTO:
        return "as many trials on a GPU as fit"
    if resources.trials_per_gpu != 1:
        return f"{resources.trials_per_gpu} trials on a GPU"
    if spec.searches_gpus:
        return f"up to {show_count(spec.most_gpus, 'GPU')} for a trial, as its params say"
    return f"{show_count(resources.gpus_per_trial, 'GPU')} for a trial"


def _stored(outline: Outline | None) -> str:
    if outline is None:
        return "nothing yet: a new study"
    finished = sum(trial.state.is_finished for trial in outline.trials)
    return f"{show_count(finished, 'finished trial')} of it"


def _first_points(spec: StudySpec, outline: Outline | None) -> Iterator[tuple[str, str]]:
    """The enqueued points, which are certain; the others depend on how trials turn out."""
    title = "first"
    for params in () if outline is not None else spec.enqueue:
        yield title, show_params(params)
        title = ""


def _values(values: Mapping[str, Any], prefix: str = "") -> str:
    return ", ".join(_value(f"{prefix}{name}", value) for name, value in values.items())


def _value(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return _values(value, f"{name}.") or f"{name} none"
    if isinstance(value, list | tuple):
        return f"{name} [{', '.join(map(str, value))}]"
    shown = "none" if value is None else str(value)
    return one_line(f"{name} {shown.lower() if isinstance(value, bool) else shown}")
