"""Sparklines: how the running trials go, in status and on the live screen, on any terminal."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sweep.cli.board import after
from sweep.cli.screen_text import screen_text
from sweep.cli.standing import redrawn, screenful
from sweep.cli.status_text import status_text
from sweep.cli.studies import Standing
from sweep.coordinator.events import EpochStored
from sweep.records import Holder, Lease, Outline
from sweep.views.display import show_device, width_of
from sweep.views.sparkline import BLOCKS, PLAIN, Span, sparkline
from tests.snapshots import START, SnapshotBuilder, make_epochs, make_spec
from tests.unit.test_cli_board import CPU_0, board, started

UUID = "GPU-3f2a91c0-0000-1111-2222-333344445555"


def test_a_sparkline_rises_from_the_lowest_to_the_highest() -> None:
    span = Span.of([0.0, 1.0])
    assert sparkline([0.0, 0.5, 1.0], span, 8) == "▁▅█"
    assert sparkline([index / 7 for index in range(8)], span, 8) == BLOCKS


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        ([None, None], ""),
        ([0.5], "▁"),
        ([None, 0.5, None], " ▁ "),
        ([0.0, 0.5, 2.0, 1.0], "▁█▇"),
        ([-5.0, 0.5, 1.0, 0.5], "▁▇▁"),
    ],
)
def test_a_sparkline_is_of_the_latest_epochs_and_stays_in_its_span(
    values: list[float | None], shown: str
) -> None:
    span = Span(low=0.5, high=1.1)
    assert sparkline(values, span, 3) == shown


def test_a_level_line_is_in_the_middle() -> None:
    assert sparkline([0.5, 0.5], Span.of([0.5, None]), 8) == "▅▅"
    assert Span.of([None]) == Span(low=0.0, high=0.0)


def test_a_terminal_without_blocks_has_plain_marks() -> None:
    assert BLOCKS.translate(PLAIN) == "_.:-=+*#"


def standing() -> Standing:
    spec = make_spec({"optimizer": ["sgd", "adam"], "batch_size": [64], "lr": [0.1]})
    builder = SnapshotBuilder(spec)
    params = {"optimizer": "sgd", "batch_size": 64, "lr": 0.1}
    builder.running(0.2, 0.7, 1.0, **params, attempt={"device": UUID})
    builder.running(0.2, None, **params, attempt={"device": UUID}).running(**params)
    snapshot = builder.build()
    outline = Outline(
        study=snapshot.study,
        trials=snapshot.trials,
        attempts=snapshot.attempts,
        epochs=snapshot.epochs,
        num_epochs={0: 3, 1: 2},
    )
    holder = Holder(host="box", pid=1, process_started_at_s=1.0)
    lease = Lease(study_id=1, token=1, holder=holder, is_current=True, expires_in_s=30.0)
    return Standing(outline=outline, lease=lease)


def test_status_shows_how_each_running_trial_goes_in_80_columns() -> None:
    lines = status_text(standing(), START + timedelta(seconds=60), 80).splitlines()
    assert max(map(width_of, lines)) <= 80
    assert lines[-5:-2] == [
        "running  trial 0 on GPU-3f2a91c0, epoch 3 of 3, 100.00% ▁▅█: optimizer=sgd",
        "         batch_size=64 lr=0.1",
        "         trial 1 on GPU-3f2a91c0, epoch 2 of 3 ▁: optimizer=sgd batch_size=64",
    ]


@pytest.mark.parametrize(("is_led", "words"), [(True, "3 running"), (False, "3 cut short")])
def test_what_nobody_leads_any_more_is_not_called_running(is_led: bool, words: str) -> None:
    now = standing()
    text = status_text(now if is_led else replace(now, lease=None), START, 80)
    assert words in text


def test_the_live_screen_draws_all_curves_on_one_scale() -> None:
    now = started(board(), 0, CPU_0, 100.0)
    for epoch in make_epochs(0, [0.1, 0.5, 0.9]):
        now = after(now, EpochStored(slot=CPU_0, epoch=epoch), 101.0)
    header, line, _ = screen_text(now, 102.0, 80, {}).table
    assert "curve" in header
    assert "▁▅█" in line
    assert "curve" not in screen_text(now, 102.0, 60, {}).table[0]


def test_a_device_is_as_short_as_it_can_be_told_apart() -> None:
    assert show_device(UUID) == "GPU-3f2a91c0"
    assert show_device("cpu") == "cpu"
    assert show_device(f"{UUID},GPU-77777777-0000") == "GPU-3f2a91c0,GPU-77777777"


@pytest.mark.parametrize("rows", [3, 5, 10, 59, 60])
def test_a_watched_list_leaves_out_what_a_terminal_has_no_rows_for(rows: int) -> None:
    first = standing()
    idle = replace(first, lease=None)
    study = first.outline.study
    named = [
        replace(idle, outline=replace(idle.outline, study=replace(study, name=f"study {n}")))
        for n in range(57)
    ]
    lines = screenful([first, *named], None, 80, rows).splitlines()
    assert lines[1].startswith(study.name)
    if rows == 60:
        assert len(lines) == 59
        return
    assert len(lines) == max(rows - 1, 3)
    assert lines[-1] == f"+{58 - len(lines[1:-1])} more"
    if rows > 3:
        assert lines[-2].startswith("study 56")


def test_a_watched_study_leaves_out_what_a_terminal_has_no_rows_for() -> None:
    whole = screenful([standing()], "made_up", 80, 50)
    lines = screenful([standing()], "made_up", 80, 6).splitlines()
    assert lines == [*whole.splitlines()[:4], f"+{len(whole.splitlines()) - 4} more"]
    assert screenful([standing()], "made_up", 80, len(whole.splitlines()) + 1) == whole


def test_a_watched_status_is_drawn_over_the_last_one_without_a_blank_between() -> None:
    shown = redrawn("one\ntwo\n")
    assert shown == "\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J"
    assert "\x1b[2J" not in shown
