"""Recipe facts: what a study trained and searched, and with which versions, as lines of text."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from sweep.records import Snapshot
from sweep.space.space import Alternative, Param, Space
from sweep.spec.study import SearchSpec, StudySpec
from sweep.views.display import one_line, show_count, show_moment, show_param

Facts: TypeAlias = list[tuple[str, str]]


def recipe_facts(snapshot: Snapshot) -> Facts:
    """The recipe as names and values: data, model, every training key, and how it is searched."""
    spec = StudySpec.from_json(dict(snapshot.study.spec))
    searched = set(spec.space.names)
    training = {key: v for key, v in spec.flat_params({}).items() if key not in searched}
    return [
        ("objective", f"{spec.objective.direction} {spec.objective.metric}"),
        *_flat(spec.recipe.model_dump(mode="json", exclude_none=True)),
        *_flat({"training": training}),
        *_flat({"search": _search(spec.search)}),
        *_flat({"budget": spec.budget.model_dump(mode="json", exclude_none=True)}),
        *_flat({"resources": spec.resources.model_dump(mode="json", exclude_none=True)}),
    ]


def _search(search: SearchSpec) -> dict[str, Any]:
    """How params are chosen and trials stopped, with the keys that the pruner uses."""
    used = search.pruner.used()
    values = search.model_dump(mode="json")
    return {**values, "pruner": used if len(used) > 1 else used["name"]}


def space_facts(snapshot: Snapshot) -> Facts:
    """The search space: each param, and what it may be."""
    space = StudySpec.from_json(dict(snapshot.study.spec)).space
    if space.configurations:
        count = show_count(len(space.configurations), "whole configuration")
        return [("configurations", f"{count} of {', '.join(space.names)}")]
    return [(param.name, _distribution(param)) for param in _in_file_order(space)]


def origin_facts(snapshot: Snapshot) -> Facts:
    """Where the numbers come from: versions, commit, hash of the spec, seed, creation."""
    study = snapshot.study
    return [
        *((name, str(version)) for name, version in study.versions.items()),
        ("git commit", study.git_commit or "none"),
        ("spec", f"sha256 {study.spec_hash[:12]}, space version {study.space_version}"),
        ("seed", str(study.seed)),
        ("created", show_moment(study.created_at)),
    ]


def _in_file_order(space: Space) -> Iterable[Param]:
    return sorted(space.params, key=lambda param: space.names.index(param.name))


def _distribution(param: Param) -> str:
    return "; ".join(_alternative(alternative) for alternative in param.alternatives)


def _alternative(alternative: Alternative) -> str:
    conditions = [
        f"{name} is {' or '.join(show_param(value) for value in values)}"
        for name, values in alternative.when.items()
    ]
    where = f", when {' and '.join(conditions)}" if conditions else ""
    return f"{alternative.distribution}{where}"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Facts:
    """Nested values under dotted names: training.epochs."""
    facts: Facts = []
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            facts += _flat(value, f"{name}.")
        else:
            facts.append((name, _shown(value)))
    return facts


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(item) for item in value) or "none"
    return one_line(str(value).lower()) if isinstance(value, bool) else one_line(str(value))
