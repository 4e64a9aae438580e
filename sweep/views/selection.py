"""Selection: the table that was asked for, with the columns that were asked for."""

from collections.abc import Sequence

import pandas as pd

from sweep.errors import UsageError
from sweep.records import Snapshot
from sweep.space.names import hint
from sweep.views.tables import attempts_table, epochs_table, trials_table
from sweep.views.text_table import CHOSEN

_TABLES = {"trials": trials_table, "epochs": epochs_table, "attempts": attempts_table}


def table_of(snapshots: Sequence[Snapshot], name: str) -> pd.DataFrame:
    """The table of that name, trials, epochs or attempts."""
    return _TABLES[name](snapshots)


def with_columns(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns only, in this order, each once, and marked as chosen.

    Raises UsageError for a column that the table has not, with the near or all names.
    """
    known = [str(name) for name in frame.columns]
    for name in names:
        if name not in known:
            raise UsageError(f"there is no column {name!r} in this table; {hint(name, known)}")
    chosen = frame[list(dict.fromkeys(names))]
    chosen.attrs[CHOSEN] = True
    return chosen
