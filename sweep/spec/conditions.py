"""Conditions: whether every `when` names real params and values, and each case holds just once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from sweep.records import Params, ParamValue
from sweep.space.distributions import Distribution, shown
from sweep.space.names import hint
from sweep.space.space import Alternative, Param, cases
from sweep.spec.document import Place, dotted, plain
from sweep.spec.reader import Reader

_MAX_VALUES = 1000
_MAX_CASES = 10_000


def ordered_params(
    reader: Reader, params: Mapping[str, Param], names: Sequence[str]
) -> tuple[Param, ...]:
    """The sound params, parents first, with the values of `when` in the parents' own form.

    `names` are those of all params of the file, also of the ones that could not be read.
    """
    for param in params.values():
        _check_parents_exist(reader, param, names)
    sound: dict[str, Param] = {}
    for param in _walking_order(reader, params, names):
        checked = _settled(reader, param, sound)
        if checked is not None and _covers_each_case_once(reader, checked, sound):
            sound[param.name] = checked
    return tuple(sound.values())


def _check_parents_exist(reader: Reader, param: Param, names: Sequence[str]) -> None:
    for index, alternative in enumerate(param.alternatives):
        for name in alternative.when:
            if name not in names:
                place = (*reader.alternative(param.name, index), "when", name)
                others = [each for each in names if each != param.name]
                message = f"{dotted(place[:-1])} asks about an unknown param {plain(name)}"
                reader.complain(place, f"{message}; {hint(name, others)}")


def _walking_order(
    reader: Reader, params: Mapping[str, Param], names: Sequence[str]
) -> list[Param]:
    """The params in file order, each after its parents; complains about a circle."""
    order: list[Param] = []
    waiting = dict(params)
    while waiting:
        ready = (each for each in waiting.values() if not set(each.parents) & set(waiting))
        param = next(ready, None)
        if param is None:
            _complain_of_circle(reader, waiting)
            return order
        order.append(waiting.pop(param.name))
    return order


def _complain_of_circle(reader: Reader, waiting: Mapping[str, Param]) -> None:
    trail = [next(iter(waiting))]
    while trail[-1] not in trail[:-1]:
        trail.append(next(name for name in waiting[trail[-1]].parents if name in waiting))
    circle = trail[trail.index(trail[-1]) :]
    message = f"`when` goes in a circle: {' -> '.join(map(plain, circle))}; remove one"
    reader.complain(("space", min(circle, key=list(waiting).index)), message)


def _settled(reader: Reader, param: Param, sound: Mapping[str, Param]) -> Param | None:
    """The param with each value of each `when` as its parent writes it; None after a complaint."""
    if not set(param.parents) <= set(sound):
        return None
    alternatives: list[Alternative] = []
    for index, alternative in enumerate(param.alternatives):
        place = (*reader.alternative(param.name, index), "when")
        when = {
            name: _settled_values(reader, (*place, name), sound[name], values)
            for name, values in alternative.when.items()
        }
        alternatives.append(replace(alternative, when=when))
    is_sound = all(all(each.when.values()) for each in alternatives)
    return replace(param, alternatives=tuple(alternatives)) if is_sound else None


def _settled_values(
    reader: Reader, place: Place, parent: Param, values: tuple[ParamValue, ...]
) -> tuple[ParamValue, ...]:
    """The values in the parent's form; empty after a complaint."""
    distributions = [each.distribution for each in parent.alternatives]
    endless = next((each for each in distributions if not _is_listed(each)), None)
    if endless is not None:
        message = f"{dotted(place)}: {parent.name} is a {endless}; ask about a param with choices"
        reader.complain(place, message)
        return ()
    settled = []
    for value in values:
        holder = next((each for each in distributions if each.contains(value)), None)
        if holder is None:
            what = " or ".join(str(each) for each in distributions)
            message = f"{dotted(place)} names {shown(value)}; {parent.name} is {what}: use these"
            reader.complain(place, message)
            return ()
        settled.append(holder.settle(value))
    return tuple(settled)


def _is_listed(distribution: Distribution) -> bool:
    return distribution.num_points is not None and distribution.num_points <= _MAX_VALUES


def _covers_each_case_once(reader: Reader, param: Param, sound: Mapping[str, Param]) -> bool:
    ancestors = tuple(each for each in sound.values() if each.name in _ancestors(param, sound))
    name = dotted(("space", param.name))
    for number, (case, _) in enumerate(islice(cases((*ancestors, param)), _MAX_CASES + 1)):
        holding = [i for i, each in enumerate(param.alternatives) if each.holds(case)]
        if number == _MAX_CASES:
            message = f"{name} hangs on more than {_MAX_CASES} cases; let it hang on fewer params"
            reader.complain(("space", param.name), message)
            return False
        if not holding:
            message = (
                f"{name} has no alternative for {_shown_case(param, case)}; add one, with a fixed "
                "value where it means nothing"
            )
            reader.complain(("space", param.name), message)
            return False
        if len(holding) > 1:
            place = reader.alternative(param.name, holding[1])
            both = f"alternatives {holding[0]} and {holding[1]} for {_shown_case(param, case)}"
            reader.complain(place, f"{name} has {both}; let only one hold")
            return False
    return True


def _ancestors(param: Param, sound: Mapping[str, Param]) -> set[str]:
    found: set[str] = set()
    waiting = list(param.parents)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(sound[name].parents)
    return found


def _shown_case(param: Param, case: Params) -> str:
    return ", ".join(f"{name}={shown(case[name])}" for name in param.parents) or "any params"
