"""Subject: one study to draw, and which of its params play which part in the figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sweep.errors import UsageError
from sweep.records import ParamValue, Snapshot
from sweep.space.distributions import Float, Int
from sweep.spec.study import StudySpec
from sweep.views.comparison import check_param, num_values
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, compared, trial_rows
from sweep.views.series.axis import MAX_EVEN


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A study, its trials but the excluded ones, and the params its figures are about.

    `is_whole` is false where the snapshot has only some of the study's trials.

    `size` is what the three panels compare: batch_size, else the first param of few numbers, else
    any. `scale` is what the objective is drawn against: lr, else the first other param of numbers.
    `group` gives the colours and the boxes: optimizer, else the first param of few labels.
    Each is None where there is no such param. `ranged` are searched in a range, not in a list of
    values, and `log_params` on a log scale.
    """

    snapshot: Snapshot
    is_whole: bool = True
    rows: Sequence[TrialRow]
    params: tuple[str, ...]
    size: str | None
    scale: str | None
    group: str | None
    ranged: frozenset[str]
    log_params: frozenset[str]

    @property
    def metric(self) -> str:
        return self.snapshot.study.metric

    def values(self, param: str) -> list[ParamValue | None]:
        """The param's value in each trial."""
        return [row.param(param) for row in self.rows]

    def is_log(self, param: str) -> bool | None:
        """Whether the param is searched on a log scale; None where its values are a list.

        The learning rate always is: its values are compared by their ratios.
        """
        if param == "lr" or param in self.log_params:
            return True
        return False if param in self.ranged else None


def subject_of(
    snapshot: Snapshot,
    *,
    param: str | None = None,
    by: str | None = None,
    rows: Sequence[TrialRow] | None = None,
) -> Subject:
    """The study ready to be drawn; `rows` are its trials where they are measured already.

    `param` is drawn instead of batch_size and lr, and `by` instead of the optimizer. Raises
    UsageError for a param that the study has not.
    """
    names = plan_of(snapshot).params
    for asked in (param, by):
        if asked is not None:
            check_param([snapshot], asked)
    if param is not None and param == by:
        raise UsageError(f"{param} is drawn already; name another param to group by")
    rows = compared(trial_rows(snapshot) if rows is None else rows)
    size = param or _size(rows, names)
    scale = param or _scale(rows, names, size)
    ranges = _ranges(snapshot)
    return Subject(
        snapshot=snapshot,
        rows=rows,
        params=names,
        size=size,
        scale=scale,
        group=by or _group(rows, names, param),
        ranged=frozenset(ranges),
        log_params=frozenset(name for name, is_log in ranges.items() if is_log),
    )


def _size(rows: Sequence[TrialRow], names: Sequence[str]) -> str | None:
    if "batch_size" in names:
        return "batch_size"
    few = _first(names, lambda name: _is_numeric(rows, name) and _num_values(rows, name) > 1)
    numeric = [name for name in names if _is_numeric(rows, name)]
    short = [name for name in numeric if 1 < _num_values(rows, name) <= MAX_EVEN]
    return next(iter(short), few or _first(names, lambda name: bool(_num_values(rows, name))))


def _scale(rows: Sequence[TrialRow], names: Sequence[str], size: str | None) -> str | None:
    if "lr" in names:
        return "lr"
    other = _first(names, lambda name: name != size and _is_numeric(rows, name))
    return other or _first(names, lambda name: _is_numeric(rows, name))


def _group(rows: Sequence[TrialRow], names: Sequence[str], drawn: str | None) -> str | None:
    if "optimizer" in names and drawn != "optimizer":
        return "optimizer"
    return _first(
        names,
        lambda name: (
            name != drawn
            and not _is_numeric(rows, name)
            and 1 < _num_values(rows, name) <= MAX_EVEN
        ),
    )


def _first(names: Sequence[str], is_fit: Callable[[str], bool]) -> str | None:
    return next((name for name in names if is_fit(name)), None)


def _is_numeric(rows: Sequence[TrialRow], name: str) -> bool:
    values = [value for row in rows if (value := row.param(name)) is not None]
    return bool(values) and not any(isinstance(value, str | bool) for value in values)


def _num_values(rows: Sequence[TrialRow], name: str) -> int:
    return num_values([row.trial for row in rows if row.param(name) is not None], name)


def _ranges(snapshot: Snapshot) -> dict[str, bool]:
    """The params that are searched in a range, and whether on a log scale."""
    ranges: dict[str, bool] = {}
    for param in StudySpec.from_json(dict(snapshot.study.spec)).space.params:
        for each in param.alternatives:
            if isinstance(each.distribution, Float | Int):
                ranges[param.name] = ranges.get(param.name, False) or each.distribution.log
    return ranges
