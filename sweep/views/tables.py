"""Tables: trials, epochs and attempts of studies as data frames with the columns of columns.py.

Whole numbers are Int64 and text is str, both with missing cells; all other numbers are float64.
Columns are built from plain lists, never row by row.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import pandas as pd

from sweep.clock import iso_format
from sweep.records import Attempt, Epoch, Snapshot
from sweep.views.best import best
from sweep.views.columns import (
    ATTEMPTS,
    EPOCHS_AFTER_METRICS,
    EPOCHS_BEFORE_METRICS,
    TRIALS_AFTER_PARAMS,
    TRIALS_BEFORE_PARAMS,
    Columns,
    Kind,
    metric_column,
    objective_kinds,
    ordered_metrics,
)
from sweep.views.plan import plan_of
from sweep.views.rows import (
    TrialRow,
    baseline_memory_mib,
    finite,
    peak_memory_mib,
    trial_rows,
)

Getters: TypeAlias = Mapping[str, Callable[[Any], object]]

_DTYPES = {
    Kind.WHOLE: "Int64",
    Kind.TEXT: "str",
    Kind.MOMENT: "str",
    Kind.FLAG: "boolean",
}


def trials_table(snapshots: Sequence[Snapshot]) -> pd.DataFrame:
    """One row a trial, study by study; params of all the studies, inactive ones empty."""
    rows = [row for snapshot in snapshots for row in trial_rows(snapshot)]
    return rows_table(rows, param_names(snapshots))


def best_table(snapshot: Snapshot, top: int = 1) -> pd.DataFrame:
    """The table of trials with only the `top` best ones, the best first."""
    return rows_table(best(snapshot, top), param_names([snapshot]))


def epochs_table(snapshots: Sequence[Snapshot]) -> pd.DataFrame:
    """One row an effective epoch, study by study; metrics of all the studies."""
    rows = [(snapshot.study.name, epoch) for snapshot in snapshots for epoch in snapshot.epochs]
    names = ordered_metrics({name for _, epoch in rows for name in epoch.metrics})
    before = frame_of(rows, EPOCHS_BEFORE_METRICS, _EPOCH_CELLS)
    metrics = {metric_column(name): _metric_cells(name, rows) for name in names}
    after = frame_of(rows, EPOCHS_AFTER_METRICS, _EPOCH_CELLS)
    return pd.concat([before, pd.DataFrame(metrics), after], axis=1)


def attempts_table(snapshots: Sequence[Snapshot]) -> pd.DataFrame:
    """One row an attempt, study by study."""
    rows = [
        (snapshot.study.name, attempt, count)
        for snapshot in snapshots
        for attempt, count in _attempts_with_epochs(snapshot)
    ]
    return frame_of(rows, ATTEMPTS, _ATTEMPT_CELLS)


def param_names(snapshots: Iterable[Snapshot]) -> tuple[str, ...]:
    """The params of all the studies, in the order of their files, each once."""
    return tuple(
        dict.fromkeys(name for snapshot in snapshots for name in plan_of(snapshot).params)
    )


def shown_kinds(snapshots: Sequence[Snapshot]) -> dict[str, Kind]:
    """What the columns of trials are whose names do not tell: the params, and the objective's."""
    params = dict.fromkeys(param_names(snapshots), Kind.PARAM)
    return params | objective_kinds(snapshot.study.metric for snapshot in snapshots)


def frame_of(rows: Sequence[object], columns: Columns, cells: Getters) -> pd.DataFrame:
    """A frame of the columns, each cell got from a row by its column's getter."""
    frame = {
        column.name: pd.Series(
            [cells[column.name](row) for row in rows], dtype=_DTYPES.get(column.kind, "float64")
        )
        for column in columns
    }
    return pd.DataFrame(frame)


def value_cells(values: Sequence[object]) -> "pd.Series[Any]":
    """A column of a param: Int64, float64, boolean or text by what it holds; mixed as it is."""
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return pd.Series(values, dtype="boolean")
    if types == {int}:
        is_small = all(abs(value) < 2**63 for value in values if isinstance(value, int))
        return pd.Series(values, dtype="Int64" if is_small else "object")
    if types and types <= {int, float}:
        return pd.Series(values, dtype="float64")
    if types <= {str}:
        return pd.Series(values, dtype="str")
    return pd.Series(values, dtype="object")


def rows_table(rows: Sequence[TrialRow], params: Sequence[str]) -> pd.DataFrame:
    """The table of trials of these rows, in their order."""
    before = frame_of(rows, TRIALS_BEFORE_PARAMS, _TRIAL_CELLS)
    middle = {name: value_cells([row.param(name) for row in rows]) for name in params}
    after = frame_of(rows, TRIALS_AFTER_PARAMS, _TRIAL_CELLS)
    return pd.concat([before, pd.DataFrame(middle), after], axis=1)


def _metric_cells(metric: str, rows: Sequence[tuple[str, Epoch]]) -> "pd.Series[float]":
    return pd.Series([finite(epoch.metrics.get(metric)) for _, epoch in rows], dtype="float64")


def _attempts_with_epochs(snapshot: Snapshot) -> list[tuple[Attempt, int]]:
    counts: dict[tuple[int, int], int] = {}
    for epoch in snapshot.epochs:
        key = (epoch.trial, epoch.attempt)
        counts[key] = counts.get(key, 0) + 1
    return [(a, counts.get((a.trial, a.attempt), 0)) for a in snapshot.attempts]


def _moment(value: Any) -> str | None:
    return None if value is None else iso_format(value)


_TRIAL_CELLS: Getters = {
    **{column.name: attrgetter(column.name) for column in TRIALS_AFTER_PARAMS},
    "study": attrgetter("study"),
    "trial": attrgetter("number"),
    "state": lambda row: row.state.value,
    "cause": lambda row: None if row.trial.cause is None else row.trial.cause.value,
    "value": attrgetter("value"),
    "seed": attrgetter("trial.seed"),
    "excluded": lambda row: True if row.trial.excluded else None,
    "started_at": lambda row: _moment(row.trial.started_at),
    "finished_at": lambda row: _moment(row.trial.finished_at),
}
_EPOCH_CELLS: Getters = {
    "study": lambda row: row[0],
    "trial": lambda row: row[1].trial,
    "attempt": lambda row: row[1].attempt,
    "epoch": lambda row: row[1].epoch,
    "lr": lambda row: row[1].lr,
    "epoch_s": lambda row: row[1].epoch_s,
    "images_per_s": lambda row: row[1].images_per_s,
    "peak_memory_mib": lambda row: peak_memory_mib(row[1]),
    "baseline_memory_mib": lambda row: baseline_memory_mib(row[1]),
    "micro_batch": lambda row: row[1].micro_batch,
    "num_sharing": lambda row: row[1].num_sharing,
}
_ATTEMPT_CELLS: Getters = {
    "study": lambda row: row[0],
    "trial": lambda row: row[1].trial,
    "attempt": lambda row: row[1].attempt,
    "state": lambda row: row[1].state.value,
    "cause": lambda row: None if row[1].cause is None else row[1].cause.value,
    "device": lambda row: row[1].device,
    "host": lambda row: row[1].host,
    "epochs": lambda row: row[2],
    "started_at": lambda row: _moment(row[1].started_at),
    "finished_at": lambda row: _moment(row[1].finished_at),
    "log": lambda row: row[1].log,
    "num_devices": lambda row: row[1].num_devices,
}
