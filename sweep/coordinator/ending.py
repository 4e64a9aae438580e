"""Endings: why a sweep stops, and the watch for a study whose every trial fails alike."""

from dataclasses import dataclass

from sweep.records import Cause, Trial, TrialState

_NUM_ALIKE = 5
_FAULTS = (Cause.EXCEPTION, Cause.LOST, Cause.HUNG)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """Why no more trials are started: one line, and the exit code that goes with it."""

    reason: str
    exit_code: int


class FailureWatch:
    """Notices when the first trials of a run all fail with the same fault."""

    def __init__(self) -> None:
        self._messages: list[str | None] = []
        self._is_over = False

    def note(self, trial: Trial) -> Ending | None:
        """Take note of a finished trial; an ending when it is the fifth to fail like the first."""
        if trial.state is not TrialState.FAILED or trial.cause not in _FAULTS:
            self._is_over = True
        if self._is_over:
            return None
        self._messages.append(trial.message)
        if self._messages[0] != trial.message:
            self._is_over = True
        elif len(self._messages) >= _NUM_ALIKE:
            return Ending(
                reason=f"the first {_NUM_ALIKE} trials all failed alike: {trial.message}",
                exit_code=1,
            )
        return None
