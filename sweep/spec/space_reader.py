"""The space's reader: params or whole configurations, and the points to begin with."""

from collections.abc import Iterable
from typing import Any

from sweep.records import Params
from sweep.space.distributions import identity
from sweep.space.space import Misfit, Param, Space
from sweep.spec.conditions import ordered_params
from sweep.spec.distribution_reader import read_alternative
from sweep.spec.document import BROKEN, Place, dotted
from sweep.spec.kind import Kind, found
from sweep.spec.reader import Reader
from sweep.spec.reserved import RESERVED_NAMES
from sweep.spec.resources import GPUS_PER_TRIAL
from sweep.spec.training import TRAINING_KINDS
from sweep.spec.values import OwnValue, value_kind
from sweep.spec.words import key_hint

_MAX_PARAMS = 100
_MAX_NAME = 60
_PARAM_EXAMPLE = "{type: float, low: 0.01, high: 1.0, log: true}"


def read_space(reader: Reader, is_own: bool) -> Space | None:
    """The search space; None after a complaint.

    `is_own`: the params go to a function of the user's, so that any identifier is one.
    """
    num_before = len(reader.problems)
    has_space, has_rows = reader.is_given(("space",)), reader.is_given(("configurations",))
    if has_space and has_rows:
        message = "configurations stand instead of a space, and both are here; remove one"
        reader.complain(("configurations",), message)
    if not has_space and not has_rows:
        example = f"params such as lr: {_PARAM_EXAMPLE}"
        reader.complain(("space",), f"space is missing; it takes {example}: add it")
    space = _read_configurations(reader, is_own) if has_rows else _read_params(reader, is_own)
    return space if len(reader.problems) == num_before else None


def read_enqueue(
    reader: Reader, space: Space | None, training: Iterable[str]
) -> tuple[Params, ...]:
    """The points to begin with, whole. Without a space, only their form is looked at."""
    points: dict[object, tuple[int, Params]] = {}
    for index, entry in enumerate(reader.entries(("enqueue",))):
        place = ("enqueue", index)
        params = _plain_params(reader, place, entry)
        if params is None or space is None:
            continue
        misfits = list(space.misfits(params))
        for misfit in misfits:
            _complain_of_misfit(reader, place, misfit, space, training)
        if not misfits:
            point = space.fill(params)
            first = points.setdefault(space.key(point), (index, point))[0]
            if first != index:
                same = dotted(("enqueue", first))
                reader.complain(place, f"{dotted(place)} is the same point as {same}; remove one")
    return tuple(point for _, point in points.values())


def _complain_of_misfit(
    reader: Reader, place: Place, misfit: Misfit, space: Space, training: Iterable[str]
) -> None:
    name = misfit.name
    if name is None:
        reader.complain(place, f"{dotted(place)}: {misfit.message}")
    elif name in training and name not in space.names:
        reader.complain((*place, name), f"{dotted(place)}: {name} is fixed in training; remove it")
    else:
        reader.complain((*place, name), f"{dotted(place)}: {misfit.message}")


def _read_params(reader: Reader, is_own: bool) -> Space:
    place = ("space",)
    if reader.has(place) and not reader.value(place):
        reader.complain(place, f"space is empty; add params such as lr: {_PARAM_EXAMPLE}")
        return Space()
    given = reader.mapping(place, ())
    if len(given) > _MAX_PARAMS:
        reader.complain(place, f"{len(given)} params; at most {_MAX_PARAMS} are taken: fix some")
        return Space()
    params = {}
    for name in given:
        is_known = _check_name(reader, (*place, name), name, is_own)
        kind = value_kind(name, is_own) if is_known else OwnValue()
        param = _read_param(reader, name, given[name], kind)
        if param is not None:
            params[name] = param
    names = list(reader.value(place)) if isinstance(reader.value(place), dict) else []
    return Space(params=ordered_params(reader, params, names), columns=tuple(given))


def _check_name(reader: Reader, place: Place, name: str, is_own: bool) -> bool:
    """Whether a param may have this name; complains if not."""
    where = dotted(place)
    if not is_own and name == "epochs":
        reader.complain(place, f"{where} cannot be searched; put epochs under training")
    elif not is_own and name not in (*TRAINING_KINDS, *RESERVED_NAMES, GPUS_PER_TRIAL):
        known = [each for each in (*TRAINING_KINDS, GPUS_PER_TRIAL) if each != "epochs"]
        advice = key_hint(name, known)
        reader.complain(place, f"{where} is no key of the built-in training; {advice}")
    elif name.casefold() in RESERVED_NAMES:
        message = f"{where} is named like a column of the tables; rename it"
        reader.complain(place, message)
    elif not name.isidentifier():
        message = f"{where} is no name; it takes letters, digits and _, no digit first: rename it"
        reader.complain(place, message)
    elif len(name) > _MAX_NAME:
        message = f"{where} has {len(name)} characters; a name has at most {_MAX_NAME}: shorten it"
        reader.complain(place, message)
    else:
        return True
    return False


def _read_param(reader: Reader, name: str, value: Any, kind: Kind) -> Param | None:
    place = ("space", name)
    if isinstance(value, dict):
        alternatives = [read_alternative(reader, place, kind)]
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        alternatives = [
            read_alternative(reader, (*place, index), kind)
            for index, each in enumerate(value)
            if each is not BROKEN
        ]
    else:
        reader.complain(place, _shape_message(dotted(place), value))
        return None
    whole = tuple(each for each in alternatives if each is not None)
    return Param(name=name, alternatives=whole) if len(whole) == len(alternatives) else None


def _shape_message(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"{name} is a list; write {{choices: [...]}}, or alternatives with `when`"
    if value is None:
        return f"{name} is empty; write {_PARAM_EXAMPLE}, {{choices: [...]}} or {{value: ...}}"
    short = found(value)
    return f"{name} is {short}; write {{value: ...}}, or put it under training"


def _read_configurations(reader: Reader, is_own: bool) -> Space:
    place = ("configurations",)
    entries = reader.entries(place)
    if reader.value(place) == []:
        reader.complain(place, "configurations is an empty list; add at least one")
    rows = [_read_row(reader, (*place, i), each, is_own) for i, each in enumerate(entries)]
    whole = [row for row in rows if row is not None]
    names = tuple(whole[0]) if whole else ()
    firsts: dict[object, int] = {}
    for index, row in enumerate(rows):
        if row is not None:
            _check_row(reader, (*place, index), row, names)
            first = firsts.setdefault(frozenset((n, identity(v)) for n, v in row.items()), index)
            if first != index:
                message = f"configurations.{index} is the same as configurations.{first}"
                reader.complain((*place, index), f"{message}; remove one")
    ordered = tuple({name: row[name] for name in names if name in row} for row in whole)
    return Space(configurations=ordered, columns=names)


def _read_row(reader: Reader, place: Place, entry: Any, is_own: bool) -> Params | None:
    row = _plain_params(reader, place, entry)
    if row is None:
        return None
    fitted = {}
    for name, value in row.items():
        inner = (*place, name)
        if _check_name(reader, inner, name, is_own):
            fitted[name] = reader.fit(inner, value, value_kind(name, is_own))
    is_whole = len(fitted) == len(row) and BROKEN not in fitted.values()
    return fitted if is_whole and fitted else None


def _check_row(reader: Reader, place: Place, row: Params, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in row:
            message = f"{dotted(place)} lacks {name}; every configuration gives the same params"
            reader.complain(place, f"{message}: add it")
    for name in row:
        if name not in names:
            message = f"{dotted((*place, name))} is not in the first configuration; add it there"
            reader.complain((*place, name), message)


def _plain_params(reader: Reader, place: Place, entry: Any) -> dict[str, Any] | None:
    """The params that an entry of a list gives, each a plain value; None after a complaint."""
    if entry is BROKEN:
        return None
    if not isinstance(entry, dict):
        message = f"{dotted(place)} is {found(entry)}; write params, such as {{lr: 0.1}}"
        reader.complain(place, message)
        return None
    if not entry:
        reader.complain(place, f"{dotted(place)} gives no params; write some, such as {{lr: 0.1}}")
        return None
    values = {name: reader.fit((*place, name), value, OwnValue()) for name, value in entry.items()}
    return None if BROKEN in values.values() else values
