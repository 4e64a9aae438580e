"""Endings: why a sweep stops, and the watch for a study whose every trial fails alike."""

from dataclasses import dataclass

from sweep.records import Cause, Epoch, Trial, TrialState

_NUM_ALIKE = 5
_MAX_ATTEMPTS_WITHOUT_EPOCH = 3
_FAULTS = (Cause.EXCEPTION, Cause.LOST, Cause.HUNG)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """Why no more trials are started: one line, and the exit code that goes with it."""

    reason: str
    exit_code: int


def natural_end(*, is_enough: bool, has_complete: bool) -> Ending:
    """The end of a study that nobody stopped: enough trials, or no more points to try."""
    reason = "all trials are finished" if is_enough else "the space is exhausted"
    if has_complete:
        return Ending(reason=reason, exit_code=0)
    return Ending(reason=f"{reason}, none of them complete", exit_code=1)


def diverged(epoch: Epoch) -> str:
    """Which metrics of an epoch were not finite, in words."""
    names = ", ".join(name for name, value in epoch.metrics.items() if value is None)
    return f"{names} not finite in epoch {epoch.epoch + 1}"


class Strikes:
    """Counts, for each trial, the attempts that went wrong since its last new epoch."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def is_out(self, number: int) -> bool:
        """Count one more attempt that went wrong; whether the trial has had its last."""
        self._counts[number] = self._counts.get(number, 0) + 1
        if self._counts[number] < _MAX_ATTEMPTS_WITHOUT_EPOCH:
            return False
        self.forgive(number)  # somebody may have it tried again
        return True

    def forgive(self, number: int) -> None:
        """The trial has finished an epoch: it gets on."""
        self._counts.pop(number, None)


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
