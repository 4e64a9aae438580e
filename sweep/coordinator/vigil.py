"""The vigil: notices a worker that says nothing for too long, and gets rid of it by steps.

Progress is the heartbeat: a finished epoch; before the first one also a line in the log, since
nothing is known of how long an epoch takes.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from sweep.clock import monotonic_s
from sweep.fleet.slots import Slot

_FIRST_EPOCH_S = 600.0
_SHORTEST_S = 30.0
_SLOWEST_TIMES = 10.0
_STEP_S = 2.0
_LONGEST_GAP_S = 5.0


class Step(StrEnum):
    """What is done about a worker that hangs, in rising force."""

    DUMP = "dump"
    STOP = "stop"
    KILL = "kill"


_NEXT = {None: Step.DUMP, Step.DUMP: Step.STOP, Step.STOP: Step.KILL, Step.KILL: Step.KILL}


@dataclass(kw_only=True, slots=True)
class _Watched:
    """A worker at an attempt: when it was last heard of, and how far it is from being given up."""

    slot: Slot
    log: Path
    heard_at_s: float
    deadline_s: float
    slowest_s: float
    has_epoch: bool = False
    log_bytes: int = 0
    step: Step | None = None
    step_at_s: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Overdue:
    """A worker to be dealt with; `silent_s` is how long nothing was heard of it."""

    slot: Slot
    step: Step
    silent_s: float


@dataclass(kw_only=True, slots=True)
class Vigil:
    """Watches the attempts of a run.

    `hang_after_s` is the longest silence that is allowed; None for ten times the slowest epoch so
    far, at least 30 s, and ten minutes before the first. Time in which this process itself did
    not run, as when it was frozen, is not held against anybody.
    """

    hang_after_s: float | None = None
    _watched: dict[int, _Watched] = field(default_factory=dict)
    _looked_at_s: float = field(default_factory=lambda: monotonic_s())
    _awake_s: float = 0.0

    def began(self, slot: Slot, log: Path, slowest_s: float) -> None:
        """An attempt begins; the trial's earlier epochs took `slowest_s` at most, 0 for none."""
        self._watched[slot.index] = _Watched(
            slot=slot,
            log=log,
            heard_at_s=self._awake_s,
            deadline_s=self.hang_after_s or max(_FIRST_EPOCH_S, _SLOWEST_TIMES * slowest_s),
            slowest_s=slowest_s,
        )

    def progressed(self, slot: Slot, epoch_s: float) -> None:
        """An epoch has been reported, and answered, that took `epoch_s` by the worker's clock."""
        if watched := self._watched.get(slot.index):
            silent_s = self._awake_s - watched.heard_at_s
            watched.slowest_s = max(watched.slowest_s, epoch_s, silent_s)
            watched.deadline_s = self.hang_after_s or max(
                _SHORTEST_S, _SLOWEST_TIMES * watched.slowest_s
            )
            watched.has_epoch = True
            watched.heard_at_s = self._awake_s
            if watched.step is Step.DUMP:  # it was only slow
                watched.step = None

    def ended(self, slot: Slot) -> float | None:
        """The attempt is over; for how many seconds it was silent, if that is why."""
        watched = self._watched.pop(slot.index, None)
        return None if watched is None or watched.step is None else watched.deadline_s

    def look(self) -> list[Overdue]:
        """The workers to deal with now. To be called after their messages have been taken in."""
        now_s = monotonic_s()
        self._awake_s += min(now_s - self._looked_at_s, _LONGEST_GAP_S)
        self._looked_at_s = now_s
        return [
            Overdue(slot=each.slot, step=self._next_step(each), silent_s=each.deadline_s)
            for each in self._watched.values()
            if self._is_due(each)
        ]

    def _is_due(self, watched: _Watched) -> bool:
        if watched.step is not None:
            return self._awake_s - watched.step_at_s >= _STEP_S
        if self._awake_s - watched.heard_at_s < watched.deadline_s:
            return False
        return watched.has_epoch or not self._has_printed(watched)

    def _has_printed(self, watched: _Watched) -> bool:
        """Whether the log has grown since it was last looked at; that counts as being heard of."""
        try:
            size = watched.log.stat().st_size
        except OSError:
            return False
        has_grown = size > watched.log_bytes
        watched.log_bytes = size
        if has_grown:
            watched.heard_at_s = self._awake_s
        return has_grown

    def _next_step(self, watched: _Watched) -> Step:
        watched.step = _NEXT[watched.step]
        watched.step_at_s = self._awake_s
        return watched.step
