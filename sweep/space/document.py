"""The document: a space as plain JSON values, for whoever keeps it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sweep.space.distributions import Categorical, Constant, Distribution, Float, Int
from sweep.space.space import Alternative, Param, Space

_TYPES: dict[str, type[Distribution]] = {
    "float": Float,
    "int": Int,
    "categorical": Categorical,
    "constant": Constant,
}


def to_json(space: Space) -> dict[str, Any]:
    """The space as plain JSON values, from which `from_json` makes an equal one."""
    return {
        "columns": list(space.names),
        "params": [
            {"name": param.name, "alternatives": [_to_json(each) for each in param.alternatives]}
            for param in space.params
        ],
        "configurations": [dict(each) for each in space.configurations],
    }


def from_json(document: Mapping[str, Any]) -> Space:
    """The space that `to_json` described."""
    columns = tuple(document["columns"])
    params = (
        Param(
            name=each["name"],
            alternatives=tuple(_from_json(alternative) for alternative in each["alternatives"]),
        )
        for each in document["params"]
    )
    rows = document["configurations"]
    configurations = tuple({name: row[name] for name in columns} for row in rows)
    return Space(params=tuple(params), configurations=configurations, columns=columns)


def _to_json(alternative: Alternative) -> dict[str, Any]:
    distribution = alternative.distribution
    kind = next(name for name, each in _TYPES.items() if isinstance(distribution, each))
    return {
        "when": {name: list(values) for name, values in alternative.when.items()},
        "distribution": {"type": kind, **asdict(distribution)},
    }


def _from_json(document: Mapping[str, Any]) -> Alternative:
    values = dict(document["distribution"])
    kind = _TYPES[values.pop("type")]
    if "choices" in values:
        values["choices"] = tuple(values["choices"])
    when = {name: tuple(each) for name, each in document["when"].items()}
    return Alternative(when=when, distribution=kind(**values))
