"""The coordinator with real processes, a real Optuna and a real SQLite; training is acted out."""

import os
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

from sweep.coordinator import pause
from sweep.coordinator.events import (
    EpochStored,
    Notice,
    SweepEnded,
    TrialFinished,
    TrialStarted,
)
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.errors import (
    DataError,
    DeviceError,
    DiskError,
    LedByAnotherError,
    StorageError,
    TrainFunctionError,
    UsageError,
)
from sweep.fleet.devices import Device
from sweep.fleet.slots import gpu_slots
from sweep.records import Cause, Snapshot, TrialState
from sweep.requests import RequestKind
from sweep.space.distributions import Categorical, Constant, Float
from sweep.space.space import Space
from sweep.spec.resources import ResourcesSpec
from sweep.spec.study import (
    BudgetSpec,
    CheckpointsSpec,
    PrunerSpec,
    SearchSpec,
    StudySpec,
)
from sweep.store.store import open_store
from tests.scripted import (
    QUALITY,
    acts,
    run_to_end,
    run_until,
    scripted_plan,
    scripted_spec,
    space_of,
    stored,
)

MEDIAN = SearchSpec(pruner=PrunerSpec(name="median", startup_trials=2, min_epochs=1))


def _outcomes(snapshot: Snapshot) -> list[tuple[object, ...]]:
    return [
        (trial.number, dict(trial.params), trial.state, trial.cause, trial.value, trial.seed)
        for trial in snapshot.trials
    ]


def _measurements(snapshot: Snapshot) -> list[tuple[object, ...]]:
    return [(each.trial, each.epoch, dict(each.metrics)) for each in snapshot.epochs]


def test_a_study_ends_with_all_its_trials_finished_and_every_epoch_stored(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=5), slots=2)
    assert run_to_end(plan) == SweepEnded(reason="all trials are finished", exit_code=0)
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 5
    assert len(snapshot.epochs) == 15
    assert all(attempt.num_slots == 2 for attempt in snapshot.attempts)


def test_the_value_of_a_complete_trial_is_that_of_its_last_epoch(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=1))
    run_to_end(plan)
    snapshot = stored(plan)
    assert snapshot.trials[0].value == snapshot.epochs[-1].metrics["test_accuracy"]


def test_optuna_loads_the_same_trials_params_epochs_and_states(tmp_path: Path) -> None:
    space = acts("fine", "raise", "nan", "memory", "die")
    plan = scripted_plan(tmp_path, scripted_spec(space), slots=2)
    run_to_end(plan)
    snapshot = stored(plan)
    study = optuna.load_study(study_name="scripted", storage=plan.url)
    states = {
        0: optuna.trial.TrialState.COMPLETE,
        1: optuna.trial.TrialState.FAIL,
        2: optuna.trial.TrialState.PRUNED,
        3: optuna.trial.TrialState.PRUNED,
        4: optuna.trial.TrialState.FAIL,
    }
    assert {each.number: each.state for each in study.trials} == states
    assert [each.params for each in study.trials] == [dict(t.params) for t in snapshot.trials]
    assert [each.value for each in study.trials] == [t.value for t in snapshot.trials]
    assert study.direction is optuna.study.StudyDirection.MAXIMIZE
    for trial in study.trials:
        ours = {
            each.epoch: each.metrics["test_accuracy"]
            for each in snapshot.epochs
            if each.trial == trial.number and each.metrics["test_accuracy"] is not None
        }
        assert trial.intermediate_values == ours


def test_a_projection_that_was_tampered_with_is_made_anew_at_the_next_start(
    tmp_path: Path,
) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=3))
    run_to_end(plan)
    before = optuna.load_study(study_name="scripted", storage=plan.url).trials
    optuna.delete_study(study_name="scripted", storage=plan.url)
    forged = optuna.create_study(study_name="scripted", storage=plan.url, direction="maximize")
    forged.set_user_attr("made by", "sweep")
    forged.add_trial(optuna.create_trial(state=optuna.trial.TrialState.COMPLETE, value=9.0))
    run_to_end(scripted_plan(tmp_path, scripted_spec(trials=4)))
    after = optuna.load_study(study_name="scripted", storage=plan.url).trials
    assert [each.params for each in after[:3]] == [each.params for each in before]
    assert [each.value for each in after[:3]] == [each.value for each in before]
    assert len(after) == 4


def test_a_trial_below_the_median_is_pruned_with_the_value_of_its_last_epoch(
    tmp_path: Path,
) -> None:
    space = space_of(quality=Categorical(choices=(0.9, 0.8, 0.1)))
    search = MEDIAN.model_copy(update={"sampler": "grid"})
    plan = scripted_plan(tmp_path, scripted_spec(space, search=search))
    run_to_end(plan)
    snapshot = stored(plan)
    states = [trial.state for trial in snapshot.trials]
    assert states == [TrialState.COMPLETE, TrialState.COMPLETE, TrialState.PRUNED]
    assert snapshot.trials[2].value == pytest.approx(0.05)
    assert sum(each.trial == 2 for each in snapshot.epochs) == 1
    folder = tmp_path / "runs" / "scripted" / "trials"
    assert not list((folder / "00002").glob("*.pt")), "a pruned trial keeps no checkpoint"
    assert [path.name for path in (folder / "00000").glob("*.pt")] == ["a1-e2.pt"]


def test_the_pruner_is_not_asked_after_the_last_epoch(tmp_path: Path) -> None:
    space = space_of(quality=Categorical(choices=(0.9, 0.8, 0.1)))
    search = SearchSpec(
        sampler="grid", pruner=PrunerSpec(name="median", startup_trials=1, min_epochs=3)
    )
    plan = scripted_plan(tmp_path, scripted_spec(space, search=search, epochs=3))
    run_to_end(plan)
    assert [trial.state for trial in stored(plan).trials] == [TrialState.COMPLETE] * 3


@pytest.mark.parametrize(
    ("act", "cause", "num_attempts", "num_epochs"),
    [
        ("raise", Cause.EXCEPTION, 3, 1),
        ("memory", Cause.OUT_OF_MEMORY, 1, 1),
        ("nan", Cause.DIVERGED, 1, 2),
        ("die", Cause.LOST, 3, 1),
        ("exit", Cause.LOST, 3, 1),
    ],
)
def test_a_trial_that_goes_wrong_after_an_epoch_fails_with_its_cause(
    tmp_path: Path, act: str, cause: Cause, num_attempts: int, num_epochs: int
) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts(act, "fine")))
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    bad, good = snapshot.trials
    assert (bad.state, bad.cause, bad.attempt) == (TrialState.FAILED, cause, num_attempts)
    assert bad.value is None
    assert bad.message
    assert sum(each.trial == 0 for each in snapshot.epochs) == num_epochs
    assert good.state is TrialState.COMPLETE


def test_an_exception_before_the_first_epoch_is_not_tried_again(tmp_path: Path) -> None:
    spec = scripted_spec(acts("raise", "fine"), training={"at": 0})
    plan = scripted_plan(tmp_path, spec)
    run_to_end(plan)
    assert stored(plan).trials[0].attempt == 1


def test_a_lost_worker_is_replaced_and_its_trial_goes_on_from_its_checkpoint(
    tmp_path: Path,
) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts("die once"), training={"at": 2}))
    run_to_end(plan)
    snapshot = stored(plan)
    assert snapshot.trials[0].state is TrialState.COMPLETE
    assert [(each.epoch, each.attempt) for each in snapshot.epochs] == [(0, 1), (1, 1), (2, 2)]
    first, second = snapshot.attempts
    assert (first.state, first.cause) == (TrialState.FAILED, Cause.LOST)
    assert first.message == "the worker was killed by signal 9 (SIGKILL)"
    assert (second.state, second.cause) == (TrialState.COMPLETE, None)


def test_a_broken_train_function_stops_the_study_at_its_first_trial(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts("break", "fine")))
    assert run_to_end(plan) == SweepEnded(reason="acted: break", exit_code=1)
    assert [trial.cause for trial in stored(plan).trials] == [Cause.EXCEPTION]


def test_a_study_whose_first_five_trials_fail_alike_stops_and_says_so(tmp_path: Path) -> None:
    spec = scripted_spec(trials=20, training={"at": 0, "act": "raise"})
    plan = scripted_plan(tmp_path, spec)
    ended = run_to_end(plan)
    assert ended.exit_code == 1
    assert ended.reason == "the first 5 trials all failed alike: acted: raise"
    assert len(stored(plan).trials) == 5


def test_a_study_without_a_complete_trial_exits_with_1(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts("nan", "memory")))
    ended = run_to_end(plan)
    assert ended == SweepEnded(reason="the space is exhausted, none of them complete", exit_code=1)


def test_more_slots_than_points_end_with_every_point_tried_once(tmp_path: Path) -> None:
    space = space_of(quality=Categorical(choices=(0.3, 0.6, 0.9)))
    plan = scripted_plan(tmp_path, scripted_spec(space, trials=50, search=MEDIAN), slots=5)
    assert run_to_end(plan) == SweepEnded(reason="the space is exhausted", exit_code=0)
    assert sorted(trial.params["quality"] for trial in stored(plan).trials) == [0.3, 0.6, 0.9]


def test_enqueued_points_come_first_and_count(tmp_path: Path) -> None:
    spec = scripted_spec(trials=3)
    points = ({"quality": 0.5}, {"quality": 0.5}, {"quality": 0.25})
    spec = type(spec)(**{**_fields(spec), "enqueue": points[:2]})
    run_until(scripted_plan(tmp_path, spec), EpochStored)
    more = type(spec)(**{**_fields(spec), "enqueue": points})
    plan = scripted_plan(tmp_path, more)
    run_to_end(plan)
    trials = stored(plan).trials
    assert [trial.params["quality"] for trial in trials] == [0.5, 0.5, 0.25]
    assert all(trial.enqueued for trial in trials)


def _fields(spec: object) -> dict[str, object]:
    return {name: getattr(spec, name) for name in spec.__slots__}  # type: ignore[attr-defined]


def test_a_finished_study_is_not_run_again_but_can_be_extended(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=2))
    run_to_end(plan)
    before = stored(plan)
    assert run_to_end(plan).exit_code == 0
    assert stored(plan) == before
    extended = scripted_plan(tmp_path, scripted_spec(trials=2))
    extended = type(extended)(**{**_fields(extended), "extra_trials": 2})
    assert run_to_end(extended).exit_code == 0
    assert len(stored(plan).trials) == 4
    assert run_to_end(plan).reason == "nothing is left to do: all trials are finished"


@pytest.mark.parametrize("sampler", ["tpe", "random"])
@pytest.mark.parametrize("pruner", ["median", "asha", "percentile"])
def test_a_study_that_was_killed_over_and_over_equals_an_unbroken_one(
    tmp_path: Path, sampler: str, pruner: str
) -> None:
    search = SearchSpec.model_validate(
        {
            "sampler": sampler,
            "startup_trials": 3,
            "seed": 5,
            "pruner": {"name": pruner, "startup_trials": 2, "min_epochs": 1},
        }
    )
    space = space_of(
        quality=Float(low=0.01, high=1.0, log=True), kind=Categorical(choices=("a", "b", "c"))
    )
    spec = scripted_spec(space, trials=14, epochs=4, search=search)
    unbroken = scripted_plan(tmp_path / "unbroken", spec)
    run_to_end(unbroken)
    broken = scripted_plan(tmp_path / "broken", spec)
    for event, count in [
        (EpochStored, 3),
        (TrialStarted, 2),
        (TrialFinished, 3),
        (EpochStored, 2),
    ]:
        run_until(broken, event, count)
    run_to_end(broken)
    assert _outcomes(stored(broken)) == _outcomes(stored(unbroken))
    assert _measurements(stored(broken)) == _measurements(stored(unbroken))
    states = Counter(trial.state for trial in stored(broken).trials)
    assert states[TrialState.PRUNED] > 0
    assert states[TrialState.COMPLETE] > 0


def test_a_free_slot_gets_its_next_trial_whatever_the_others_do(tmp_path: Path) -> None:
    slow_then_fast = Space(
        configurations=({"slow": 1.0, "more": 0}, *({"slow": 0.0, "more": n} for n in range(1, 7)))
    )
    spec = scripted_spec(slow_then_fast, epochs=3, training={"quality": 0.5})
    finished = [
        event.trial.number
        for event in run_study(scripted_plan(tmp_path, spec, slots=2))
        if isinstance(event, TrialFinished)
    ]
    assert finished == [1, 2, 3, 4, 5, 6, 0]


def test_the_time_after_a_coordinators_death_is_in_no_budget(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=1, epochs=4, training={"slow": 0.05}))
    run_until(plan, EpochStored, 2)
    run_to_end(plan)
    first, second = stored(plan).attempts
    assert (first.cause, first.message) == (Cause.CANCELLED, "the coordinator ended")
    assert first.finished_at == stored(plan).epochs[1].stored_at
    assert second.started_at > first.finished_at


@pytest.mark.parametrize("pruner", ["asha", "median", "hyperband"])
def test_a_study_that_was_killed_where_a_trial_is_pruned_prunes_it_all_the_same(
    tmp_path: Path, pruner: str
) -> None:
    search = SearchSpec.model_validate(
        {"sampler": "grid", "pruner": {"name": pruner, "startup_trials": 1, "min_epochs": 1}}
    )
    space = space_of(quality=Categorical(choices=(0.9, 0.8, 0.1, 0.2, 0.7)))
    spec = scripted_spec(space, epochs=4, search=search)
    unbroken = scripted_plan(tmp_path / "unbroken", spec)
    run_to_end(unbroken)
    pruned = [trial for trial in stored(unbroken).trials if trial.state is TrialState.PRUNED]
    assert pruned
    epochs = enumerate(stored(unbroken).epochs, start=1)
    last = max(count for count, epoch in epochs if epoch.trial == pruned[0].number)
    broken = scripted_plan(tmp_path / "broken", spec)
    run_until(broken, EpochStored, last)
    run_to_end(broken)
    assert _outcomes(stored(broken)) == _outcomes(stored(unbroken))
    assert _measurements(stored(broken)) == _measurements(stored(unbroken))


def test_a_full_disk_ends_the_run_and_no_trial(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts("disk", "fine")))
    with pytest.raises(DiskError, match="acted: disk"):
        run_to_end(plan)
    assert not any(trial.state.is_finished for trial in stored(plan).trials)


def test_a_slot_whose_device_fails_is_left_out_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_REFUSES_AGAIN", str(tmp_path))
    space = space_of(
        act=Categorical(choices=("die once",)), more=Categorical(choices=(1, 2, 3, 4, 5, 6))
    )
    spec = scripted_spec(space, search=SearchSpec(sampler="grid"), training={"quality": 0.5})
    plan = scripted_plan(tmp_path, spec, slots=2)
    notices = [event.text for event in run_study(plan) if isinstance(event, Notice)]
    assert notices == ["going on without cpu: no"]
    assert {trial.state for trial in stored(plan).trials} == {TrialState.COMPLETE}


def test_a_led_study_is_refused_with_its_holder(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=3))
    events = run_study(plan)
    for event in events:
        if isinstance(event, EpochStored):
            break
    with pytest.raises(LedByAnotherError, match=f"led by pid {os.getpid()} on "):
        run_to_end(plan)
    assert [*events][-1] == SweepEnded(reason="all trials are finished", exit_code=0)


def test_a_changed_objective_is_refused_with_what_changed(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=1))
    run_to_end(plan)
    changed = scripted_plan(tmp_path, scripted_spec(trials=1, epochs=9))
    with pytest.raises(UsageError, match=r"training\.epochs: 3 -> 9"):
        run_to_end(changed)


def test_a_changed_space_keeps_the_old_trials_as_knowledge(tmp_path: Path) -> None:
    run_to_end(scripted_plan(tmp_path, scripted_spec(trials=4)))
    wider = space_of(quality=Float(low=0.1, high=2.0), more=Categorical(choices=("x", "y")))
    plan = scripted_plan(tmp_path, scripted_spec(wider, trials=6))
    assert run_to_end(plan).exit_code == 0
    assert [trial.space_version for trial in stored(plan).trials] == [1, 1, 1, 1, 2, 2]
    first = optuna.load_study(study_name="scripted", storage=plan.url)
    second = optuna.load_study(study_name="scripted (space 2)", storage=plan.url)
    assert (len(first.trials), len(second.trials)) == (4, 2)
    assert [each.user_attrs["trial"] for each in second.trials] == [4, 5]


def test_a_request_to_stop_ends_each_trial_at_its_next_epoch(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=50, epochs=100, training={"slow": 0.05}))
    events = run_study(plan)
    for event in events:
        if isinstance(event, EpochStored):
            with open_store(plan.url, create=False) as store:
                store.add_request(store.study("scripted").id, RequestKind.DRAIN, {})
            break
    assert [*events][-1] == SweepEnded(reason="stopped by `sweep stop`", exit_code=0)
    trial = stored(plan).trials[0]
    assert trial.state is TrialState.WAITING
    attempt = stored(plan).attempts[0]
    assert (attempt.state, attempt.cause) == (TrialState.FAILED, Cause.CANCELLED)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_drains_and_the_same_plan_goes_on(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=2, epochs=5, training={"slow": 0.05}))
    events = run_study(plan)
    for event in events:
        if isinstance(event, EpochStored):
            os.kill(os.getpid(), number)
            break
    ended = [*events][-1]
    assert ended == SweepEnded(reason=f"stopped by {number.name}", exit_code=code)
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 2
    assert len(snapshot.epochs) == 10


def test_a_budget_of_time_ends_the_study_and_counts_over_runs(tmp_path: Path) -> None:
    budget = BudgetSpec(timeout_s=1.0)
    spec = scripted_spec(QUALITY, epochs=1000, training={"slow": 0.05}, budget=budget)
    plan = scripted_plan(tmp_path, spec)
    ended = run_to_end(plan)
    assert ended == SweepEnded(reason="the time budget of 1 s is used up", exit_code=0)
    num_epochs = len(stored(plan).epochs)
    assert run_to_end(plan).exit_code == 0
    assert len(stored(plan).epochs) <= num_epochs + 1


@pytest.mark.parametrize(
    ("refusal", "error"),
    [("usage", TrainFunctionError), ("device", DeviceError), ("data", DataError)],
)
def test_a_worker_that_cannot_work_ends_the_run_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: str, error: type[Exception]
) -> None:
    monkeypatch.setenv("SCRIPTED_REFUSAL", refusal)
    with pytest.raises(error, match=r"^no$"):
        run_to_end(scripted_plan(tmp_path, scripted_spec(trials=1)))
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_ends_before_it_is_ready_is_reported_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_FALSE_START", "1")
    with pytest.raises(DeviceError, match="ended 3 times before it was ready: exited with status"):
        run_to_end(scripted_plan(tmp_path, scripted_spec(trials=1)))
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_cannot_be_used_ends_the_run_before_a_worker_starts(
    tmp_path: Path,
) -> None:
    (tmp_path / "sweep.db").write_text("this is no database, only some text of a user" * 99)
    with pytest.raises(StorageError):
        run_to_end(scripted_plan(tmp_path, scripted_spec(trials=1)))
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.db"]


def test_a_trial_that_starts_over_and_over_is_given_up_after_three_attempts(
    tmp_path: Path,
) -> None:
    spec = scripted_spec(acts("die"), epochs=4, training={"at": 2})
    spec = type(spec)(**{**_fields(spec), "checkpoints": CheckpointsSpec(keep="none")})
    plan = scripted_plan(tmp_path, spec)
    run_to_end(plan)
    snapshot = stored(plan)
    assert (snapshot.trials[0].state, snapshot.trials[0].attempt) == (TrialState.FAILED, 3)
    assert [(each.epoch, each.attempt) for each in snapshot.epochs] == [(0, 3), (1, 3)]


@pytest.mark.parametrize("act", ["hang", "freeze"])
def test_a_trial_that_hangs_is_tried_three_times_and_fails_with_the_cause(
    tmp_path: Path, act: str
) -> None:
    spec = scripted_spec(acts(act, "fine"), resources=ResourcesSpec(hang_after_s=1.0))
    plan = scripted_plan(tmp_path, spec)
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    hung, fine = snapshot.trials
    assert (hung.state, hung.cause, hung.attempt) == (TrialState.FAILED, Cause.HUNG, 3)
    assert hung.message == "no progress for 1 s; where it stood is in its log"
    assert [each.cause for each in snapshot.attempts][:3] == [Cause.HUNG] * 3
    assert fine.state is TrialState.COMPLETE


def test_a_trial_that_hung_once_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    spec = scripted_spec(acts("hang once"), resources=ResourcesSpec(hang_after_s=1.0))
    plan = scripted_plan(tmp_path, spec)
    assert run_to_end(plan).exit_code == 0
    snapshot = stored(plan)
    assert snapshot.trials[0].state is TrialState.COMPLETE
    assert [(each.epoch, each.attempt) for each in snapshot.epochs] == [(0, 1), (1, 2), (2, 2)]


GOOD, BAD = (
    Device(uuid=f"GPU-{name}", name="H200", index=n) for n, name in enumerate(("good", "bad"))
)


def _gpu_plan(tmp_path: Path, spec: StudySpec, *gpus: Device) -> Plan:
    return replace(scripted_plan(tmp_path, spec), slots=gpu_slots(gpus))


def _always(act: str, *, at: int) -> Space:
    """A space of ever new points that all do the same."""
    fixed = {"act": Categorical(choices=(act,)), "at": Categorical(choices=(at,))}
    return space_of(quality=Float(low=0.1, high=1.0), **fixed)


def test_a_gpu_on_which_different_trials_crash_is_left_and_they_end_well_elsewhere(
    tmp_path: Path,
) -> None:
    space = Space(
        configurations=tuple(
            {"quality": 0.8, "act": "die on bad", "at": 0, "slow": 0.3, "n": n} for n in range(8)
        )
    )
    plan = _gpu_plan(tmp_path, scripted_spec(space), GOOD, BAD)
    *events, end = run_study(plan)
    assert end.exit_code == 0
    notices = [each.text for each in events if isinstance(each, Notice)]
    assert [text for text in notices if "going on without gpu 1" in text]
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 8
    lost = [each for each in snapshot.attempts if each.cause is Cause.LOST]
    assert len({each.trial for each in lost}) == len(lost) == 3
    assert {each.device for each in lost} == {"GPU-bad"}


def test_a_gpu_that_is_broken_from_the_start_is_left_out_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_BROKEN_GPUS", "GPU-bad")
    plan = _gpu_plan(tmp_path, scripted_spec(trials=2), GOOD, BAD)
    *events, end = run_study(plan)
    assert end.exit_code == 0
    assert [each.text for each in events if isinstance(each, Notice)] == [
        "going on without gpu 1: cannot use gpu 1 (GPU-bad): it is broken"
    ]
    assert {each.device for each in stored(plan).attempts} == {"GPU-good"}


def test_a_run_whose_gpus_are_all_broken_ends_with_one_of_them_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_BROKEN_GPUS", "GPU-bad,GPU-good")
    plan = _gpu_plan(tmp_path, scripted_spec(trials=2), GOOD, BAD)
    with pytest.raises(DeviceError, match=r"^cannot use gpu \d \(GPU-\w+\): it is broken$"):
        run_to_end(plan)
    assert not (tmp_path / "sweep.db").exists()


def test_the_last_gpu_that_crashes_what_it_ran_before_ends_the_run_with_exit_4(
    tmp_path: Path,
) -> None:
    rows = [{"act": "die on bad", "at": 0, "n": n} for n in range(9)]
    space = Space(configurations=({"act": "fine", "at": 0, "n": -1}, *rows))
    plan = _gpu_plan(tmp_path, scripted_spec(space), BAD)
    expected = r"^different trials crashed on gpu 1 \(GPU-bad\), one after the other: "
    with pytest.raises(DeviceError, match=expected):
        run_to_end(plan)


def test_a_gpu_that_breaks_down_once_costs_no_trial(tmp_path: Path) -> None:
    space = Space(configurations=({"quality": 0.8, "act": "break down once", "at": 0},))
    plan = _gpu_plan(tmp_path, scripted_spec(space), GOOD)
    assert run_to_end(plan).exit_code == 0
    assert [each.cause for each in stored(plan).attempts] == [Cause.EXCEPTION, None]


def test_a_script_that_crashes_everywhere_is_not_held_against_the_gpus(tmp_path: Path) -> None:
    plan = _gpu_plan(tmp_path, scripted_spec(_always("die", at=0), trials=20), GOOD, BAD)
    assert run_to_end(plan).reason.startswith("the first 5 trials all failed alike")


def test_a_run_waits_for_room_on_a_full_disk_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.touch()
    monkeypatch.setenv("SCRIPTED_FULL_DISK", str(full))
    probes = []

    def has_room(folder: Path) -> bool:
        probes.append(folder)
        if len(probes) == 2:
            full.unlink()
        return not full.exists()

    monkeypatch.setattr(pause, "_has_room", has_room)
    monkeypatch.setattr(pause, "_FIRST_S", 0.2)
    plan = scripted_plan(tmp_path, scripted_spec(trials=3), slots=2)
    *events, end = run_study(plan)
    assert end.exit_code == 0
    notices = [each.text for each in events if isinstance(each, Notice)]
    assert notices == [
        "paused: acted: full, and it goes on by itself",
        f"there is room again in {plan.run_folder / 'scripted'}: going on",
    ]
    snapshot = stored(plan)
    assert [trial.state for trial in snapshot.trials] == [TrialState.COMPLETE] * 3
    assert {each.cause for each in snapshot.attempts} == {Cause.CANCELLED, None}
    assert len(snapshot.attempts) <= 3 + len(plan.slots)  # none was begun in the pause


def test_a_study_of_optunas_that_is_not_ours_is_never_touched(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(trials=1))
    theirs = optuna.create_study(study_name="scripted", storage=plan.url, direction="minimize")
    theirs.optimize(lambda trial: trial.suggest_float("q", 0, 1), n_trials=3)
    expected = r"has a study 'scripted' of Optuna's that sweep did not make; .* --name scripted_2$"
    with pytest.raises(UsageError, match=expected):
        run_to_end(plan)
    after = optuna.load_study(study_name="scripted", storage=plan.url)
    assert [each.values for each in after.trials] == [each.values for each in theirs.trials]
    renamed = replace(plan, spec=replace(plan.spec, study="scripted_2"))
    assert run_to_end(renamed).exit_code == 0
    assert len(optuna.load_study(study_name="scripted_2", storage=plan.url).trials) == 1


def test_a_constant_that_is_added_to_the_space_keeps_the_old_trials(tmp_path: Path) -> None:
    points = Categorical(choices=(0.3, 0.6, 0.9))
    search = SearchSpec(sampler="grid")
    run_to_end(
        scripted_plan(tmp_path, scripted_spec(space_of(quality=points), trials=2, search=search))
    )
    wider = space_of(quality=points, n=Constant(value=4))
    plan = scripted_plan(tmp_path, scripted_spec(wider, search=search))
    assert run_to_end(plan) == SweepEnded(reason="the space is exhausted", exit_code=0)
    assert [trial.params["quality"] for trial in stored(plan).trials] == [0.3, 0.6, 0.9]


def test_what_an_attempt_of_the_past_still_says_changes_nothing(tmp_path: Path) -> None:
    plan = scripted_plan(tmp_path, scripted_spec(acts("speak late", "fine")))
    assert run_to_end(plan).exit_code == 0
    late, fine = stored(plan).trials
    assert late.state is TrialState.COMPLETE
    assert late.value == fine.value
