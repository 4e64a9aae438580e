"""The board: all that is shown of a running sweep at one moment, a new one after each event."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sweep.coordinator.events import (
    EpochStored,
    Event,
    StudyLed,
    SweepEnded,
    TrialChanged,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
)
from sweep.fleet.slots import Slot
from sweep.records import Epoch, Study, Trial, TrialState
from sweep.spec.study import StudySpec


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A trial on a slot: since when, and its latest epoch in this attempt.

    `place` is the slot with all the devices that it has gathered, `values` the objective at each
    epoch of this attempt; None where it was not finite.
    """

    trial: Trial
    started_s: float
    first_epoch: int = 0
    epoch: Epoch | None = None
    place: Slot | None = None
    values: tuple[float | None, ...] = ()

    @property
    def num_epochs(self) -> int:
        """How many epochs are done, those of earlier attempts that count included."""
        return self.first_epoch if self.epoch is None else self.epoch.epoch + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    """A led study. Moments are monotonic seconds.

    `epochs` is the length of a whole trial and `wanted` the number of trials, None where nobody
    knows. `slot_times_s` is how long each finished trial took.
    """

    study: Study
    slots: tuple[Slot, ...]
    trials: Mapping[int, Trial]
    running: Mapping[int, Running] = field(default_factory=dict)
    wanted: int | None
    epochs: int | None
    timeout_s: float | None
    elapsed_before_s: float
    began_s: float
    slot_times_s: tuple[float, ...]
    has_ended: bool = False

    @property
    def counts(self) -> dict[TrialState, int]:
        """How many trials are in each state."""
        counted = Counter(trial.state for trial in self.trials.values())
        return {state: counted[state] for state in TrialState}

    @property
    def num_finished(self) -> int:
        return sum(trial.state.is_finished for trial in self.trials.values())

    @property
    def best(self) -> Trial | None:
        """The complete trial with the best value, the first of equal ones."""
        sign = -1 if self.study.direction.is_better(1, 0) else 1
        values = [
            (sign * trial.value, trial.number)
            for trial in self.trials.values()
            if trial.state is TrialState.COMPLETE
            and not trial.excluded
            and trial.value is not None
            and math.isfinite(trial.value)
        ]
        return self.trials[min(values)[1]] if values else None

    def elapsed_s(self, now_s: float) -> float:
        """The study's seconds so far, over all its runs."""
        return self.elapsed_before_s + now_s - self.began_s

    def remaining_s(self, now_s: float) -> float | None:
        """About how long it goes on, by the mean time of a trial; None where nobody can tell."""
        if self.has_ended or (self.wanted is not None and self.num_finished >= self.wanted):
            return None
        limits = [self._by_trials_s(now_s), self._by_timeout_s(now_s)]
        return min((limit for limit in limits if limit is not None), default=None)

    def _by_trials_s(self, now_s: float) -> float | None:
        if self.wanted is None or not self.slot_times_s:
            return None
        mean_s = sum(self.slot_times_s) / len(self.slot_times_s)
        if self.num_finished + len(self.running) >= self.wanted:
            return max(
                (self._left_s(each, now_s, mean_s) for each in self.running.values()), default=0.0
            )
        done_s = sum(min(now_s - each.started_s, mean_s) for each in self.running.values())
        to_do_s = mean_s * max(0, self.wanted - self.num_finished) - done_s
        return max(0.0, to_do_s) / len(self.slots)

    def _left_s(self, running: Running, now_s: float, mean_s: float) -> float:
        """About how long a trial runs on, if it is not pruned."""
        if self.epochs is None or running.epoch is None:
            return max(0.0, mean_s - (now_s - running.started_s))
        return max(0, self.epochs - 1 - running.epoch.epoch) * running.epoch.epoch_s

    def _by_timeout_s(self, now_s: float) -> float | None:
        if self.timeout_s is None:
            return None
        return max(0.0, self.timeout_s - self.elapsed_s(now_s))


def board_of(led: StudyLed, now_s: float) -> Board:
    """The board at the start of a run."""
    spec = StudySpec.from_json(led.study.spec)
    limits = (led.trials_wanted, spec.space.num_points)
    return Board(
        study=led.study,
        slots=led.slots,
        trials={trial.number: trial for trial in led.trials},
        wanted=min((limit for limit in limits if limit is not None), default=None),
        epochs=spec.training.get("epochs"),
        timeout_s=spec.budget.timeout_s,
        elapsed_before_s=led.elapsed_s,
        began_s=now_s,
        slot_times_s=tuple(_time_s(trial) for trial in led.trials if _ran_in_one_go(trial)),
    )


def after(board: Board, event: Event, now_s: float) -> Board:
    """The board once an event has happened."""
    match event:
        case TrialStarted(slot=slot, trial=trial, first_epoch=first_epoch):
            started = Running(trial=trial, started_s=now_s, first_epoch=first_epoch, place=slot)
            return _changed(board, trial, {**board.running, slot.index: started})
        case EpochStored(slot=slot, epoch=epoch) if slot.index in board.running:
            values = (*board.running[slot.index].values, epoch.metrics.get(board.study.metric))
            reached = replace(board.running[slot.index], epoch=epoch, values=values)
            return replace(board, running={**board.running, slot.index: reached})
        case TrialFinished(slot=slot, trial=trial):
            ended = board.running.get(slot.index)
            # one that went on from a checkpoint tells nothing of a whole trial's time
            is_whole = ended is not None and ended.first_epoch == 0
            times_s = (now_s - ended.started_s,) if ended and is_whole else ()
            freed = _changed(board, trial, _without(board.running, slot))
            return replace(freed, slot_times_s=board.slot_times_s + times_s)
        case TrialInterrupted(slot=slot, trial=trial):
            return _changed(board, trial, _without(board.running, slot))
        case TrialChanged(trial=trial):
            return _changed(board, trial, board.running)
        case SweepEnded():
            return replace(board, has_ended=True)
        case _:
            return board


def _changed(board: Board, trial: Trial, running: Mapping[int, Running]) -> Board:
    return replace(board, trials={**board.trials, trial.number: trial}, running=running)


def _without(running: Mapping[int, Running], slot: Slot) -> dict[int, Running]:
    return {index: each for index, each in running.items() if index != slot.index}


def _ran_in_one_go(trial: Trial) -> bool:
    return trial.attempt == 1 and trial.started_at is not None and trial.finished_at is not None


def _time_s(trial: Trial) -> float:
    assert trial.started_at is not None
    assert trial.finished_at is not None
    return (trial.finished_at - trial.started_at).total_seconds()
