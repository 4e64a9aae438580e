"""The best trials and the summary: which trial wins, how long it all took, what went wrong."""

import subprocess
import sys
from dataclasses import replace

import pytest

from sweep.records import Cause, Direction, TrialState
from sweep.spec.study import BudgetSpec
from sweep.views.best import best
from sweep.views.caveats import caveats
from sweep.views.rows import trial_rows
from sweep.views.summary import summarize
from tests.snapshots import (
    START,
    SnapshotBuilder,
    lr_batch_study,
    make_spec,
    seconds,
)


def builder(**fields: object) -> SnapshotBuilder:
    return SnapshotBuilder(make_spec({"lr": [0.1]}, **fields))


def test_the_best_are_complete_trials_by_value_and_equal_ones_by_number() -> None:
    assert [row.number for row in best(lr_batch_study(), top=10)] == [1, 5, 0, 4]
    assert [row.number for row in best(lr_batch_study())] == [1]


def test_the_lowest_is_best_when_the_objective_is_minimized() -> None:
    spec = builder(metric="error", direction=Direction.MINIMIZE)
    snapshot = spec.complete(0.5, lr=0.1).complete(0.2, lr=0.1).pruned(0.1, lr=0.1).build()
    assert [row.number for row in best(snapshot, top=5)] == [1, 0]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_trial_without_a_finite_value_is_never_best(value: float | None) -> None:
    snapshot = builder().complete(0.5, lr=0.1).complete(0.1, lr=0.1, trial={"value": value})
    assert [row.number for row in best(snapshot.build(), top=5)] == [0]


def test_no_complete_trial_means_no_best() -> None:
    assert best(builder().pruned(0.5, lr=0.1).build()) == []
    assert summarize(builder().build(), START).best is None


def test_every_state_is_counted() -> None:
    summary = summarize(lr_batch_study(), START)
    assert summary.counts == {
        TrialState.WAITING: 0,
        TrialState.RUNNING: 0,
        TrialState.COMPLETE: 4,
        TrialState.PRUNED: 1,
        TrialState.FAILED: 1,
    }
    assert summary.num_finished == 6
    assert summary.is_finished


def test_elapsed_time_counts_overlaps_once_and_pauses_not_at_all() -> None:
    study = builder()
    for begin, end in ((0, 30), (10, 50), (100, 120)):
        times = {"started_at": START + seconds(begin), "finished_at": START + seconds(end)}
        study.complete(0.5, lr=0.1, attempt=times)
    summary = summarize(study.build(), START)
    assert summary.elapsed_s == 70
    assert summary.slot_hours == pytest.approx(90 / 3600)


def test_a_running_attempt_counts_up_to_now_while_somebody_leads() -> None:
    snapshot = builder().running(0.5, 0.6, lr=0.1).build()
    assert summarize(snapshot, START + seconds(300)).elapsed_s == 300
    assert summarize(snapshot, None).elapsed_s == 20


def test_now_before_the_start_is_no_negative_time() -> None:
    snapshot = builder().running(lr=0.1).build()
    assert summarize(snapshot, START - seconds(5)).elapsed_s == 0


def test_running_trials_tell_their_latest_epoch() -> None:
    (running,) = summarize(builder().running(0.5, 0.6, lr=0.1).build(), START).running
    assert (running.number, running.epoch, running.value, running.device) == (0, 1, 0.6, "cpu:0")


def test_a_running_trial_without_an_epoch_has_none() -> None:
    (running,) = summarize(builder().running(lr=0.1).build(), START).running
    assert (running.epoch, running.value) == (None, None)


def test_pruning_saves_the_epochs_that_were_not_run() -> None:
    snapshot = builder(training={"epochs": 10}).pruned(0.1, 0.2, lr=0.1).complete(0.5, lr=0.1)
    summary = summarize(snapshot.build(), START)
    assert (summary.epochs_run, summary.epochs_saved) == (3, 8)


def test_the_cost_is_of_all_attempts() -> None:
    study = builder(budget=BudgetSpec(price_per_gpu_hour=3.6))
    assert summarize(study.complete(0.5, lr=0.1).build(), START).cost == pytest.approx(0.03)


def test_an_instance_is_paid_for_while_any_trial_runs_on_it_also_for_idle_slots() -> None:
    study = builder(budget=BudgetSpec(price_per_hour=3.6)).complete(0.5, lr=0.1).build()
    assert study.attempts[0].num_slots == 2
    assert summarize(study, START).cost == pytest.approx(0.03)


def test_failures_are_grouped_by_cause_with_the_first_message() -> None:
    study = builder()
    study.failed(lr=0.1, trial={"cause": Cause.LOST, "message": "signal 9"})
    study.failed(lr=0.1, trial={"message": "ValueError: a"})
    study.failed(lr=0.1, trial={"message": "ValueError: b"})
    first, second = summarize(study.build(), START).failures
    assert (first.cause, first.count, first.first_trial) == (Cause.EXCEPTION, 2, 1)
    assert first.message == "ValueError: a"
    assert (second.cause, second.message) == (Cause.LOST, "signal 9")


def test_a_study_is_finished_when_all_planned_trials_are() -> None:
    unfinished = builder(budget=BudgetSpec(trials=1)).running(lr=0.1).build()
    assert not summarize(unfinished, START).is_finished
    assert not summarize(builder().build(), START).is_finished
    done = builder(budget=BudgetSpec(trials=1)).complete(0.5, lr=0.1).build()
    assert summarize(done, START).is_finished
    asked_for_more = replace(
        done, trials=(*done.trials, replace(done.trials[0], number=9, state=TrialState.WAITING))
    )
    assert not summarize(asked_for_more, START).is_finished


def test_a_finite_space_plans_no_more_trials_than_it_has_points() -> None:
    snapshot = builder(budget=BudgetSpec(trials=50)).complete(0.5, lr=0.1).build()
    assert summarize(snapshot, START).planned_trials == 1


def test_selection_on_test_data_is_said() -> None:
    snapshot = lr_batch_study()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert any("the same data that it is judged by" in line for line in lines)
    assert any(line.startswith("Only 4 complete trials") for line in lines)
    assert not any("not finished" in line for line in lines)


@pytest.mark.parametrize("direction", Direction)
def test_of_an_objective_on_test_data_worse_is_to_be_expected(direction: Direction) -> None:
    spec = make_spec({"lr": [0.1, 0.2]}, metric="test_loss", direction=direction)
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.4, lr=0.2).build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert any("a little worse on new data" in line for line in lines)


def test_sets_of_params_differ_by_true_and_one() -> None:
    study = SnapshotBuilder(make_spec({"x": [True, 1]})).complete(0.5, x=True).complete(0.6, x=1)
    snapshot = study.build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert any(line.startswith("Each set of params was trained once") for line in lines)


def test_several_gpus_are_one_kind_of_device() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    for uuid in ("GPU-3f2a91c0-1111", "GPU-77777777-1111", "MIG-12345678-1111"):
        builder.complete(0.5, lr=0.1, attempt={"device": uuid})
    snapshot = builder.build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert not [line for line in lines if "kinds of devices" in line]


def test_params_that_vary_together_are_no_controlled_comparison() -> None:
    snapshot = lr_batch_study()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    (line,) = (line for line in lines if "vary together" in line)
    assert line.startswith("optimizer, batch_size and lr vary together: ")


def test_times_on_different_kinds_of_devices_are_said_not_to_compare() -> None:
    study = builder().complete(0.5, lr=0.1, attempt={"device": "cuda:0"}).complete(0.5, lr=0.1)
    snapshot = study.build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert any("(cpu, cuda)" in line for line in lines)


def test_times_on_different_gpus_of_a_machine_compare() -> None:
    study = builder()
    for device in ("GPU-aaaa", "GPU-bbbb", "GPU-aaaa,GPU-bbbb"):
        study.complete(0.5, lr=0.1, attempt={"device": device})
    snapshot = study.build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    assert not any("different kinds of devices" in line for line in lines)


def test_trials_that_went_through_in_smaller_parts_for_want_of_memory_are_named() -> None:
    study = SnapshotBuilder(make_spec({"batch_size": [32, 64], "accumulate": [1, 2]}))
    for batch_size, accumulate, micro_batch in (
        (64, 1, 64),
        (64, 2, 32),
        (64, 1, 32),
        (32, 1, 16),
    ):
        study.complete(
            0.5,
            batch_size=batch_size,
            accumulate=accumulate,
            epochs={"micro_batch": micro_batch},
        )
    study.complete(
        0.5,
        batch_size=64,
        accumulate=1,
        epochs={"micro_batch": 32},
        attempt={"num_devices": 2.0},  # all that each of them was to have
    )
    snapshot = study.build()
    lines = caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))
    (line,) = (line for line in lines if "micro_batch" in line)
    assert line.startswith("Memory had no room for the whole batches of trials 2, 3:")


def test_a_snapshot_with_an_epoch_of_infinite_value_is_read() -> None:
    snapshot = builder().running(0.5, lr=0.1).build()
    epoch = replace(snapshot.epochs[0], metrics={"test_accuracy": float("inf")})
    (running,) = summarize(replace(snapshot, epochs=(epoch,)), START).running
    assert running.value is None


def test_status_and_best_start_without_pandas_and_plotly() -> None:
    code = (
        "import sys, sweep.views.summary, sweep.views.best, sweep.views.comparison\n"
        "print(sorted({'pandas', 'plotly', 'numpy', 'torch', 'ruamel'} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "[]"
