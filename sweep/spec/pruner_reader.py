"""The pruner's reader: what a study file says of how trials are stopped early."""

from collections.abc import Iterable
from typing import Any

from sweep.spec.document import BROKEN, Place, dotted
from sweep.spec.kind import Kind
from sweep.spec.kinds import Number, OneOf, Whole
from sweep.spec.reader import Reader
from sweep.spec.study import PRUNER_KEYS, PrunerSpec

_KINDS: dict[str, Kind] = {
    "percentile": Number(0, above=True, high=100, below=True),
    "startup_trials": Whole(1, 1_000_000),
    "min_epochs": Whole(1, 1_000_000),
    "reduction_factor": Whole(2, 1000),
    "lower": Number(),
    "upper": Number(),
    "patience": Whole(1, 1_000_000),
}
_PATIENT_WITH = ("median", "percentile", "threshold", "none")
"""Those that judge a trial at any epoch. The others judge at certain epochs, and must be asked."""
_DEFAULTS: dict[str, dict[str, Any]] = {"hyperband": {"reduction_factor": 3}}
"""Where a pruner's own default differs: 3 is what the paper and Optuna take for Hyperband."""


def read_pruner(reader: Reader) -> PrunerSpec:
    """The pruner: a mapping with its name, or the name alone; none where nothing stands."""
    return _read(reader, ("search", "pruner"), PRUNER_KEYS)


def _read(reader: Reader, place: Place, names: Iterable[str]) -> PrunerSpec:
    kind = OneOf(tuple(names))
    name = _name(reader, place, kind)
    if name is None:
        return PrunerSpec()
    values: dict[str, Any] = {}
    if isinstance(reader.value(place), dict):
        also = tuple(key for key in PRUNER_KEYS[name] if key not in _KINDS)
        kinds = {key: _KINDS[key] for key in PRUNER_KEYS[name] if key in _KINDS}
        values = reader.section(place, {"name": kind, **kinds}, also=also)
    _check(reader, place, name)
    if name == "patient":
        values["pruner"] = _inner(reader, (*place, "pruner"))
    return PrunerSpec(**{"name": name, **_DEFAULTS.get(name, {}), **values})


def _name(reader: Reader, place: Place, kind: OneOf) -> str | None:
    """The pruner's name; None after a complaint, or where there is nothing."""
    value = reader.value(place)
    if isinstance(value, str):
        name = reader.fit(place, value, kind)
        return None if name is BROKEN else str(name)
    given = reader.mapping(place, ("name", "startup_trials", "min_epochs"))
    if not isinstance(value, dict) or not reader.require((*place, "name"), kind.allowed):
        return None
    name = reader.fit((*place, "name"), given.get("name", BROKEN), kind)
    return None if name is BROKEN else str(name)


def _inner(reader: Reader, place: Place) -> PrunerSpec:
    """The pruner that a patient one asks: median where nothing else is given."""
    if not reader.has(place):
        return PrunerSpec(name="median")
    return _read(reader, place, _PATIENT_WITH)


def _check(reader: Reader, place: Place, name: str) -> None:
    """What a pruner cannot do without."""
    if name == "patient":
        reader.require((*place, "patience"), _KINDS["patience"].allowed)
    if name == "threshold":
        lower, upper = (reader.value((*place, key)) for key in ("lower", "upper"))
        if not reader.has((*place, "lower")) and not reader.has((*place, "upper")):
            message = f"{dotted(place)} threshold needs a bound; add lower, upper or both"
            reader.complain(place, message)
        elif _is_number(lower) and _is_number(upper) and lower >= upper:
            message = f"{dotted(place)}.lower {lower} is not below upper {upper}; swap them"
            reader.complain((*place, "lower"), message)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
