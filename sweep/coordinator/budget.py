"""The budget: how much of a study is left to do, counted over all its runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sweep.records import Attempt
from sweep.spec.study import BudgetSpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What a study has used: wall clock in which any trial ran; money where a price is known."""

    elapsed_s: float
    cost: float | None


def spent(attempts: Iterable[Attempt], budget: BudgetSpec, now: datetime) -> Spent:
    """What the attempts have used up to `now`; overlapping ones count once in the wall clock."""
    attempts = list(attempts)
    intervals = sorted((each.started_at, each.finished_at or now) for each in attempts)
    elapsed_s = 0.0
    covered_to: datetime | None = None
    for start, end in intervals:
        begin = start if covered_to is None else max(start, covered_to)
        elapsed_s += max(0.0, (end - begin).total_seconds())
        covered_to = end if covered_to is None else max(end, covered_to)
    return Spent(elapsed_s=elapsed_s, cost=_cost(attempts, budget, now, elapsed_s))


def _cost(
    attempts: Sequence[Attempt], budget: BudgetSpec, now: datetime, elapsed_s: float
) -> float | None:
    if budget.price_per_hour is not None:
        return budget.price_per_hour * elapsed_s / 3600
    if budget.price_per_gpu_hour is None:
        return None
    busy_s = sum(
        ((each.finished_at or now) - each.started_at).total_seconds() * each.num_devices
        for each in attempts
    )
    return budget.price_per_gpu_hour * busy_s / 3600


def limit_reached(spent: Spent, budget: BudgetSpec) -> str | None:
    """Which limit of time or money is used up, in words; None while there is some left."""
    if budget.timeout_s is not None and spent.elapsed_s >= budget.timeout_s:
        return f"the time budget of {budget.timeout_s:g} s is used up"
    if budget.max_cost is not None and (spent.cost or 0.0) >= budget.max_cost:
        return f"the budget of {budget.max_cost:g} {budget.currency} is used up"
    return None
