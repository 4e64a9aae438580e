"""The screen's text: a board as lines of a terminal's width, one line for each slot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sweep.cli.board import Board, Running
from sweep.cli.grid import GAP, grid
from sweep.cli.progress import bar
from sweep.fleet.slots import Slot
from sweep.records import TrialState
from sweep.sizes import show_size
from sweep.views.best import why_none
from sweep.views.columns import is_accuracy
from sweep.views.display import (
    one_line,
    shorten,
    show_duration,
    show_metric,
    show_param,
    show_params,
    width_of,
)
from sweep.views.sparkline import Span, sparkline

_MAX_METRIC = 8
_MAX_WORD = 10
_STATES = (
    TrialState.COMPLETE,
    TrialState.PRUNED,
    TrialState.FAILED,
    TrialState.RUNNING,
    TrialState.WAITING,
)
_ENDLESS = 10_000
_MIN_ROOM = 8
_CURVE = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenText:
    """What the screen shows: where the study stands, then a table under its header.

    `done` and `to_do` are the two parts of the bar; both empty where no number is wanted.
    """

    title: str
    done: str
    to_do: str
    progress: str
    counts: str
    best: str
    table: tuple[str, ...]


def screen_text(
    board: Board, now_s: float, width: int, use: Mapping[str, int | None]
) -> ScreenText:
    """The board in lines of at most `width` columns; `use` is each GPU's, in percent, by UUID."""
    done, to_do = bar(board.num_finished, board.wanted)
    progress = f"{_finished(board)}   {_times(board, now_s)}"
    return ScreenText(
        title=shorten(_title(board), width),
        done=done,
        to_do=to_do,
        progress=shorten(progress, max(1, width - len(done + to_do) - 1)),
        counts=shorten("  ".join(f"{board.counts[s]} {s.value}" for s in _STATES), width),
        best=shorten(_best(board), width),
        table=tuple(_table(board, width, use)),
    )


def about(seconds: float) -> str:
    """An estimate, no finer than it deserves: about 40 s, about 3 min, about 2 h 05 min."""
    if seconds < 60:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    if seconds < 3600:
        return f"about {round(seconds / 60)} min"
    return f"about {show_duration(seconds)}"


def epoch_of(running: Running, epochs: int | None) -> str:
    """How many epochs are done: 3/6; the number alone where the whole is not known."""
    done = running.num_epochs
    return str(done) if epochs is None else f"{done}/{epochs}"


def _finished(board: Board) -> str:
    if board.wanted is None:
        return f"{board.num_finished} trials"
    return f"{board.num_finished}/{board.wanted} trials"


def _title(board: Board) -> str:
    study = board.study
    return f"{one_line(study.name)}   {study.direction} {one_line(study.metric)}"


def _times(board: Board, now_s: float) -> str:
    seconds = board.elapsed_s(now_s)
    elapsed = f"{seconds:.0f} s" if seconds < 59.5 else show_duration(seconds)
    remaining_s = board.remaining_s(now_s)
    return elapsed if remaining_s is None else f"{elapsed}, {about(remaining_s)} left"


def _best(board: Board) -> str:
    best = board.best
    if best is None:
        num_excluded = sum(trial.excluded for trial in board.trials.values())
        return f"best: {why_none(board.counts[TrialState.COMPLETE], num_excluded)}"
    value = show_metric(board.study.metric, best.value)
    return f"best {value} in trial {best.number}: {show_params(best.params)}"


def _table(board: Board, width: int, use: Mapping[str, int | None]) -> list[str]:
    header = ["slot", "trial", "epoch", _short_name(board.study.metric), "images/s", "  memory"]
    slots = _shown_slots(board)
    rows = [header, *(_row(slot, board) for slot in slots)]
    if any(slot.device.uuid for slot in slots):
        busy = ["gpu", *(_percent(slot, use) for slot in slots)]
        rows = [[*row, cell] for row, cell in zip(rows, busy, strict=True)]
    running = [board.running.get(slot.index) for slot in slots]
    taken = _taken(rows)
    with_curves = [[*row, cell] for row, cell in zip(rows, _curves(running), strict=True)]
    if width - _taken(with_curves) >= max(_MIN_ROOM, *map(width_of, _values(running))):
        rows, taken = with_curves, _taken(with_curves)
    params = _params_cells(running, max(width - taken, _MIN_ROOM))
    return grid([[*row, cell] for row, cell in zip(rows, params, strict=True)], width)


def _taken(rows: Sequence[Sequence[str]]) -> int:
    """The columns that the rows take, with a gap after them."""
    return width_of(grid([[*row, ""] for row in rows], _ENDLESS)[0]) + len(GAP)


def _curves(running: Sequence[Running | None]) -> list[str]:
    """How the objective of each running trial went, all on one scale, under a name."""
    span = Span.of(value for each in running if each for value in each.values)
    curves = ["" if each is None else sparkline(each.values, span, _CURVE) for each in running]
    return ["curve".ljust(_CURVE), *(curve.ljust(_CURVE) for curve in curves)]


def _shown_slots(board: Board) -> list[Slot]:
    """All of them, but of those that share a GPU only the first and what is at work."""
    firsts = {slot.device: slot.index for slot in reversed(board.slots)}
    return [
        slot
        for slot in board.slots
        if slot.device.uuid is None
        or slot.index in board.running
        or slot.index == firsts[slot.device]
    ]


def _short_name(metric: str) -> str:
    if is_accuracy(metric):
        return "accuracy"
    return shorten(one_line(metric), _MAX_METRIC).rjust(_MAX_METRIC)


def _percent(slot: Slot, use: Mapping[str, int | None]) -> str:
    percent = use.get(slot.device.uuid or "")
    return "" if percent is None else f"{percent}%"


def _row(slot: Slot, board: Board) -> list[str]:
    running = board.running.get(slot.index)
    if running is None:
        return [slot.short_name, "", "", "", "", ""]
    epoch = running.epoch
    value = None if epoch is None else epoch.metrics.get(board.study.metric)
    rate = None if epoch is None else epoch.images_per_s
    memory = None if epoch is None else epoch.peak_memory_bytes
    return [
        (running.place or slot).short_name,
        str(running.trial.number),
        epoch_of(running, board.epochs),
        "" if value is None else show_metric(board.study.metric, value),
        "" if rate is None else f"{rate:.0f}",
        "" if memory is None else show_size(memory),
    ]


def _params_cells(running: Sequence[Running | None], room: int) -> Sequence[str]:
    """The params column, its name first: name=value where that has room, else short values."""
    params = [None if each is None else each.trial.params for each in running]
    named = ["" if each is None else show_params(each) for each in params]
    if max(map(width_of, named)) <= room:
        return ["params", *named]
    names = _listed(one_line(name) for name in next(filter(None, params), {}))
    return [shorten(cell, room) for cell in (names, *_values(running))]


def _values(running: Sequence[Running | None]) -> list[str]:
    """The values of each slot's params, short."""
    params = [{} if each is None else each.trial.params for each in running]
    return [_listed(map(show_param, each.values())) for each in params]


def _listed(words: Iterable[str]) -> str:
    return " ".join(shorten(word, _MAX_WORD) for word in words)
