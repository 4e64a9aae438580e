"""Ranking: the complete trials by what a user cares for most, of equal ones the better first."""

from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter

from sweep.errors import UsageError
from sweep.records import Snapshot
from sweep.views.best import ranked
from sweep.views.rows import TrialRow, trial_rows


class Rank(StrEnum):
    """What comes first: the best objective, or the least of a measured number."""

    ACCURACY = "accuracy"
    TIME = "time"
    MEMORY = "memory"
    COST = "cost"


_NUMBERS: dict[Rank, Callable[[TrialRow], float | None]] = {
    Rank.TIME: attrgetter("epoch_s"),
    Rank.MEMORY: attrgetter("peak_memory_mib"),
    Rank.COST: attrgetter("cost"),
}
_MISSING = {
    Rank.TIME: "no epoch was timed",
    Rank.MEMORY: "no memory was measured",
    Rank.COST: "no price is known; set budget.price_per_gpu_hour or budget.price_per_hour",
}


def ranked_by(snapshot: Snapshot, rank: Rank) -> list[TrialRow]:
    """The complete trials, the first in rank first; trials without the number are left out.

    Raises UsageError when there are complete trials, but none with the number.
    """
    rows = ranked(trial_rows(snapshot), snapshot.study.direction)
    if rank is Rank.ACCURACY or not rows:
        return rows
    number = _NUMBERS[rank]
    known = [(value, row) for row in rows if (value := number(row)) is not None]
    if not known:
        raise UsageError(f"--rank {rank}: {_MISSING[rank]}")
    return [row for _, row in sorted(known, key=lambda pair: pair[0])]
