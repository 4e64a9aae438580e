"""The distribution's reader: one alternative of one param, from its mapping in the study file."""

import math
from collections.abc import Mapping
from typing import Any

from sweep.records import ParamValue
from sweep.space.distributions import (
    Categorical,
    Constant,
    Distribution,
    Float,
    Int,
    identity,
    shown,
)
from sweep.space.space import Alternative
from sweep.spec.document import BROKEN, Place, dotted
from sweep.spec.kind import MAX_WHOLE, Kind
from sweep.spec.kinds import Number, OneOf, OrNone, Switch, Whole
from sweep.spec.reader import Reader
from sweep.spec.values import KeyValue, OwnValue

_RANGE = ("type", "low", "high", "log", "step", "when")
_CHOICES = ("type", "choices", "when")
_CONSTANT = ("value", "when")
_KEYS = ("type", "low", "high", "log", "step", "choices", "value", "when")
_TYPE = OneOf(("float", "int", "categorical"))
_MAX_STEPS = 1_000_000_000


def read_alternative(reader: Reader, place: Place, kind: Kind) -> Alternative | None:
    """What a param may be, and when; None after a complaint. The parents are not looked at."""
    num_before = len(reader.problems)
    given = reader.mapping(place, _KEYS)
    if isinstance(reader.value(place), dict):
        reader.check_keys(place, given, _KEYS)
    when = _read_when(reader, (*place, "when"), given)
    distribution = _read_distribution(reader, place, given, kind)
    if distribution is None or len(reader.problems) > num_before:
        return None
    return Alternative(when=when, distribution=distribution)


def _read_distribution(
    reader: Reader, place: Place, given: Mapping[str, Any], kind: Kind
) -> Distribution | None:
    if reader.has((*place, "value")):
        _check_company(reader, place, given, "value", _CONSTANT)
        value = reader.fit((*place, "value"), given.get("value", BROKEN), kind)
        return None if value is BROKEN else Constant(value=value)
    if reader.is_given((*place, "choices")) or given.get("type") == "categorical":
        _check_company(reader, place, given, "choices", _CHOICES)
        return _read_choices(reader, place, given, kind)
    if not any(reader.is_given((*place, key)) for key in _RANGE[:-1]):
        allowed = "type, low and high, or choices, or value"
        reader.complain(place, f"{dotted(place)} says nothing of its values; give {allowed}")
        return None
    return _read_range(reader, place, given, kind)


def _check_company(
    reader: Reader, place: Place, given: Mapping[str, Any], form: str, allowed: tuple[str, ...]
) -> None:
    for key in given:
        if key in _KEYS and key not in allowed:
            message = f"{dotted((*place, key))} does not go with {form}; remove one of the two"
            reader.complain((*place, key), message)


def _read_when(
    reader: Reader, place: Place, given: Mapping[str, Any]
) -> dict[str, tuple[ParamValue, ...]]:
    if "when" not in given:
        return {}
    when = {}
    for name, values in reader.mapping(place, ()).items():
        entries = values if isinstance(values, list) else [values]
        if not entries:
            message = f"{dotted((*place, name))} is an empty list; name the values it holds for"
            reader.complain((*place, name), message)
        fitted = [reader.fit((*place, name), each, OwnValue()) for each in entries]
        when[name] = tuple(value for value in fitted if value is not BROKEN)
    if given["when"] == {}:
        reader.complain(place, f"{dotted(place)} is empty; name a param, or remove it")
    return when


def _read_choices(
    reader: Reader, place: Place, given: Mapping[str, Any], kind: Kind
) -> Categorical | None:
    inner = (*place, "choices")
    _read_type(reader, place, given, OneOf(("categorical",)))
    if not reader.require(inner, "a list of values"):
        return None
    entries = reader.entries(inner)
    if any(each is BROKEN for each in entries):
        return None
    if reader.value(inner) == []:
        reader.complain(inner, f"{dotted(inner)} is an empty list; name at least one choice")
    if len({_sort(each) for each in entries}) > 1:
        sorts = " and ".join(dict.fromkeys(_sort(each) for each in entries))
        reader.complain(inner, f"{dotted(inner)} mixes {sorts}; keep to one sort")
        return None
    if _has_repeated(reader, inner, entries):
        return None
    fitted = [reader.fit((*inner, i), each, kind) for i, each in enumerate(entries)]
    if not fitted or any(value is BROKEN for value in fitted):
        return None
    return Categorical(choices=tuple(fitted))


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "numbers"
    return "empty entries" if value is None else "lists"


def _has_repeated(reader: Reader, place: Place, entries: list[Any]) -> bool:
    firsts: dict[object, int] = {}
    plain = [each for each in entries if isinstance(each, bool | int | float | str)]
    for index, entry in enumerate(plain):
        first = firsts.setdefault(identity(entry), index)
        if first != index:
            both = f"{shown(plain[first])} and {shown(entry)}, which are the same"
            reader.complain((*place, index), f"{dotted(place)} holds {both}; remove one")
    return len(firsts) < len(plain)


def _read_type(reader: Reader, place: Place, given: Mapping[str, Any], kind: Kind) -> Any:
    return reader.fit((*place, "type"), given.get("type", BROKEN), kind)


def _read_range(
    reader: Reader, place: Place, given: Mapping[str, Any], kind: Kind
) -> Float | Int | None:
    reader.require((*place, "type"), "float or int")
    type_name = _read_type(reader, place, given, _TYPE)
    if type_name is BROKEN or not _takes_range(reader, place, kind, type_name):
        return None
    bound: Kind = Number() if type_name == "float" else Whole(-MAX_WHOLE)
    step: Kind = Number(0, above=True) if type_name == "float" else Whole(1)
    _check_company(reader, place, given, f"type: {type_name}", _RANGE)
    for key in ("low", "high"):
        reader.require((*place, key), bound.allowed)
    kinds = {"low": bound, "high": bound, "step": step, "log": Switch()}
    values = {
        key: reader.fit((*place, key), given[key], each)
        for key, each in kinds.items()
        if key in given
    }
    if any(value is BROKEN for value in values.values()) or not {"low", "high"} <= set(values):
        return None
    if not _is_sound(reader, place, values, kind):
        return None
    return Float(**values) if type_name == "float" else Int(**values)


def _takes_range(reader: Reader, place: Place, kind: Kind, type_name: str) -> bool:
    key_kind = kind.kind if isinstance(kind, KeyValue) else Number()
    name = dotted(place)
    if not isinstance(key_kind, Whole | Number | OrNone):
        message = f"{name} is a range, but it takes {key_kind.allowed}: write choices"
        reader.complain(place, message)
        return False
    if isinstance(key_kind, Whole) and type_name == "float":
        message = f"{name}.type is float, but it takes whole numbers: write type: int"
        reader.complain((*place, "type"), message)
        return False
    return True


def _is_sound(reader: Reader, place: Place, values: Mapping[str, Any], kind: Kind) -> bool:
    """Whether the bounds, the scale and the step go together, and both bounds are allowed."""
    low, high, step = values["low"], values["high"], values.get("step")
    name = dotted(place)
    faults: list[tuple[str, str]] = []
    if low == high:
        faults.append(("low", f"low and high are both {low!r}; write value: {low!r}"))
    elif low > high:
        faults.append(("low", f"low {low!r} is above high {high!r}; exchange them"))
    elif not math.isfinite(high - low):
        faults.append(
            ("low", f"from {low!r} to {high!r} is more than a float holds; bring them nearer")
        )
    if values.get("log") and low <= 0:
        faults.append(("low", f"log needs a low above 0, not {low!r}; raise it or remove log"))
    if values.get("log") and step is not None:
        faults.append(("step", "log and step exclude each other; remove one"))
    if step is not None and (high - low) / step > _MAX_STEPS:
        faults.append(("step", f"step {step!r} makes over {_MAX_STEPS} points; take a larger one"))
    elif step is not None and low < high and Float(low=low, high=high, step=step).num_points == 1:
        message = f"step {step!r} is wider than {low!r} to {high!r}; take a smaller one"
        faults.append(("step", message))
    for key, message in faults:
        reader.complain((*place, key), f"{name}: {message}")
    if faults:
        return False
    fitted = [reader.fit((*place, key), values[key], kind) for key in ("low", "high")]
    return all(value is not BROKEN for value in fitted)
