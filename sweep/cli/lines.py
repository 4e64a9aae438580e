"""Plain lines: a run's events for a log, a line for each start and end, few in between."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from sweep import clock
from sweep.cli.board import Board, Running, after, board_of
from sweep.cli.console import tell
from sweep.cli.progress import fetched_text
from sweep.cli.screen_text import about
from sweep.coordinator.events import (
    DataFetched,
    EpochStored,
    Event,
    Notice,
    StudyLed,
    TrialChanged,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
)
from sweep.records import Trial, TrialState
from sweep.views.display import one_line, show_count, show_duration, show_metric, show_params

LINE_EVERY_S = 10.0


class Lines(AbstractContextManager["Lines"]):
    """Tells each event on stderr as a line; of epochs, one in ten seconds for each slot, and of
    a download one in ten seconds.
    """

    def __init__(self) -> None:
        self._board: Board | None = None
        self._told_s: dict[int, float] = {}
        self._fetched_told_s: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing is held."""

    def show(self, event: Event) -> None:
        """The event is told, if it is worth a line."""
        now_s = clock.monotonic_s()
        match event:
            case Notice(text=text):
                tell(one_line(text))
            case DataFetched():
                self._tell_fetched(event, now_s)
            case StudyLed():
                self._board = board_of(event, now_s)
                tell(led_line(self._board))
            case _ if self._board is not None:
                before, self._board = self._board, after(self._board, event, now_s)
                self._tell_change(event, before, self._board, now_s)

    def _tell_fetched(self, event: DataFetched, now_s: float) -> None:
        told_s = self._fetched_told_s
        is_whole = event.done_bytes == event.total_bytes
        if told_s is None or is_whole or now_s - told_s >= LINE_EVERY_S:
            self._fetched_told_s = now_s
            tell(fetched_text(event))

    def _tell_change(self, event: Event, before: Board, board: Board, now_s: float) -> None:
        match event:
            case TrialStarted(slot=slot):
                self._told_s[slot.index] = now_s
                tell(started_line(event))
            case EpochStored(slot=slot) if slot.index in board.running:
                if now_s - self._told_s.get(slot.index, 0.0) >= LINE_EVERY_S:
                    self._told_s[slot.index] = now_s
                    tell(epoch_line(board.running[slot.index], board))
            case TrialFinished(slot=slot, trial=trial):
                tell(finished_line(trial, before.running.get(slot.index), board, now_s))
            case TrialInterrupted(trial=trial, message=message):
                tell(interrupted_line(trial, message))
            case TrialChanged(text=text):
                tell(text)


def led_line(board: Board) -> str:
    """What begins: the study, what is there of it already, and on how many slots."""
    wanted = "" if board.wanted is None else f" of {show_count(board.wanted, 'trial')}"
    done = f"{board.num_finished}{wanted} finished"
    slots = show_count(len(board.slots), "slot")
    return f"study {one_line(board.study.name)}: {done}, {slots}"


def started_line(event: TrialStarted) -> str:
    """An attempt begins: on which device, whether it goes on or starts over, with which params."""
    trial, slot = event.trial, event.slot
    name = slot.short_name
    if trial.attempt == 1:
        begins = f"starts on {name}"
    elif event.first_epoch == 0:
        begins = f"starts over on {name}, no state was saved"
    else:
        begins = f"goes on at epoch {event.first_epoch + 1} on {name}"
    return f"trial {trial.number} {begins}: {show_params(trial.params)}"


def epoch_line(running: Running, board: Board) -> str:
    """A trial's latest epoch, counted from 1."""
    assert running.epoch is not None, "an epoch was stored"
    whole = "" if board.epochs is None else f" of {board.epochs}"
    value = show_metric(board.study.metric, running.epoch.metrics.get(board.study.metric))
    number, done = running.trial.number, running.num_epochs
    return f"trial {number} epoch {done}{whole}: {one_line(board.study.metric)} {value}"


def finished_line(trial: Trial, running: Running | None, board: Board, now_s: float) -> str:
    """A trial's end: its state and value, and how far the study is with it."""
    wanted = "" if board.wanted is None else f" of {board.wanted}"
    remaining_s = board.remaining_s(now_s)
    left = "" if remaining_s is None else f", {about(remaining_s)} left"
    took = "" if running is None else f" in {show_duration(now_s - running.started_s)}"
    end = f"trial {trial.number} {_state(trial, running)}{took}: {_outcome(trial, board)}"
    return f"{end} ({board.num_finished}{wanted}{left})"


def interrupted_line(trial: Trial, message: str) -> str:
    """An attempt was cut short, and why."""
    return f"trial {trial.number} interrupted, to go on later: {one_line(message)}"


def _state(trial: Trial, running: Running | None) -> str:
    if trial.state is TrialState.PRUNED:
        epochs = 0 if running is None else running.num_epochs
        return f"pruned after {show_count(epochs, 'epoch')}"
    return f"failed ({trial.cause})" if trial.cause is not None else str(trial.state)


def _outcome(trial: Trial, board: Board) -> str:
    if trial.state is TrialState.FAILED:
        return one_line(trial.message or "no reason is known")
    metric = board.study.metric
    is_best = board.best is not None and board.best.number == trial.number
    best = ", the best so far" if is_best else ""
    return f"{one_line(metric)} {show_metric(metric, trial.value)}{best}"
