"""Plan: what a study's spec says that its tables need; the rest of the spec is not read here."""

from dataclasses import dataclass

from sweep.records import Attempt, Outline, Snapshot
from sweep.spec.study import StudySpec

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What an hour costs: of one GPU, or of an instance whose slots share the price."""

    per_gpu_hour: float | None = None
    per_instance_hour: float | None = None
    currency: str | None = None

    def of(self, attempt: Attempt, seconds: float) -> float | None:
        """What an attempt of that many seconds costs on its devices; None without a price."""
        hours = seconds / SECONDS_PER_HOUR
        if self.per_gpu_hour is not None:
            return hours * self.per_gpu_hour * attempt.num_devices
        if self.per_instance_hour is not None:
            return hours * self.per_instance_hour / max(attempt.num_slots, 1)
        return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The param names in the order of the file, the price, and how much was planned.

    `epochs` is the length of a trial that is not pruned; None where only the train function knows.
    `trials` is how many there are to be in all; None when only time or money ends the study.
    """

    params: tuple[str, ...]
    price: Price
    epochs: int | None
    trials: int | None


def plan_of(snapshot: Snapshot | Outline) -> Plan:
    """The plan of a stored study."""
    spec = StudySpec.from_json(dict(snapshot.study.spec))
    budget = spec.budget
    return Plan(
        params=_param_names(snapshot, spec),
        price=Price(
            per_gpu_hour=budget.price_per_gpu_hour,
            per_instance_hour=budget.price_per_hour,
            currency=budget.currency,
        ),
        epochs=spec.training.get("epochs"),
        trials=_planned_trials(spec),
    )


def _param_names(snapshot: Snapshot | Outline, spec: StudySpec) -> tuple[str, ...]:
    """Those of the present space, then those that only trials of an earlier space have."""
    names = dict.fromkeys(spec.space.names)
    for trial in snapshot.trials:
        names.update(dict.fromkeys(trial.params))
    return tuple(names)


def _planned_trials(spec: StudySpec) -> int | None:
    limits = (spec.budget.trials, spec.space.num_points)
    return min((limit for limit in limits if limit is not None), default=None)
