"""Table by a param: what the trials with each of its values took and reached."""

from collections.abc import Sequence
from operator import attrgetter

import pandas as pd

from sweep.records import Snapshot
from sweep.spec.resources import GPUS_PER_TRIAL
from sweep.views.columns import BY, BY_GPUS, BY_MEMORY, BY_OTHER_OBJECTIVE, Columns
from sweep.views.comparison import Group, check_param, groups_by
from sweep.views.rows import trial_rows
from sweep.views.sharing import with_speed_up
from sweep.views.tables import Getters, frame_of, value_cells


def by_table(snapshots: Sequence[Snapshot], param: str) -> pd.DataFrame:
    """One row for each exact value of the param, sorted; trials without it form the last row.

    Of several studies, each has its own rows and the column `study` is appended, since numbers of
    different studies are not to be averaged. Raises UsageError for a param that none of them has.
    """
    check_param(snapshots, param)
    groups = [
        group
        for snapshot in snapshots
        for group in groups_by(trial_rows(snapshot), param, snapshot.study)
    ]
    columns = by_columns(snapshots)
    if param == GPUS_PER_TRIAL:
        groups, columns = with_speed_up(groups), (*columns, *BY_GPUS)
    frame = groups_table(groups, param, columns)
    if len(snapshots) > 1:
        frame["study"] = pd.Series([group.study for group in groups], dtype="str")
    return frame


def by_columns(snapshots: Sequence[Snapshot]) -> Columns:
    """The columns beside the param; the objective's own where it is not the test accuracy."""
    is_other = any(snapshot.study.metric != "test_accuracy" for snapshot in snapshots)
    return (*BY, *(BY_OTHER_OBJECTIVE if is_other else ()), *BY_MEMORY)


def groups_table(groups: Sequence[Group], param: str, columns: Columns) -> pd.DataFrame:
    """The groups as a frame whose first column is the param."""
    names = pd.DataFrame({param: value_cells([group.value for group in groups])})
    return pd.concat([names, frame_of(groups, columns, _CELLS)], axis=1)


_CELLS: Getters = {
    **{column.name: attrgetter(column.name) for column in (*BY, *BY_MEMORY, *BY_GPUS)},
    "value": attrgetter("mean_value"),
    "value_std": attrgetter("value_std"),
    "best_value": attrgetter("best_value"),
}
