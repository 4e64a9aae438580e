"""Range: the values of a continuous param put in few groups, for a table that can be read.

An export keeps exact values, one row each. A report would show forty rows of one trial for a
learning rate; here more than `MAX_VALUES` distinct numbers become ranges: half decades where the
numbers span more than a decade, unless they were drawn evenly, else about six equal steps with
round ends.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sweep.records import Study
from sweep.views.comparison import Group, group_of, groups_by
from sweep.views.display import show_scale
from sweep.views.rows import TrialRow, compared

MAX_VALUES = 12
_NUM_STEPS = 6
_LOG_SPAN = 10.0


def groups_by_range(
    rows: Sequence[TrialRow], param: str, study: Study, *, is_linear: bool = False
) -> list[Group]:
    """A study's rows grouped by the param's values, or by ranges of them when they are many.

    A group of a range has its label as value: `0.001 to 0.00316`, the upper end exclusive. The
    ranges are equal steps where `is_linear`, however far the numbers span.
    """
    groups = groups_by(rows, param, study)
    numbers = [group.value for group in groups if isinstance(group.value, int | float)]
    if len(numbers) <= MAX_VALUES:
        return groups
    edges = range_edges(min(numbers), max(numbers), is_linear=is_linear)
    grouped = _by_label(compared(rows), param, edges)
    return [group_of(members, label, study) for label, members in grouped.items()]


def range_edges(low: float, high: float, *, is_linear: bool = False) -> list[float]:
    """Rising round ends of ranges that hold everything from low to high; the last is exclusive."""
    if not is_linear and low > 0 and high / low >= _LOG_SPAN:
        first, last = math.floor(2 * math.log10(low)), math.floor(2 * math.log10(high)) + 1
        return [10 ** (half / 2) for half in range(first, last + 1)]
    step = _round_step((high - low) / _NUM_STEPS)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [step * index for index in range(first, last + 1)]


def _round_step(step: float) -> float:
    """The step rounded up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


def _by_label(
    rows: Iterable[TrialRow], param: str, edges: list[float]
) -> dict[str | None, list[TrialRow]]:
    """Rows under the labels of their ranges in rising order, then those without a number."""
    labels = [f"{low} to {high}" for low, high in pairwise(show_scale(edges))]
    grouped: dict[str | None, list[TrialRow]] = {label: [] for label in labels}
    for row in rows:
        value = row.param(param)
        label = labels[_index(value, edges)] if isinstance(value, int | float) else None
        grouped.setdefault(label, []).append(row)
    return {label: members for label, members in grouped.items() if members}


def _index(value: float, edges: list[float]) -> int:
    """The range that a value is in; a value on an end belongs to the range above it."""
    tolerance = 1e-9 * (edges[1] - edges[0])
    return max(bisect_right(edges, value + tolerance, hi=len(edges) - 1) - 1, 0)
