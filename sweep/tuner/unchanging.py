"""Unchanging: a finished trial as the in-memory study takes it in.

Optuna makes a deep copy of every trial that it is given, lest somebody change it afterwards. Of a
study of 10,000 trials that takes four seconds of each start.
"""

from typing import Any

from optuna.trial import FrozenTrial


class Unchanging(FrozenTrial):
    """A finished trial that nobody else holds: a copy of it may be the trial itself."""

    @classmethod
    def of(cls, trial: FrozenTrial) -> "Unchanging":
        """The trial, which its giver uses no more."""
        unchanging = cls.__new__(cls)
        vars(unchanging).update(vars(trial))
        return unchanging

    def __deepcopy__(self, memo: dict[int, Any]) -> "Unchanging":
        return self
