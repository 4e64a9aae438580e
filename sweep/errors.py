"""The one exception tree: what can go wrong, the exit code it means, and nothing else.

    SweepError                  70  our own bug, unless a subclass says otherwise
    |-- UsageError               2  bad usage of a command
    |   |-- StudyFileError       2  a study file is wrong; holds every problem found
    |   `-- TrainFunctionError   2  the user's train or model function cannot be used
    |-- NotFoundError            3  a study, trial or file is not there
    |-- UnusableError            4  something outside cannot be used
    |   |-- DeviceError          4  a GPU is absent or torch cannot use it
    |   |-- DiskError            4  a disk is full or cannot be written
    |   |-- StorageError         4  the database cannot be used
    |   `-- DataError            4  the data set cannot be read or fetched
    |-- LedByAnotherError        5  another living coordinator leads the study
    |-- FencedError              5  our lease was taken over; nothing more may be written
    |-- BrokenContractError     70  the train function yields what is no epoch; fails a trial
    |-- DamagedCheckpointError  70  a checkpoint is absent, cut short or changed; passed over
    |-- WireError               70  a message between coordinator and worker is malformed
    |-- StaleAttemptError       70  an attempt that is no longer its trial's current one spoke
    `-- TransitionError         70  a row is not in the state that a change starts from

A message is one line: what was found, what is allowed, what to do next.
"""

from dataclasses import dataclass


class SweepError(Exception):
    """A fault that is explained to the user in one line."""

    exit_code = 70


class UsageError(SweepError):
    """A command was given something it cannot take."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One fault in a study file. `line` is one-based; None where no line can be named."""

    source: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{where}: {self.message}"


class StudyFileError(UsageError):
    """A study file has one or more problems; each is one line of the message."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class TrainFunctionError(UsageError):
    """The study's train or model function is missing, cannot be imported or is no generator."""


class NotFoundError(SweepError):
    """A study, trial or file that was asked for does not exist."""

    exit_code = 3


class UnusableError(SweepError):
    """Something outside this program cannot be used."""

    exit_code = 4


class DeviceError(UnusableError):
    """A device is absent, or torch cannot use it."""


class DiskError(UnusableError):
    """A disk is full or cannot be written."""


class FullDiskError(DiskError):
    """A disk is full, or what this user may write there is used up."""


class StorageError(UnusableError):
    """The database cannot be opened, read or written."""


class DataError(UnusableError):
    """The data set cannot be found, fetched or read."""


class LedByAnotherError(SweepError):
    """Another living coordinator leads the study."""

    exit_code = 5


class FencedError(LedByAnotherError):
    """Leadership passed to another coordinator; this one may write nothing more."""


class BrokenContractError(SweepError):
    """A train function yields what is no epoch, or a state that cannot be saved."""


class DamagedCheckpointError(SweepError):
    """A checkpoint is absent, cut short, changed, or not one of ours."""


class WireError(SweepError):
    """A message between coordinator and worker is malformed."""


class StaleAttemptError(SweepError):
    """An attempt spoke that is not its trial's current, running one; nothing was written."""


class TransitionError(SweepError):
    """A row is not in the state that a change of it starts from; nothing was written."""
