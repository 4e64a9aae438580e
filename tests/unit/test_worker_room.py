"""Room: how many images go through at once, and what running out of memory makes of it."""

from typing import Any

import pytest

from sweep.records import Cause
from sweep.wire import Assignment, Failed, OnOom
from sweep.worker.room import SMALLEST_MICRO_BATCH, Room


def room(
    batch_size: int = 128, accumulate: int = 1, on_oom: OnOom | None = OnOom.ACCUMULATE
) -> Room:
    params: dict[str, Any] = {"batch_size": batch_size, "accumulate": accumulate, "lr": 0.1}
    return Room(
        Assignment(
            trial=0,
            attempt=1,
            seed=0,
            params=params,
            metric="test_accuracy",
            folder="",
            log="",
            on_oom=on_oom,
        )
    )


def sizes_until_it_gives_up(room: Room) -> list[int | None]:
    sizes = [room.micro_batch]
    while room.run_out():
        sizes.append(room.micro_batch)
    return sizes


@pytest.mark.parametrize(
    ("batch_size", "accumulate", "sizes"),
    [
        (512, 1, [512, 256, 128, 64, 32, 16]),
        (512, 4, [128, 64, 32, 16]),
        (130, 1, [130, 65, 33, 17]),
        (31, 1, [31, 16]),
        (30, 1, [30]),
        (8, 1, [8]),
        (8, 20, [1]),
    ],
)
def test_each_time_half_as_many_images_go_through_down_to_sixteen(
    batch_size: int, accumulate: int, sizes: list[int]
) -> None:
    asked = room(batch_size, accumulate)
    assert sizes_until_it_gives_up(asked) == sizes
    assert asked.too_large == sizes[-1]
    assert SMALLEST_MICRO_BATCH == 16


def test_the_params_stay_as_they_are_but_for_the_parts() -> None:
    asked = room(100, 2)
    assert asked.params == {"batch_size": 100, "accumulate": 2, "lr": 0.1}
    assert asked.run_out()
    assert asked.params == {"batch_size": 100, "accumulate": 4, "lr": 0.1}


@pytest.mark.parametrize(
    ("too_large", "micro_batch"), [(None, 128), (129, 128), (128, 64), (40, 32), (17, 16)]
)
def test_what_is_known_not_to_fit_is_not_started_with(
    too_large: int | None, micro_batch: int
) -> None:
    asked = room(128)
    assert asked.avoid(too_large)
    assert asked.micro_batch == micro_batch
    assert asked.too_large is None


@pytest.mark.parametrize("on_oom", [OnOom.PRUNE, OnOom.FAIL])
def test_without_accumulation_a_trial_is_given_up_at_once(on_oom: OnOom) -> None:
    assert sizes_until_it_gives_up(room(128, on_oom=on_oom)) == [128]
    assert not room(128, on_oom=on_oom).avoid(128)
    assert not room(128).avoid(16)


def test_of_a_training_of_the_users_own_nothing_is_known() -> None:
    own = room(128, on_oom=None)
    assert own.micro_batch is None
    assert own.avoid(1)
    assert not own.run_out()
    assert own.too_large is None
    assert own.params["accumulate"] == 1


@pytest.mark.parametrize(
    ("on_oom", "cause"),
    [
        (OnOom.ACCUMULATE, Cause.OUT_OF_MEMORY),
        (OnOom.PRUNE, Cause.OUT_OF_MEMORY),
        (OnOom.FAIL, Cause.EXCEPTION),
        (None, Cause.OUT_OF_MEMORY),
    ],
)
def test_memory_that_ran_out_counts_as_the_study_says(on_oom: OnOom | None, cause: Cause) -> None:
    given_up = room(16, on_oom=on_oom)
    given_up.run_out()
    failed = Failed(trial=0, attempt=1, message="full", traceback="", cause=Cause.OUT_OF_MEMORY)
    judged = given_up.judged(failed)
    assert (judged.cause, judged.message) == (cause, "full")
    assert judged.too_large == (None if on_oom is None else 16)
    other = Failed(trial=0, attempt=1, message="no", traceback="", cause=Cause.EXCEPTION)
    assert given_up.judged(other) == other
