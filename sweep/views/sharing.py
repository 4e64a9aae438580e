"""Sharing: what the number of devices and of trials on one does to the times that are compared."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sweep.views.comparison import Group
from sweep.views.rows import TrialRow


def unequal_sharing(rows: Iterable[TrialRow]) -> str | None:
    """Why the trials' times do not compare, if they shared their devices unequally."""
    numbers = sorted({row.num_sharing for row in rows if row.num_sharing is not None})
    if len(numbers) < 2:
        return None
    return (
        f"From {numbers[0]} to {numbers[-1]} trials ran on a device at a time (num_sharing): "
        "their times do not compare."
    )


def with_speed_up(groups: Sequence[Group]) -> list[Group]:
    """Groups by the number of GPUs, the fewest first, each measured against that one.

    Of several studies, each is measured against its own.
    """
    fewest: dict[str, Group] = {}
    for group in groups:
        if _has_speed(group):
            fewest.setdefault(group.study, group)
    return [_measured(group, fewest.get(group.study)) for group in groups]


def _measured(group: Group, fewest: Group | None) -> Group:
    if fewest is None or not _has_speed(group) or not fewest.epoch_s or not group.epoch_s:
        return group
    speed_up = fewest.epoch_s / group.epoch_s
    num_times = _number(group) / _number(fewest)
    return replace(group, speed_up=speed_up, efficiency=speed_up / num_times)


def _has_speed(group: Group) -> bool:
    return group.value is not None and bool(group.epoch_s)


def _number(group: Group) -> float:
    assert isinstance(group.value, int | float), "a number of GPUs"
    return float(group.value)
