"""Differences: what a changed study file means for the study that is stored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from sweep.spec.study import StudySpec


class Kind(StrEnum):
    """What a difference means for the trials that are stored.

    harmless: they stay what they are. space: they become trials of an earlier space version.
    refused: they would not be comparable with new ones.
    """

    HARMLESS = "harmless"
    SPACE = "space"
    REFUSED = "refused"


_KIND_BY_SECTION = {
    "description": Kind.HARMLESS,
    "search": Kind.HARMLESS,
    "enqueue": Kind.HARMLESS,
    "budget": Kind.HARMLESS,
    "checkpoints": Kind.HARMLESS,
    "resources": Kind.HARMLESS,
    "log": Kind.HARMLESS,
    "space": Kind.SPACE,
    "recipe": Kind.REFUSED,
    "objective": Kind.REFUSED,
    "training": Kind.REFUSED,
}
_FILES = ("recipe.train", "recipe.data.path", "recipe.model.factory", "recipe.model.weights")


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One key whose value is not the stored one; None stands for a key that is not there."""

    key: str
    stored: Any
    new: Any
    kind: Kind

    def __str__(self) -> str:
        return f"{self.key.removeprefix('recipe.')}: {_shown(self.stored)} -> {_shown(self.new)}"


def differences(stored: StudySpec, new: StudySpec) -> list[Difference]:
    """What differs between a stored spec and a file's, in the order of the file's sections.

    The study's name is not compared. A file or folder that only moved is a harmless difference.
    """
    olds, news = _flat(stored), _flat(new)
    keys = list(dict.fromkeys((*olds, *news)))
    return [
        Difference(key=key, stored=olds.get(key), new=news.get(key), kind=kind)
        for key in sorted(keys, key=_section_order)
        if olds.get(key) != news.get(key)
        for kind in [_kind(key, olds.get(key), news.get(key))]
    ]


def _flat(spec: StudySpec) -> dict[str, Any]:
    document = spec.to_json()
    params = {param.name: param for param in spec.space.params}
    rows = {"configurations": document["space"]["configurations"]}
    document["space"] = {**params, **rows}
    return {
        key: value
        for section in _KIND_BY_SECTION
        for key, value in _leaves(section, document[section])
    }


def _leaves(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield key, value
        return
    for name, each in value.items():
        yield from _leaves(f"{key}.{name}", each)


def _section_order(key: str) -> int:
    return list(_KIND_BY_SECTION).index(key.partition(".")[0])


def _kind(key: str, stored: Any, new: Any) -> Kind:
    if key == "recipe.data.root":
        return Kind.HARMLESS
    is_file = key in _FILES and isinstance(stored, str) and isinstance(new, str)
    if is_file and PurePath(stored).name == PurePath(new).name:
        return Kind.HARMLESS
    return _KIND_BY_SECTION[key.partition(".")[0]]


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = str(value)
    return text if len(text) <= 150 else f"{text[:147]}..."
