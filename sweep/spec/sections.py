"""Sections: how a study is searched, what it may use and what it keeps, read by their tables."""

from sweep.records import Direction
from sweep.space.space import Space
from sweep.spec.key_kinds import GPU_COUNT, CountOrAuto, Duration, Size, StudyName
from sweep.spec.kind import Kind, found
from sweep.spec.kinds import Number, OneOf, Text, Whole
from sweep.spec.pruner_reader import read_pruner
from sweep.spec.reader import Reader
from sweep.spec.resources import GPUS_PER_TRIAL, ResourcesSpec, most_gpus
from sweep.spec.study import BudgetSpec, CheckpointsSpec, Objective, SearchSpec

TOP_KEYS = (
    "version",
    "study",
    "description",
    "train",
    "data",
    "model",
    "objective",
    "space",
    "configurations",
    "training",
    "search",
    "enqueue",
    "budget",
    "checkpoints",
    "resources",
    "log",
)
OBJECTIVE: dict[str, Kind] = {
    "metric": Text(100),
    "direction": OneOf(("maximize", "minimize")),
}
SEARCH: dict[str, Kind] = {
    "sampler": OneOf(("tpe", "random", "grid", "qmc", "gp")),
    "seed": Whole(0, 2**32 - 1),
    "startup_trials": Whole(1, 1_000_000),
}
_PRICES = ("price_per_hour", "price_per_gpu_hour")
_PRICE = Number(0, above=True)
BUDGET: dict[str, Kind] = {
    "trials": Whole(1, 1_000_000),
    "timeout": Duration(),
    "max_cost": _PRICE,
    "price_per_hour": _PRICE,
    "price_per_gpu_hour": _PRICE,
    "currency": Text(8),
}
CHECKPOINTS: dict[str, Kind] = {
    "every_epochs": Whole(1, 1_000_000),
    "keep": OneOf(("best_and_last", "last", "all", "none")),
    "max_disk": Size(),
}
RESOURCES: dict[str, Kind] = {
    "hang_after": Duration(),
    GPUS_PER_TRIAL: GPU_COUNT,
    "trials_per_gpu": CountOrAuto(64),
}


def read_head(reader: Reader, default_name: str) -> tuple[str, str]:
    """The study's name and description; complains about top-level keys that are not known."""
    top = reader.mapping((), TOP_KEYS)
    reader.check_keys((), top, TOP_KEYS)
    version = top.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or version != 1:
        message = f"version is {found(version)}; this release reads version 1: write version: 1"
        reader.complain(("version",), message)
    name = reader.fit(("study",), top.get("study", default_name), StudyName())
    if "description" not in top:
        return str(name), ""
    kind = Text(10_000, several_lines=True)
    return str(name), str(reader.fit(("description",), top["description"], kind))


def read_objective(reader: Reader) -> Objective | None:
    """What is optimized; None after a complaint."""
    if not reader.require(("objective",), "{metric: test_accuracy, direction: maximize}"):
        return None
    values = reader.section(("objective",), OBJECTIVE)
    if isinstance(reader.value(("objective",)), dict):
        for key, kind in OBJECTIVE.items():
            reader.require(("objective", key), kind.allowed)
    if len(values) < len(OBJECTIVE):
        return None
    return Objective(metric=values["metric"], direction=Direction(values["direction"]))


def read_search(reader: Reader, default_sampler: str) -> SearchSpec:
    """How params are chosen and trials are stopped early."""
    values = reader.section(("search",), SEARCH, also=("pruner",))
    return SearchSpec(**{"sampler": default_sampler, **values}, pruner=read_pruner(reader))


def read_budget(reader: Reader) -> BudgetSpec:
    """What the study may use in all; a price belongs to a cost."""
    values = reader.section(("budget",), BUDGET)
    num_prices = sum(reader.has(("budget", key)) for key in _PRICES)
    if num_prices == 2:
        message = "budget has both price_per_hour and price_per_gpu_hour; remove one"
        reader.complain(("budget", "price_per_gpu_hour"), message)
    if "max_cost" in values and num_prices == 0:
        message = "budget.max_cost needs a price: add price_per_hour or price_per_gpu_hour"
        reader.complain(("budget", "max_cost"), message)
    timeout = {"timeout_s": values.pop("timeout")} if "timeout" in values else {}
    return BudgetSpec(**values, **timeout)


def read_checkpoints(reader: Reader) -> CheckpointsSpec:
    """How often the state to resume from is saved, and what stays."""
    values = reader.section(("checkpoints",), CHECKPOINTS)
    limit = {"max_disk_bytes": values.pop("max_disk")} if "max_disk" in values else {}
    return CheckpointsSpec(**values, **limit)


def read_resources(reader: Reader, space: Space | None) -> ResourcesSpec:
    """What each trial gets; complains where two keys contradict each other."""
    values = reader.section(("resources",), RESOURCES)
    hang = {"hang_after_s": values.pop("hang_after")} if "hang_after" in values else {}
    resources = ResourcesSpec(**values, **hang)
    place = ("resources", GPUS_PER_TRIAL)
    if space is not None and GPUS_PER_TRIAL in space.names and reader.has(place):
        message = "resources.gpus_per_trial is also in the space; remove one of the two"
        reader.complain(place, message)
    most = resources.gpus_per_trial if space is None else most_gpus(resources, space)
    if resources.shares_gpus and most > 1:
        message = f"resources.trials_per_gpu does not go with {most} GPUs for a trial"
        reader.complain(("resources", "trials_per_gpu"), f"{message}; remove one of the two")
    return resources
