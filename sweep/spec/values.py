"""Values: what one searched param may be, by the training key that it sets or by itself."""

from dataclasses import dataclass
from typing import Any

from sweep.records import ParamValue
from sweep.spec.key_kinds import GPU_COUNT
from sweep.spec.kind import MAX_WHOLE, Kind, Unfit, found, unfit
from sweep.spec.kinds import Text
from sweep.spec.resources import GPUS_PER_TRIAL
from sweep.spec.training import TRAINING_KINDS


@dataclass(frozen=True, slots=True)
class OwnValue:
    """A value for a function of one's own: a number, text, or true or false."""

    @property
    def allowed(self) -> str:
        return "a number, text, or true or false"

    def fit(self, value: Any) -> ParamValue:
        if isinstance(value, str):
            return Text(1000).fit(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_WHOLE:
            raise Unfit(f"is {found(value)}; it takes at most {MAX_WHOLE}: take a smaller one")
        if isinstance(value, bool | int | float):
            return value
        raise unfit(value, self)


@dataclass(frozen=True, slots=True)
class OwnTrainingValue:
    """What stands under `training` for a function of one's own: also nothing, or whole numbers."""

    @property
    def allowed(self) -> str:
        return "a number, text, true, false, nothing, or a list of whole numbers"

    def fit(self, value: Any) -> ParamValue | list[int] | None:
        if value is None:
            return None
        if isinstance(value, list) and all(type(each) is int for each in value):
            return [int(OwnValue().fit(each)) for each in value]
        if isinstance(value, list | dict):
            raise unfit(value, self)
        return OwnValue().fit(value)


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A single value of a training key, in the form that a table and a sampler can hold."""

    kind: Kind

    @property
    def allowed(self) -> str:
        return self.kind.allowed

    def fit(self, value: Any) -> ParamValue:
        if isinstance(value, list):
            raise Unfit("is a list; a searched value is single: write it as text, such as '2,4'")
        fitted = self.kind.fit(value)
        # none and epochs stay as they were written: what they mean is no single number or text
        return fitted if isinstance(fitted, bool | int | float | str) else OwnValue().fit(value)


def value_kind(name: str, is_own: bool) -> Kind:
    """What a searched param of this name may be: a training key unless `is_own`, or a resource."""
    if name == GPUS_PER_TRIAL:
        return KeyValue(GPU_COUNT)
    return OwnValue() if is_own else KeyValue(TRAINING_KINDS[name])
