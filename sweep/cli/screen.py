"""The live screen: a run's board redrawn on a terminal, and failures left above it."""

import sys
from types import TracebackType
from typing import IO, Any, Self, cast

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from sweep import clock
from sweep.cli.board import Board, after, board_of
from sweep.cli.lines import finished_line, interrupted_line, started_line
from sweep.cli.progress import bar, fetched_text
from sweep.cli.screen_text import ScreenText, screen_text
from sweep.coordinator.events import (
    DataFetched,
    Event,
    Notice,
    StudyLed,
    TrialChanged,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
)
from sweep.fleet.gauges import Gauges
from sweep.records import TrialState

FRAMES_PER_S = 4
_RED = "red"


class Screen:
    """Shows each event on the terminal at stderr, from a thread that redraws the time as well.

    The thread reads one board at a time; boards never change, so nothing is locked.
    """

    def __init__(self) -> None:
        self._console = Console(
            file=cast(IO[str], _Forgiving(sys.stderr)), highlight=False, soft_wrap=False
        )
        self._board: Board | None = None
        self._fetched: DataFetched | None = None
        self._gauges = Gauges()
        self._live = Live(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=FRAMES_PER_S,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._gauges.__enter__()
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.stop()
        self._gauges.__exit__(kind, error, traceback)

    def show(self, event: Event) -> None:
        """The next frame shows the event; a notice or a failure stays above it."""
        now_s = clock.monotonic_s()
        if isinstance(event, StudyLed):
            self._board = board_of(event, now_s)
        elif self._board is not None:
            before, self._board = self._board, after(self._board, event, now_s)
            self._leave_line(event, before, self._board, now_s)
        if isinstance(event, DataFetched):
            self._fetched = event
        if isinstance(event, Notice):
            self._console.print(Text(event.text))

    def _leave_line(self, event: Event, before: Board, board: Board, now_s: float) -> None:
        match event:
            case TrialStarted(trial=trial, first_epoch=0) if trial.attempt > 1:
                self._console.print(Text(started_line(event)))
            case TrialFinished(slot=slot, trial=trial) if trial.state is TrialState.FAILED:
                line = finished_line(trial, before.running.get(slot.index), board, now_s)
                self._console.print(Text(line, style=_RED))
            case TrialInterrupted(trial=trial, message=message):
                self._console.print(Text(interrupted_line(trial, message)))
            case TrialChanged(text=text):
                self._console.print(Text(text))

    def _render(self) -> Group | Text:
        board = self._board
        if board is None:
            return _start(self._fetched)
        uuids = [slot.device.uuid for slot in board.slots if slot.device.uuid]
        now_s = clock.monotonic_s()
        shown = screen_text(board, now_s, self._console.width, self._gauges.use_percent(uuids))
        return Group(*(_head(shown) if board.has_ended else _head(shown) + _table(shown)))


def _start(fetched: DataFetched | None) -> Text:
    """What is shown before the study is led: how a download goes on, if there is one."""
    if fetched is None or fetched.done_bytes == fetched.total_bytes:
        return Text("starting the workers", style="dim")
    done, to_do = bar(fetched.done_bytes, fetched.total_bytes)
    gap = " " if done or to_do else ""
    return Text.assemble((done, "green"), (to_do, "dim"), f"{gap}{fetched_text(fetched)}")


def _head(shown: ScreenText) -> list[Text]:
    bar = Text.assemble((shown.done, "green"), (shown.to_do, "dim"), no_wrap=True)
    gap = " " if shown.done or shown.to_do else ""
    return [
        Text(shown.title, style="bold", no_wrap=True),
        bar.append(f"{gap}{shown.progress}"),
        Text(shown.counts, no_wrap=True),
        Text(shown.best, style="bold", no_wrap=True),
    ]


def _table(shown: ScreenText) -> list[Text]:
    header, *rows = shown.table
    return [
        Text(""),
        Text(header, style="dim", no_wrap=True),
        *(Text(row, no_wrap=True) for row in rows),
    ]


class _Forgiving:
    """A terminal that may vanish, as when a connection breaks: the sweep must go on without it."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            return
