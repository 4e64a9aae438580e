"""Comparison: trials grouped by one param, and whether only that param differs between them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from sweep.errors import UsageError
from sweep.records import ParamValue, Snapshot, Study, Trial, TrialState
from sweep.views.averages import deviation_of, mean_of, sum_of
from sweep.views.best import ranked
from sweep.views.display import one_line, show_count
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, compared, finite


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The trials of one study that share a param's value, and what they have in common.

    `value` is None for the trials in which the param is not active. The fields below it are the
    columns of the table by a param.
    """

    study: str
    value: ParamValue | None
    trials: int
    complete: int
    pruned: int
    failed: int
    epoch_s: float | None
    images_per_s: float | None
    peak_memory_mib: float | None
    test_accuracy: float | None
    test_accuracy_std: float | None
    best_test_accuracy: float | None
    best_trial: int | None
    cost: float | None
    mean_value: float | None
    value_std: float | None
    best_value: float | None
    baseline_memory_mib: float | None
    micro_batch: int | None
    num_sharing: int | None
    speed_up: float | None = None
    efficiency: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What differs between the finished trials of a study besides the param looked at.

    `varying` names the other params that differ; `num_values` counts the values of the param.
    """

    param: str
    num_values: int
    num_trials: int
    varying: tuple[str, ...]

    @property
    def is_controlled(self) -> bool:
        """Whether the param differs, and nothing else but the seed."""
        return self.num_values > 1 and not self.varying

    @property
    def sentence(self) -> str:
        """What the comparison is worth, in one line."""
        name = one_line(self.param)
        if self.num_values < 2:
            return f"nothing to compare: the finished trials have {self._values()} of {name}"
        if self.is_controlled:
            counts = f"{self._values()}, {show_count(self.num_trials, 'trial')}"
            return f"controlled comparison: only {name} differs ({counts})"
        others = ", ".join(one_line(other) for other in self.varying)
        verb = "varies" if len(self.varying) == 1 else "vary"
        return f"not a controlled comparison: {others} {verb} too, besides {name}"

    def _values(self) -> str:
        return show_count(self.num_values, "value")


def controlled(snapshot: Snapshot, param: str) -> Comparison:
    """Whether among the finished trials only this param differs. Raises UsageError if unknown."""
    check_param([snapshot], param)
    finished = [
        trial for trial in snapshot.trials if trial.state.is_finished and not trial.excluded
    ]
    counts = {name: num_values(finished, name) for name in plan_of(snapshot).params}
    return Comparison(
        param=param,
        num_values=counts[param],
        num_trials=len(finished),
        varying=tuple(name for name, count in counts.items() if name != param and count > 1),
    )


def num_values(trials: Iterable[Trial], param: str) -> int:
    """How many values of a param the trials have; that it is not active in some is one more."""
    return len({value_key(trial.params.get(param)) for trial in trials})


def groups_by(rows: Iterable[TrialRow], param: str, study: Study) -> list[Group]:
    """A study's rows grouped by the param's exact values: numbers, then text, then inactive.

    Excluded trials are in no group.
    """
    grouped: dict[object, list[TrialRow]] = {}
    for row in compared(rows):
        grouped.setdefault(value_key(row.param(param)), []).append(row)
    groups = [group_of(each, each[0].param(param), study) for each in grouped.values()]
    return sorted(groups, key=lambda group: sort_key(group.value))


def check_param(snapshots: Sequence[Snapshot], param: str) -> None:
    """Returns when any of the studies has the param; raises UsageError naming those there are."""
    names = dict.fromkeys(name for snapshot in snapshots for name in plan_of(snapshot).params)
    if param not in names:
        known = ", ".join(one_line(name) for name in names)
        raise UsageError(
            f"no param {one_line(param)!r} is searched here; compare by one of: {known}"
        )


def sort_key(value: ParamValue | None) -> tuple[int, float, str]:
    """Orders values of a param: numbers by size, then text by the alphabet, then missing ones."""
    if value is None:
        return (2, 0.0, "")
    if isinstance(value, str):
        return (1, 0.0, value)
    return (0, float(value), "")


def value_key(value: ParamValue | None) -> Hashable:
    """Equal values have one key; true is not 1, but 64 and 64.0 are the same."""
    return (isinstance(value, bool), value)


def group_of(rows: Sequence[TrialRow], value: ParamValue | None, study: Study) -> Group:
    """What rows of a study have in common, under a value that names them all."""
    complete = [row for row in rows if row.state is TrialState.COMPLETE]
    best = next(iter(ranked(complete, study.direction)), None)
    accuracies = _numbers(complete, attrgetter("test_accuracy"))
    values = _numbers(complete, attrgetter("value"))
    return Group(
        study=study.name,
        value=value,
        trials=len(rows),
        complete=len(complete),
        pruned=_count(rows, TrialState.PRUNED),
        failed=_count(rows, TrialState.FAILED),
        epoch_s=mean_of(_numbers(rows, attrgetter("epoch_s"))),
        images_per_s=mean_of(_numbers(rows, attrgetter("images_per_s"))),
        peak_memory_mib=mean_of(_numbers(rows, attrgetter("peak_memory_mib"))),
        test_accuracy=mean_of(accuracies),
        test_accuracy_std=deviation_of(accuracies),
        best_test_accuracy=None if best is None else best.test_accuracy,
        best_trial=None if best is None else best.number,
        cost=sum_of(_numbers(rows, attrgetter("cost"))),
        mean_value=mean_of(values),
        value_std=deviation_of(values),
        best_value=None if best is None else best.value,
        baseline_memory_mib=mean_of(_numbers(rows, attrgetter("baseline_memory_mib"))),
        micro_batch=min((row.micro_batch for row in rows if row.micro_batch), default=None),
        num_sharing=max((row.num_sharing for row in rows if row.num_sharing), default=None),
    )


def _count(rows: Iterable[TrialRow], state: TrialState) -> int:
    return sum(row.state is state for row in rows)


def _numbers(rows: Iterable[TrialRow], number: Callable[[TrialRow], float | None]) -> list[float]:
    return [value for row in rows if (value := finite(number(row))) is not None]
