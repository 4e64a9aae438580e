"""Frames: the tables with the types that pandas computes with; an export has plain text."""

from typing import TypeAlias

import pandas as pd

from sweep.records import Cause, TrialState
from sweep.views.columns import Kind, kind_of_column

Frame: TypeAlias = pd.DataFrame

_WORDS = {"state": [each.value for each in TrialState], "cause": [each.value for each in Cause]}


def typed(frame: Frame) -> Frame:
    """The table with moments as UTC times, and states and causes as categories.

    Whole numbers are Int64, all other numbers float64, text is str; each may miss cells.
    """
    typed = frame.copy()
    for name in frame.columns:
        if kind_of_column(str(name)) is Kind.MOMENT:
            typed[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
        elif name in _WORDS:
            typed[name] = pd.Categorical(frame[name], categories=_WORDS[str(name)])
    return typed
