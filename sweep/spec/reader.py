"""The reader: takes values out of a document by tables of keys, and keeps every complaint.

It knows how a mapping, a list and a key are checked, but no key by name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sweep.errors import Problem
from sweep.spec.document import BROKEN, Document, Place, dotted, inner, plain
from sweep.spec.kind import Kind, Unfit, found
from sweep.spec.words import key_hint, meant_key


@dataclass(kw_only=True, slots=True)
class Reader:
    """A document being read, with all that was found wrong so far.

    `elsewhere` holds the whole paths of all known keys, for hints about misplaced ones. `meant`
    holds the places of keys that were given under another name, so as not to miss them as well.
    """

    document: Document
    elsewhere: Iterable[str] = ()
    problems: list[Problem] = field(default_factory=list)
    meant: set[Place] = field(default_factory=set)

    def complain(self, place: Place, message: str) -> None:
        """Adds a problem at the line of a place, or where it would belong."""
        self.problems.append(self.document.mark(place).problem(message))

    def value(self, place: Place) -> Any:
        """What stands at a place; None also for nothing."""
        value = self.document.value
        for part in place:
            value = inner(value, part)
        return value

    def has(self, place: Place) -> bool:
        """Whether something stands at a place, be it right or wrong; the top always does."""
        holder = self.value(place[:-1])
        if isinstance(holder, list):
            return isinstance(place[-1], int) and place[-1] < len(holder)
        return not place or (isinstance(holder, dict) and place[-1] in holder)

    def is_given(self, place: Place) -> bool:
        """Whether a key is there, or was meant by an unknown one."""
        return self.has(place) or place in self.meant

    def alternative(self, name: str, index: int) -> Place:
        """Where an alternative of a param stands: in a list, or as the param itself."""
        place = ("space", name)
        return (*place, index) if isinstance(self.value(place), list) else place

    def mapping(self, place: Place, keys: Iterable[str]) -> Mapping[str, Any]:
        """The mapping at a place, without what is broken; empty after a complaint."""
        value = self.value(place)
        names = list(keys)
        if value is BROKEN or not self.has(place):
            return {}
        if value is None:
            message = f"{dotted(place)} is empty; write its keys ({', '.join(names)})"
            self.complain(
                place, f"{message}, or remove it" if names else f"{dotted(place)} is empty"
            )
            return {}
        if not isinstance(value, dict):
            listed = f": write its keys ({', '.join(names)})" if names else ""
            self.complain(place, f"{dotted(place)} is {found(value)}, not a mapping{listed}")
            return {}
        return {key: each for key, each in value.items() if each is not BROKEN}

    def entries(self, place: Place) -> list[Any]:
        """The list at a place; empty after a complaint."""
        value = self.value(place)
        if value is BROKEN or not self.has(place):
            return []
        if not isinstance(value, list):
            message = f"{dotted(place)} is {found(value)}, not a list; start each entry with '- '"
            self.complain(place, message)
            return []
        return value

    def section(
        self, place: Place, kinds: Mapping[str, Kind], also: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The keys of a mapping whose values fit; complains about all the others.

        The keys in `also` are known, and read by somebody else.
        """
        given = self.mapping(place, (*kinds, *also))
        self.check_keys(place, given, (*kinds, *also))
        fitted = {}
        for key, kind in kinds.items():
            if key in given:
                value = self.fit((*place, key), given[key], kind)
                if value is not BROKEN:
                    fitted[key] = value
        return fitted

    def check_keys(self, place: Place, given: Iterable[str], known: Iterable[str]) -> None:
        """Complains about every key that is not known."""
        names = list(known)
        for key in given:
            if key not in names:
                where = f" in {dotted(place)}" if place else ""
                advice = key_hint(key, names, self.elsewhere)
                self.complain((*place, key), f"unknown key {plain(key)}{where}; {advice}")
                self._remember(place, meant_key(key, names, self.elsewhere), names)

    def _remember(self, place: Place, meant: str | None, here: list[str]) -> None:
        if meant is not None:
            inside = place if meant in here else ()
            self.meant.add((*inside, *meant.split(".")))

    def fit(self, place: Place, value: Any, kind: Kind) -> Any:
        """The value in its final form, or BROKEN after a complaint."""
        if value is BROKEN or (isinstance(value, list) and BROKEN in value):
            return BROKEN
        try:
            return kind.fit(value)
        except Unfit as error:
            self.complain(place, f"{dotted(place)} {error}")
            return BROKEN

    def require(self, place: Place, allowed: str) -> bool:
        """Complains if a key is not given, under any name; says whether it is there."""
        if not self.is_given(place):
            self.complain(place, f"{dotted(place)} is missing; it takes {allowed}: add it")
        return self.has(place)
