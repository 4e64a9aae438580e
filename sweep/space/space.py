"""The search space: params in an order that can be walked, or whole configurations.

A param has one distribution, or several alternatives of which exactly one holds, depending on
the values of other params (its parents). The space knows its points; it chooses none.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sweep.errors import UsageError
from sweep.records import Params, ParamValue
from sweep.space.distributions import (
    Constant,
    Distribution,
    identity,
    is_same,
    shown,
)
from sweep.space.names import hint


@dataclass(frozen=True, kw_only=True, slots=True)
class Alternative:
    """A distribution, and for which values of which parents it holds; an empty `when`: always."""

    when: Mapping[str, tuple[ParamValue, ...]] = field(default_factory=dict)
    distribution: Distribution

    def __str__(self) -> str:
        asked = (f"{name} is {' or '.join(map(shown, each))}" for name, each in self.when.items())
        return f"{self.distribution}{' when ' if self.when else ''}{' and '.join(asked)}"

    def holds(self, params: Params) -> bool:
        return all(
            any(is_same(value, params[name]) for value in values)
            for name, values in self.when.items()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Param:
    """A named param and its alternatives, exactly one of which holds for any parents."""

    name: str
    alternatives: tuple[Alternative, ...]

    def __str__(self) -> str:
        return "; ".join(str(each) for each in self.alternatives)

    @property
    def parents(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.alternatives for name in each.when))

    def index(self, params: Params) -> int:
        """The position of the alternative that holds; `params` has at least the parents."""
        return next(i for i, each in enumerate(self.alternatives) if each.holds(params))

    def distribution(self, params: Params) -> Distribution:
        """What this param may be, given its parents in `params`."""
        return self.alternatives[self.index(params)].distribution


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfit:
    """Why some params are no point of a space; `name` is the param at fault, if one is."""

    name: str | None
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Space:
    """Params with parents first, or else whole configurations; one of the two is empty.

    `columns` names the params in the order of the study file; empty means the order of `params`.
    """

    params: tuple[Param, ...] = ()
    configurations: tuple[Params, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the params, in the order of the study file."""
        if self.columns:
            return self.columns
        if self.configurations:
            return tuple(self.configurations[0])
        return tuple(param.name for param in self.params)

    @property
    def num_points(self) -> int | None:
        """How many points there are; None when a range without step makes them endless."""
        if self.configurations:
            return len(self.configurations)
        total = 0
        for case, num_alike in cases(self.params):
            sizes = [_size_beside(param, case) for param in self.params]
            if any(size is None for size in sizes):
                return None
            total += num_alike * math.prod(size for size in sizes if size is not None)
        return total

    def points(self) -> Iterator[Params]:
        """Every point of a finite space, the param that is walked last changing fastest."""
        if self.configurations:
            return iter(self.configurations)
        return (self._in_columns(point) for point in _walk(self.params, {}))

    def fill(self, params: Params) -> Params:
        """The whole point that `params` means: constants added, values in their own form.

        Raises UsageError naming the first param that is unknown, missing or out of range.
        """
        for misfit in self.misfits(params):
            raise UsageError(misfit.message)
        if self.configurations:
            return next(each for each in self.configurations if _agrees(each, params))
        point: dict[str, ParamValue] = {}
        for param in self.params:
            distribution = param.distribution(point)
            given = params.get(param.name, _only_value(distribution))
            assert given is not None
            point[param.name] = distribution.settle(given)
        return self._in_columns(point)

    def misfits(self, params: Params) -> Iterator[Misfit]:
        """Why `params` is no point of this space; nothing when it is one."""
        unknown = [name for name in params if name not in self.names]
        for name in unknown:
            message = f"unknown param {shown(name)}; {hint(name, self.names)}"
            yield Misfit(name=name, message=message)
        if self.configurations:
            if not unknown:
                yield from self._unfit_configuration(params)
        else:
            yield from self._unfit_values(params)

    def key(self, params: Params) -> tuple[tuple[bool, ParamValue], ...]:
        """The identity of a point: equal for the same values, whatever their order or form.

        As for `fill`, constants may be missing. Raises UsageError for what is no point.
        """
        if any(name not in params for name in self.names):
            params = self.fill(params)
        return tuple(identity(params[name]) for name in self.names)

    def _unfit_configuration(self, params: Params) -> Iterator[Misfit]:
        num_agreeing = sum(_agrees(each, params) for each in self.configurations)
        if num_agreeing != 1:
            found = "no configuration has" if num_agreeing == 0 else "several configurations have"
            yield Misfit(name=None, message=f"{found} these params; give those of exactly one")

    def _unfit_values(self, params: Params) -> Iterator[Misfit]:
        point: dict[str, ParamValue] = {}
        for param in self.params:
            distribution = param.distribution(point)
            given = params.get(param.name, _only_value(distribution))
            if given is None:
                message = f"{param.name} is missing; it is {distribution}"
                yield Misfit(name=None, message=message)
            elif not distribution.contains(given):
                message = (
                    f"{param.name} is {shown(given)}, outside the space; it is {distribution}"
                )
                yield Misfit(name=param.name, message=message)
            else:
                point[param.name] = distribution.settle(given)
                continue
            if any(param.name in each.parents for each in self.params):
                return

    def _in_columns(self, point: Params) -> Params:
        return {name: point[name] for name in self.names}


def cases(params: tuple[Param, ...]) -> Iterator[tuple[Params, int]]:
    """The parents' values in every combination that any `when` could tell apart.

    Values of a parent that stand in exactly the same `when`s are represented by one of them; the
    number says for how many combinations each case stands.
    """
    watched = {name for param in params for name in param.parents}
    yield from _cases([param for param in params if param.name in watched], params, {}, 1)


def _cases(
    parents: list[Param], params: tuple[Param, ...], case: Params, num_alike: int
) -> Iterator[tuple[Params, int]]:
    if not parents:
        yield case, num_alike
        return
    first, *rest = parents
    classes: dict[tuple[bool, ...], list[ParamValue]] = {}
    for value in first.distribution(case).values():
        classes.setdefault(_mentions(params, first.name, value), []).append(value)
    for values in classes.values():
        alike = num_alike * len(values)
        yield from _cases(rest, params, {**case, first.name: values[0]}, alike)


def _mentions(params: tuple[Param, ...], name: str, value: ParamValue) -> tuple[bool, ...]:
    return tuple(
        any(is_same(value, each) for each in alternative.when[name])
        for param in params
        for alternative in param.alternatives
        if name in alternative.when
    )


def _size_beside(param: Param, case: Params) -> int | None:
    """How many values a param has in a case; 1 for a parent, whose values make the cases."""
    return 1 if param.name in case else param.distribution(case).num_points


def _walk(params: tuple[Param, ...], point: Params) -> Iterator[Params]:
    if not params:
        yield point
        return
    first, *rest = params
    for value in first.distribution(point).values():
        yield from _walk(tuple(rest), {**point, first.name: value})


def _only_value(distribution: Distribution) -> ParamValue | None:
    return distribution.value if isinstance(distribution, Constant) else None


def _agrees(configuration: Params, params: Params) -> bool:
    return all(is_same(configuration[name], value) for name, value in params.items())
