"""The vigil's deadlines, by a clock that the test moves."""

from pathlib import Path

import pytest

from sweep.coordinator import vigil as module
from sweep.coordinator.vigil import Step, Vigil
from sweep.fleet.slots import Slot, cpu_slots

SLOT, OTHER = cpu_slots(2)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic_s", lambda: now[0])
    return now


def _pass(vigil: Vigil, clock: list[float], seconds: float) -> list[tuple[Slot, Step]]:
    """Let time go by as the loop does, a second at a time; what was to be done meanwhile."""
    found = []
    for _ in range(round(seconds)):
        clock[0] += 1.0
        found += [(each.slot, each.step) for each in vigil.look()]
    return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "attempt-1.log"


def test_before_the_first_epoch_ten_minutes_may_pass(clock: list[float], log: Path) -> None:
    vigil = Vigil()
    vigil.began(SLOT, log, 0.0)
    assert _pass(vigil, clock, 599) == []
    assert _pass(vigil, clock, 1) == [(SLOT, Step.DUMP)]


def test_what_hangs_is_dumped_then_stopped_then_killed(clock: list[float], log: Path) -> None:
    vigil = Vigil(hang_after_s=10.0)
    vigil.began(SLOT, log, 0.0)
    steps = [step for _, step in _pass(vigil, clock, 16)]
    assert steps == [Step.DUMP, Step.STOP, Step.KILL, Step.KILL]
    assert vigil.ended(SLOT) == 10.0
    assert _pass(vigil, clock, 60) == []


def test_a_line_in_the_log_counts_before_the_first_epoch_only(
    clock: list[float], log: Path
) -> None:
    vigil = Vigil()
    vigil.began(SLOT, log, 0.0)
    log.write_text("loading\n")
    assert _pass(vigil, clock, 1100) == []
    log.write_text("loading\nstill loading\n")
    assert _pass(vigil, clock, 500) == []
    vigil.progressed(SLOT, 1.0)
    log.write_text("loading\nstill loading\nand more\n")
    assert _pass(vigil, clock, 20_000)[0] == (SLOT, Step.DUMP)


@pytest.mark.parametrize(("epoch_s", "deadline_s"), [(0.5, 30), (3.0, 30), (8.0, 80), (90.0, 900)])
def test_later_epochs_may_take_ten_times_the_slowest_and_thirty_seconds_at_least(
    clock: list[float], log: Path, epoch_s: float, deadline_s: int
) -> None:
    vigil = Vigil()
    vigil.began(SLOT, log, 0.0)
    vigil.progressed(SLOT, epoch_s)
    vigil.progressed(SLOT, 0.1)
    assert _pass(vigil, clock, deadline_s - 1) == []
    assert _pass(vigil, clock, 1) == [(SLOT, Step.DUMP)]


def test_a_resumed_trial_knows_its_slowest_epoch(clock: list[float], log: Path) -> None:
    vigil = Vigil()
    vigil.began(SLOT, log, 100.0)
    assert _pass(vigil, clock, 999) == []
    assert _pass(vigil, clock, 1) == [(SLOT, Step.DUMP)]


def test_one_that_was_only_slow_is_left_alone(clock: list[float], log: Path) -> None:
    vigil = Vigil(hang_after_s=10.0)
    vigil.began(SLOT, log, 0.0)
    assert _pass(vigil, clock, 10) == [(SLOT, Step.DUMP)]
    vigil.progressed(SLOT, 10.5)
    assert _pass(vigil, clock, 9) == []
    assert vigil.ended(SLOT) is None


def test_time_in_which_the_coordinator_was_frozen_is_not_held_against_a_worker(
    clock: list[float], log: Path
) -> None:
    vigil = Vigil(hang_after_s=10.0)
    vigil.began(SLOT, log, 0.0)
    clock[0] += 3600.0
    assert vigil.look() == []
    assert _pass(vigil, clock, 4) == []
    assert _pass(vigil, clock, 1) == [(SLOT, Step.DUMP)]


def test_each_slot_has_its_own_deadline(clock: list[float], log: Path) -> None:
    vigil = Vigil(hang_after_s=10.0)
    vigil.began(SLOT, log, 0.0)
    assert _pass(vigil, clock, 5) == []
    vigil.began(OTHER, log, 0.0)
    assert _pass(vigil, clock, 5) == [(SLOT, Step.DUMP)]
    assert vigil.ended(OTHER) is None
