"""The tables of trials, epochs and attempts: which columns, and what the numbers mean."""

import io
from dataclasses import replace

import pandas as pd
import pytest

from sweep.coordinator.budget import spent
from sweep.records import Cause, Direction, Snapshot, TrialState
from sweep.spec.reserved import RESERVED_NAMES
from sweep.spec.study import BudgetSpec
from sweep.views.column import columns_markdown
from sweep.views.columns import (
    ATTEMPTS,
    BY,
    BY_MEMORY,
    BY_OTHER_OBJECTIVE,
    EPOCHS_AFTER_METRICS,
    EPOCHS_BEFORE_METRICS,
    TRIALS_AFTER_PARAMS,
    TRIALS_BEFORE_PARAMS,
)
from sweep.views.formats import to_csv
from sweep.views.tables import attempts_table, best_table, epochs_table, trials_table
from tests.snapshots import (
    MIB,
    START,
    SnapshotBuilder,
    lr_batch_study,
    make_attempt,
    make_epochs,
    make_spec,
    seconds,
    with_attempts,
)

TRIALS = (
    "study,trial,state,cause,value,optimizer,batch_size,lr,test_accuracy,best_test_accuracy,"
    "best_epoch,val_accuracy,epochs,epoch_s,duration_s,images_per_s,peak_memory_mib,cost,device,"
    "attempts,seed,started_at,finished_at,baseline_memory_mib,micro_batch,num_sharing,num_devices,excluded"
)


def one_trial(state: TrialState = TrialState.COMPLETE, *accuracies: float | None) -> Snapshot:
    return SnapshotBuilder(make_spec({"lr": [0.1]})).add(state, accuracies, lr=0.1).build()


def test_the_table_of_trials_has_the_params_between_value_and_test_accuracy() -> None:
    assert ",".join(trials_table([lr_batch_study()]).columns) == TRIALS


def test_the_table_of_epochs_has_every_metric_between_epoch_and_lr() -> None:
    frame = epochs_table([one_trial(TrialState.COMPLETE, 0.5)])
    assert list(frame.columns) == [
        *("study", "trial", "attempt", "epoch", "train_loss", "test_accuracy"),
        *("lr", "epoch_s", "images_per_s", "peak_memory_mib", "baseline_memory_mib"),
        *("micro_batch", "num_sharing"),
    ]


def test_the_table_of_attempts_has_its_fixed_columns() -> None:
    frame = attempts_table([lr_batch_study()])
    assert ",".join(frame.columns) == (
        "study,trial,attempt,state,cause,device,host,epochs,started_at,finished_at,log,num_devices"
    )


def test_tables_of_a_study_without_trials_have_their_columns_and_no_rows() -> None:
    empty = SnapshotBuilder(make_spec({"lr": [0.1]})).build()
    for table in (trials_table, epochs_table, attempts_table):
        assert len(table([empty])) == 0
    assert list(trials_table([empty]).columns)[4:7] == ["value", "lr", "test_accuracy"]
    assert list(attempts_table([empty]).columns) == [column.name for column in ATTEMPTS]


def test_no_column_is_listed_twice_and_each_is_explained() -> None:
    trials = (*TRIALS_BEFORE_PARAMS, *TRIALS_AFTER_PARAMS)
    for columns in (
        trials,
        (*EPOCHS_BEFORE_METRICS, *EPOCHS_AFTER_METRICS),
        ATTEMPTS,
        (*BY, *BY_MEMORY),
    ):
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning for column in columns)
    assert "| `best_epoch` | whole number |" in columns_markdown(trials)


def test_no_param_can_be_named_like_a_column() -> None:
    columns = (
        *(*TRIALS_BEFORE_PARAMS, *TRIALS_AFTER_PARAMS, *ATTEMPTS, *BY, *BY_OTHER_OBJECTIVE),
        *(*EPOCHS_BEFORE_METRICS, *BY_MEMORY),
    )
    assert {column.name for column in columns} <= RESERVED_NAMES


def test_the_best_epoch_is_the_first_highest_and_the_accuracy_the_last() -> None:
    row = trials_table([one_trial(TrialState.COMPLETE, 0.5, 0.9, 0.9, 0.7)]).iloc[0]
    assert (row.test_accuracy, row.best_test_accuracy, row.best_epoch) == (0.7, 0.9, 1)
    assert (row.value, row.epochs) == (0.7, 4)


def test_a_pruned_trial_has_the_value_of_its_last_finite_epoch() -> None:
    row = trials_table([one_trial(TrialState.PRUNED, 0.5, 0.6, None)]).iloc[0]
    assert row.value == 0.6
    assert pd.isna(row.test_accuracy)


@pytest.mark.parametrize("state", [TrialState.FAILED, TrialState.RUNNING, TrialState.WAITING])
def test_an_unsuccessful_or_open_trial_has_no_value(state: TrialState) -> None:
    assert pd.isna(trials_table([one_trial(state, 0.5)]).iloc[0].value)


def test_a_waiting_trial_has_params_and_nothing_measured() -> None:
    snapshot = SnapshotBuilder(make_spec({"lr": [0.1]})).waiting(lr=0.1).build()
    line = to_csv(trials_table([snapshot])).decode().splitlines()[1]
    assert line == "made_up,0,waiting,,,0.1,,,,,0,,,,,,,0,1000,,,,,,,"


def test_a_trial_has_the_fewest_images_at_once_and_the_memory_before_it() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    snapshot = builder.complete(0.1, 0.2, lr=0.1).build()
    sizes = zip(snapshot.epochs, (64, 32), strict=True)
    shrunk = tuple(
        replace(epoch, micro_batch=size, baseline_memory_bytes=3 * MIB) for epoch, size in sizes
    )
    row = trials_table([replace(snapshot, epochs=shrunk)]).iloc[0]
    assert (row.baseline_memory_mib, row.micro_batch) == (3.0, 32)
    epochs = epochs_table([replace(snapshot, epochs=shrunk)])
    assert epochs.micro_batch.tolist() == [64, 32]
    assert epochs.baseline_memory_mib.tolist() == [3.0, 3.0]


def test_the_epoch_time_is_the_median_and_the_memory_the_highest() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    snapshot = builder.complete(0.1, 0.2, 0.3, lr=0.1).build()
    measured = zip(snapshot.epochs, (60.0, 8.0, 9.0), (5, 7, 6), strict=True)
    slow_start = tuple(
        replace(epoch, epoch_s=epoch_s, peak_memory_bytes=memory * MIB)
        for epoch, epoch_s, memory in measured
    )
    row = trials_table([replace(snapshot, epochs=slow_start)]).iloc[0]
    assert (row.epoch_s, row.peak_memory_mib) == (9.0, 7.0)


def test_a_retried_trial_counts_the_time_of_all_attempts_and_the_latest_device() -> None:
    spec = make_spec({"lr": [0.1]}, budget=BudgetSpec(price_per_gpu_hour=7.2))
    snapshot = SnapshotBuilder(spec).complete(0.5, 0.6, lr=0.1).build()
    trial = snapshot.trials[0]
    lost = make_attempt(trial, 1, state=TrialState.FAILED, cause=Cause.LOST, device="cuda:0")
    again = make_attempt(
        trial, 2, device="cuda:1", started_at=START + seconds(60), finished_at=START + seconds(80)
    )
    row = trials_table([with_attempts(snapshot, lost, again)]).iloc[0]
    assert (row.attempts, row.device, row.duration_s) == (2, "cuda:1", 50.0)
    assert row.cost == pytest.approx(0.1)


def test_an_attempt_that_started_over_and_ended_earlier_has_the_last_word() -> None:
    snapshot = one_trial(TrialState.PRUNED)
    first = make_epochs(0, [0.7, 0.8], first=1)
    second = make_epochs(0, [0.3], attempt=2)
    row = trials_table([replace(snapshot, epochs=(*second, *first))]).iloc[0]
    assert row.test_accuracy == 0.3


def test_a_running_attempt_counts_to_its_last_stored_epoch() -> None:
    row = trials_table([one_trial(TrialState.RUNNING, 0.5, 0.6)]).iloc[0]
    assert row.duration_s == 20.0
    assert pd.isna(row.finished_at)


def test_the_price_of_an_instance_is_shared_by_its_slots() -> None:
    spec = make_spec({"lr": [0.1]}, budget=BudgetSpec(price_per_hour=2.4))
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=0.1, attempt={"num_slots": 4}).build()
    assert trials_table([snapshot]).iloc[0].cost == pytest.approx(30 / 3600 * 2.4 / 4)


@pytest.mark.parametrize("num_devices", [2.0, 0.25])
def test_the_price_of_a_gpu_is_paid_for_each_or_for_a_share(num_devices: float) -> None:
    spec = make_spec({"lr": [0.1]}, budget=BudgetSpec(price_per_gpu_hour=2.4))
    builder = SnapshotBuilder(spec)
    snapshot = builder.complete(0.5, lr=0.1, attempt={"num_devices": num_devices}).build()
    row = trials_table([snapshot]).iloc[0]
    assert row.cost == pytest.approx(30 / 3600 * 2.4 * num_devices)
    assert row.num_devices == num_devices
    used = spent(snapshot.attempts, spec.budget, snapshot.attempts[0].started_at)
    assert used.cost == pytest.approx(row.cost), "what the budget counts is what the table says"


def test_without_a_price_the_cost_is_empty() -> None:
    assert pd.isna(trials_table([one_trial(TrialState.COMPLETE, 0.5)]).iloc[0].cost)


def test_another_objective_stands_in_value_and_decides_the_best_epoch() -> None:
    spec = make_spec({"lr": [0.1]}, metric="error", direction=Direction.MINIMIZE)
    row = trials_table([SnapshotBuilder(spec).complete(0.5, 0.2, 0.3, lr=0.1).build()]).iloc[0]
    assert (row.value, row.best_epoch) == (0.3, 1)
    assert pd.isna(row.test_accuracy)
    assert pd.isna(row.best_test_accuracy)


def test_a_param_that_is_not_active_is_empty_and_keeps_whole_numbers_whole() -> None:
    spec = make_spec({"optimizer": ["sgd", "adam"], "width": [16]})
    builder = SnapshotBuilder(spec).complete(0.5, optimizer="sgd", width=16)
    frame = trials_table([builder.complete(0.6, optimizer="adam").build()])
    assert str(frame.width.dtype) == "Int64"
    assert to_csv(frame[["optimizer", "width"]]) == b"optimizer,width\nsgd,16\nadam,\n"


def test_studies_with_different_params_share_one_table() -> None:
    one = SnapshotBuilder(make_spec({"lr": [0.1]}, name="a")).complete(0.5, lr=0.1).build()
    two = SnapshotBuilder(make_spec({"width": [16]}, name="b")).complete(0.6, width=16).build()
    frame = trials_table([one, two])
    assert list(frame.study) == ["a", "b"]
    assert list(frame.columns)[5:7] == ["lr", "width"]
    assert frame.lr.isna().tolist() == [False, True]


def test_params_of_an_earlier_space_keep_their_columns_at_the_end() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]})).complete(0.5, lr=0.1, momentum=0.9)
    assert list(trials_table([builder.build()]).columns)[5:7] == ["lr", "momentum"]


def test_a_metric_named_like_a_column_is_renamed() -> None:
    spec = make_spec({"lr": [0.1]}, metric="epoch")
    frame = epochs_table([SnapshotBuilder(spec).complete(7.0, lr=0.1).build()])
    assert frame.epoch.tolist() == [0]
    assert frame.metric_epoch.tolist() == [7.0]


def test_metrics_stand_in_a_fixed_order_and_non_finite_ones_are_empty() -> None:
    snapshot = one_trial(TrialState.COMPLETE, 0.5)
    metrics = {"zeta": 1.0, "test_accuracy": 0.5, "alpha": float("nan"), "train_loss": None}
    epoch = replace(snapshot.epochs[0], metrics=metrics)
    frame = epochs_table([replace(snapshot, epochs=(epoch,))])
    assert list(frame.columns)[4:8] == ["train_loss", "test_accuracy", "alpha", "zeta"]
    assert frame.loc[0, ["train_loss", "alpha"]].isna().all()


def test_an_attempt_counts_only_the_epochs_that_it_has_the_last_word_on() -> None:
    snapshot = one_trial(TrialState.COMPLETE)
    epochs = (*make_epochs(0, [0.1]), *make_epochs(0, [0.2, 0.3], attempt=2, first=1))
    trial = snapshot.trials[0]
    attempts = (make_attempt(trial, 1, cause=Cause.LOST), make_attempt(trial, 2))
    frame = attempts_table([replace(snapshot, epochs=epochs, attempts=attempts)])
    assert frame.epochs.tolist() == [1, 2]
    assert frame.cause.tolist()[0] == "lost"


def test_times_are_iso_8601_in_utc_and_readable_by_pandas() -> None:
    frame = pd.read_csv(
        io.BytesIO(to_csv(trials_table([lr_batch_study()]))), parse_dates=["started_at"]
    )
    assert frame.started_at[0] == pd.Timestamp(START)


def test_the_best_table_lists_complete_trials_only_the_best_first() -> None:
    assert best_table(lr_batch_study(), top=3).trial.tolist() == [1, 5, 0]
