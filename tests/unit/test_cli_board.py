"""The board of a running sweep, and its look as a screen and as lines."""

from dataclasses import replace
from typing import Any

import pytest

from sweep.cli.board import Board, after, board_of
from sweep.cli.lines import Lines, epoch_line, finished_line, led_line, started_line
from sweep.cli.progress import bar
from sweep.cli.screen_text import about, screen_text
from sweep.coordinator.events import (
    DataFetched,
    EpochStored,
    StudyLed,
    SweepEnded,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
)
from sweep.fleet.devices import Device
from sweep.fleet.slots import Slot, cpu_slots, gpu_slots
from sweep.records import Cause, Trial, TrialState
from sweep.spec.study import BudgetSpec
from sweep.views.display import width_of
from tests.snapshots import make_epochs, make_spec, make_study, make_trial

CPU_0, CPU_1 = cpu_slots(2)
GPUS = gpu_slots(
    [Device(uuid=f"GPU-{n}", name="H200", index=n, memory_bytes=2**37) for n in range(2)]
)


def board(
    *trials: Trial,
    slots: tuple[Slot, ...] = (CPU_0, CPU_1),
    budget: BudgetSpec | None = None,
    **choices: Any,
) -> Board:
    """A study of 8 trials and 3 epochs each, led since second 100, with 10 s behind it."""
    spec = make_spec(choices or {"lr": list(range(20))}, budget=budget or BudgetSpec(trials=8))
    led = StudyLed(
        study=make_study(spec),
        slots=slots,
        trials=trials,
        trials_wanted=spec.budget.trials,
        elapsed_s=10.0,
    )
    return board_of(led, 100.0)


def trial(number: int, state: TrialState = TrialState.RUNNING, **fields: Any) -> Trial:
    fields.setdefault("params", {"lr": number})
    return make_trial(number, fields.pop("params"), state, **fields)


def started(on: Board, number: int, slot: Slot, now_s: float, **fields: Any) -> Board:
    event = TrialStarted(slot=slot, trial=trial(number, **fields), first_epoch=0)
    return after(on, event, now_s)


def reached(on: Board, number: int, slot: Slot, *accuracies: float, **fields: Any) -> Board:
    for epoch in make_epochs(number, accuracies, **fields):
        on = after(on, EpochStored(slot=slot, epoch=epoch), 105.0)
    return on


def ended(on: Board, number: int, slot: Slot, now_s: float, **fields: Any) -> Board:
    return after(on, TrialFinished(slot=slot, trial=trial(number, **fields)), now_s)


def test_the_best_is_the_first_complete_trial_of_the_best_value():
    values = [
        trial(0, TrialState.COMPLETE, value=0.8),
        trial(1, TrialState.PRUNED, value=0.99),
        trial(2, TrialState.COMPLETE, value=0.9),
        trial(3, TrialState.COMPLETE, value=0.9),
    ]
    best = board(*values).best
    assert best is not None
    assert best.number == 2
    assert board().best is None


def test_events_move_a_trial_through_its_states():
    now = started(board(trial(0, TrialState.WAITING)), 0, CPU_1, 101.0)
    assert now.counts[TrialState.RUNNING] == 1
    now = reached(now, 0, CPU_1, 0.5, 0.6)
    assert now.running[1].epoch is not None
    assert now.running[1].epoch.epoch == 1
    now = after(
        now,
        TrialInterrupted(slot=CPU_1, trial=trial(0, TrialState.WAITING), message="stopped"),
        103.0,
    )
    assert (now.counts[TrialState.WAITING], dict(now.running)) == (1, {})
    now = ended(started(now, 0, CPU_0, 104.0), 0, CPU_0, 106.0, state=TrialState.COMPLETE, value=1)
    assert (now.num_finished, now.slot_times_s) == (1, (2.0,))


def test_elapsed_time_counts_earlier_runs_too():
    assert board().elapsed_s(103.5) == 13.5


def test_the_rest_is_estimated_by_the_mean_trial_shared_by_the_slots():
    now = board()
    assert now.remaining_s(101.0) is None
    now = started(now, 0, CPU_0, 100.0)
    now = ended(now, 0, CPU_0, 110.0, state=TrialState.COMPLETE, value=0.5)
    assert now.remaining_s(110.0) == 7 * 10 / 2
    now = started(now, 1, CPU_0, 110.0)
    assert now.remaining_s(114.0) == (7 * 10 - 4) / 2
    assert (
        after(now, SweepEnded(reason="stopped", exit_code=130), 114.0).remaining_s(114.0) is None
    )


def test_trials_of_earlier_runs_tell_how_long_one_takes_unless_they_were_cut_short():
    whole = trial(0, TrialState.COMPLETE, value=0.5)
    resumed = replace(trial(1, TrialState.COMPLETE, value=0.5), attempt=2)
    assert board(whole, resumed).slot_times_s == (30.0,)


def test_a_timeout_bounds_the_rest():
    now = board(budget=BudgetSpec(trials=8, timeout_s=60.0))
    assert now.remaining_s(100.0) == 50.0
    assert now.remaining_s(200.0) == 0.0


def test_no_more_trials_are_wanted_than_the_space_has_points():
    assert board(lr=[0.1, 0.2]).wanted == 2
    assert board(lr=[0.1, 0.2], budget=BudgetSpec()).wanted == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "about 5 s"), (33, "about 35 s"), (200, "about 3 min"), (7400, "about 2 h 03 min")],
)
def test_an_estimate_is_no_finer_than_it_deserves(seconds, text):
    assert about(seconds) == text


def test_a_screen_of_80_columns_has_a_line_for_each_slot():
    params = {"optimizer": "sgd", "batch_size": 64, "lr": 0.1}
    now = board(trial(0, TrialState.COMPLETE, value=0.9722, params=params))
    now = reached(started(now, 1, CPU_0, 101.0, params=params), 1, CPU_0, 0.5)
    shown = screen_text(now, 130.0, 80, {})
    assert shown.title == "made_up   maximize test_accuracy"
    assert (len(shown.done), len(shown.to_do)) == (3, 21)
    assert shown.progress == "1/8 trials   40 s, about 2 min left"
    assert shown.counts == "1 complete  0 pruned  0 failed  1 running  0 waiting"
    assert shown.best == "best 97.22% in trial 0: optimizer=sgd batch_size=64 lr=0.1"
    assert shown.table == (
        "slot   trial  epoch  accuracy  images/s    memory  curve   optimizer batch_size…",
        "cpu 0      1    1/3    50.00%       500   100 MiB  ▅       sgd 64 0.1",
        "cpu 1",
    )


def test_a_wider_screen_names_the_params():
    params = {"optimizer": "sgd", "batch_size": 64, "lr": 0.1}
    now = started(board(), 0, CPU_0, 101.0, params=params)
    header, first, _ = screen_text(now, 130.0, 100, {}).table
    assert header.endswith("memory  curve   params")
    assert first.endswith("  optimizer=sgd batch_size=64 lr=0.1")


def test_gpus_have_their_use_and_memory_shown():
    now = board(slots=GPUS)
    for number, slot in enumerate(GPUS):
        now = reached(
            started(now, number, slot, 101.0), number, slot, 0.5, peak_memory_bytes=50 * 2**30
        )
    table = screen_text(now, 110.0, 80, {"GPU-0": 97, "GPU-1": None}).table
    assert table == (
        "slot   trial  epoch  accuracy  images/s    memory  gpu  curve   params",
        "gpu 0      0    1/3    50.00%       500  50.0 GiB  97%  ▅       lr=0",
        "gpu 1      1    1/3    50.00%       500  50.0 GiB       ▅       lr=1",
    )


@pytest.mark.parametrize("width", [40, 60, 80, 132, 200])
def test_no_line_is_wider_than_the_screen(width):
    params = {f"a_param_with_a_long_name_{n}": "some very long text \x1b[31m量" for n in range(9)}
    now = board(trial(0, TrialState.COMPLETE, value=0.5, params=params))
    now = reached(started(now, 1, CPU_0, 101.0, params=params), 1, CPU_0, 0.5)
    shown = screen_text(now, 1e6, width, {})
    bar = f"{shown.done}{shown.to_do} {shown.progress}"
    for line in (shown.title, bar, shown.counts, shown.best, *shown.table):
        assert width_of(line) <= width
        assert "\x1b" not in line


def test_a_study_without_an_end_in_sight_has_no_bar():
    now = board(budget=BudgetSpec(), lr=[0.1])
    endless = replace(now, wanted=None, epochs=None)
    shown = screen_text(started(endless, 0, CPU_0, 101.0), 101.0, 80, {})
    assert (shown.done, shown.to_do, shown.progress) == ("", "", "0 trials   11 s")
    assert shown.table[1].split()[3] == "0"


def test_a_line_says_whether_an_attempt_starts_goes_on_or_starts_over():
    first = trial(0, params={"lr": 0.1})
    second = replace(first, attempt=2)
    lines = {
        "trial 0 starts on cpu 1: lr=0.1": TrialStarted(slot=CPU_1, trial=first, first_epoch=0),
        "trial 0 starts over on gpu 1, no state was saved: lr=0.1": TrialStarted(
            slot=GPUS[1], trial=second, first_epoch=0
        ),
        "trial 0 goes on at epoch 3 on gpu 1: lr=0.1": TrialStarted(
            slot=GPUS[1], trial=second, first_epoch=2
        ),
    }
    assert [started_line(event) for event in lines.values()] == list(lines)
    resumed = after(board(), list(lines.values())[-1], 101.0)
    assert resumed.running[1].num_epochs == 2


def test_lines_tell_of_a_download_at_its_start_and_end_and_seldom_in_between(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("sweep.clock.monotonic_s", lambda: now[0])
    with Lines() as lines:
        for done, now[0] in ((0, 100.0), (2**20, 105.0), (2**21, 110.0), (2**22, 110.5)):
            lines.show(DataFetched(name="a.gz", done_bytes=done, total_bytes=2**22))
    assert capsys.readouterr().err.splitlines() == [
        "fetching a.gz: 0 bytes of 4.00 MiB",
        "fetching a.gz: 2.00 MiB of 4.00 MiB",
        "fetching a.gz: 4.00 MiB of 4.00 MiB",
    ]


@pytest.mark.parametrize(
    ("done", "total", "filled"), [(0, 100, 0), (50, 100, 12), (100, 100, 24), (300, 100, 24)]
)
def test_a_bar_is_filled_as_far_as_the_work_is_done(done, total, filled):
    assert bar(done, total) == ("━" * filled, "─" * (24 - filled))
    assert bar(done, None) == ("", "")


def test_lines_say_what_a_log_needs():
    now = started(board(), 0, CPU_1, 101.0, params={"lr": 0.1})
    assert led_line(now) == "study made_up: 0 of 8 trials finished, 2 slots"
    now = reached(now, 0, CPU_1, 0.5, 0.6)
    running = now.running[1]
    assert epoch_line(running, now) == "trial 0 epoch 2 of 3: test_accuracy 60.00%"
    rest = "(1 of 8, about 30 s left)"
    diverged = {"cause": Cause.DIVERGED, "message": "not finite"}
    outcomes: dict[str, tuple[TrialState, dict[str, Any]]] = {
        f"trial 0 complete in 9.0 s: test_accuracy 60.00%, the best so far {rest}": (
            TrialState.COMPLETE,
            {"value": 0.6},
        ),
        f"trial 0 pruned after 2 epochs in 9.0 s: test_accuracy 60.00% {rest}": (
            TrialState.PRUNED,
            {"value": 0.6},
        ),
        f"trial 0 failed (diverged) in 9.0 s: not finite {rest}": (TrialState.FAILED, diverged),
    }
    for line, (state, fields) in outcomes.items():
        finished = ended(now, 0, CPU_1, 110.0, state=state, **fields)
        assert finished_line(finished.trials[0], running, finished, 110.0) == line


def test_the_last_trials_take_as_long_as_the_longest_has_epochs_left():
    now = board(budget=BudgetSpec(trials=3))
    now = ended(started(now, 0, CPU_0, 100.0), 0, CPU_0, 103.0, state=TrialState.COMPLETE)
    now = started(started(now, 1, CPU_0, 103.0), 2, CPU_1, 103.0)
    now = reached(reached(now, 1, CPU_0, 0.5, 0.6, epoch_s=20.0), 2, CPU_1, 0.5, epoch_s=5.0)
    assert now.remaining_s(130.0) == 20.0


def test_a_trial_that_went_on_from_a_checkpoint_says_nothing_of_a_whole_ones_time():
    now = board()
    resumed = TrialStarted(slot=CPU_0, trial=trial(0), first_epoch=2)
    now = ended(after(now, resumed, 100.0), 0, CPU_0, 101.0, state=TrialState.COMPLETE)
    assert now.remaining_s(101.0) is None
