"""Trials on several devices, and several on one: which are started when, by acted workers."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sweep.coordinator.events import StudyLed, SweepEnded, TrialFinished, TrialStarted
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.fleet.devices import Device
from sweep.fleet.slots import gpu_slots
from sweep.records import TrialState
from sweep.space.space import Space
from sweep.spec.resources import ResourcesSpec
from tests import fake_driver
from tests.fake_driver import MEMORY_BYTES, FakeDriver
from tests.scripted import run_to_end, scripted_plan, scripted_spec, stored


def _gathering(folder: Path, *numbers: int, slots: int) -> Plan:
    """Trials that need so many devices, one after the other; `slow` gives them time to meet."""
    rows = tuple({"gpus_per_trial": n, "quality": 0.5, "turn": i} for i, n in enumerate(numbers))
    spec = scripted_spec(Space(configurations=rows), training={"slow": 0.05})
    return scripted_plan(folder, spec, slots=slots)


def _at_work(plan: Plan) -> list[tuple[int, ...]]:
    """Which trials were at work together, as each of them began."""
    together, seen = set(), []
    for event in run_study(plan):
        if isinstance(event, TrialStarted):
            together.add(event.trial.number)
            seen.append(tuple(sorted(together)))
        elif isinstance(event, TrialFinished):
            together.remove(event.trial.number)
    return seen


def test_a_trial_on_several_devices_waits_until_they_are_free_and_none_overtakes_it(
    tmp_path: Path,
) -> None:
    plan = _gathering(tmp_path, 1, 1, 2, 1, 2, slots=2)
    seen = _at_work(plan)
    assert len(seen) == 5
    assert seen[2] == (2,), "alone on both"
    assert seen[3] == (3,), "not before the one that came first"
    assert seen[4] == (4,)
    snapshot = stored(plan)
    assert [attempt.num_devices for attempt in snapshot.attempts] == [1, 1, 2, 1, 2]
    assert [attempt.num_slots for attempt in snapshot.attempts] == [2, 2, 1, 2, 1]
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 5


def test_trials_on_several_devices_run_beside_each_other_where_there_is_room(
    tmp_path: Path,
) -> None:
    seen = _at_work(_gathering(tmp_path, 2, 2, 3, slots=4))
    assert (0, 1) in seen
    assert seen[-1] == (2,)


def test_a_trial_that_needs_more_devices_than_are_left_ends_the_run(tmp_path: Path) -> None:
    plan = _gathering(tmp_path, 1, 3, slots=2)
    ended = run_to_end(plan)
    assert ended == SweepEnded(reason="trial 1 needs 3 GPUs, and 2 are left", exit_code=4)
    first, second = stored(plan).trials
    assert first.state.is_finished or first.state is TrialState.WAITING
    assert second.state is TrialState.WAITING, "it can still run where there are more"


def test_as_many_trials_share_a_gpu_as_fit_once_a_first_one_has_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = fake_driver.install(monkeypatch, FakeDriver(uuids=("GPU-test1234",)))
    monkeypatch.setattr("sweep.fleet.gauges.pynvml", sys.modules["pynvml"])
    gpu = Device(uuid="GPU-test1234", name="H200", index=0, memory_bytes=MEMORY_BYTES)
    resources = ResourcesSpec(trials_per_gpu="auto")
    spec = replace(scripted_spec(trials=8, training={"slow": 0.1}), resources=resources)
    plan = replace(
        scripted_plan(tmp_path, spec), slots=gpu_slots([gpu], trials_per_gpu=4), grace_s=5
    )
    for event in run_study(plan):
        if isinstance(event, StudyLed):  # the first worker holds enough for two of them
            driver.used_bytes = {"GPU-test1234": int(0.4 * MEMORY_BYTES)}
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 8
    assert snapshot.epochs[0].num_sharing == 1
    assert max(epoch.num_sharing or 0 for epoch in snapshot.epochs) == 2
    assert {attempt.num_devices for attempt in snapshot.attempts} == {1.0, 0.5}
