"""Comparing by a param: the groups, what their numbers mean, and when to believe them."""

from dataclasses import replace

import pandas as pd
import pytest

from sweep.errors import UsageError
from sweep.records import Direction, Snapshot
from sweep.views.by_table import by_table
from sweep.views.caveats import caveats
from sweep.views.columns import BY, BY_MEMORY, BY_OTHER_OBJECTIVE
from sweep.views.comparison import controlled
from sweep.views.ranges import groups_by_range, range_edges
from sweep.views.rows import trial_rows
from sweep.views.sharing import unequal_sharing
from sweep.views.summary import summarize
from tests.snapshots import MIB, SnapshotBuilder, lr_batch_study, make_spec


def lr_study(*lrs: float) -> Snapshot:
    builder = SnapshotBuilder(make_spec({"lr": lrs}))
    for lr in lrs:
        builder.complete(0.5, lr=lr)
    return builder.build()


def ranges_of(*lrs: float) -> list[object]:
    snapshot = lr_study(*lrs)
    groups = groups_by_range(trial_rows(snapshot), "lr", snapshot.study)
    assert sum(group.trials for group in groups) == len(lrs)
    return [group.value for group in groups]


def test_the_table_has_the_param_and_then_its_fixed_columns() -> None:
    frame = by_table([lr_batch_study()], "batch_size")
    assert ",".join(frame.columns) == (
        "batch_size,trials,complete,pruned,failed,epoch_s,images_per_s,peak_memory_mib,"
        "test_accuracy,test_accuracy_std,best_test_accuracy,best_trial,cost,"
        "baseline_memory_mib,micro_batch,num_sharing"
    )


def gpus_study(**seconds_by_gpus: float) -> Snapshot:
    """A complete trial for each number of GPUs: g2=3.0 has 3 s an epoch on two."""
    builder = SnapshotBuilder(make_spec({"gpus_per_trial": [1, 2, 4]}))
    for name, epoch_s in seconds_by_gpus.items():
        builder.complete(0.5, gpus_per_trial=int(name[1:]), epochs={"epoch_s": epoch_s})
    return builder.build()


def test_by_the_number_of_gpus_speed_up_and_efficiency_are_appended() -> None:
    frame = by_table([gpus_study(g1=8.0, g2=5.0, g4=2.5)], "gpus_per_trial")
    assert list(frame.columns)[-2:] == ["speed_up", "efficiency"]
    assert frame.speed_up.tolist() == [1.0, 1.6, 3.2]
    assert frame.efficiency.tolist() == [1.0, 0.8, 0.8]


def test_efficiency_counts_from_the_fewest_gpus_that_have_an_epoch() -> None:
    builder = SnapshotBuilder(make_spec({"gpus_per_trial": [1, 2, 4]})).waiting(gpus_per_trial=1)
    for number, epoch_s in ((2, 6.0), (4, 4.0)):
        builder.complete(0.5, gpus_per_trial=number, epochs={"epoch_s": epoch_s})
    frame = by_table([builder.build()], "gpus_per_trial")
    assert frame.speed_up.isna().tolist() == [True, False, False]
    assert frame.speed_up.tolist()[1:] == [1.0, 1.5]
    assert frame.efficiency.tolist()[1:] == [1.0, 0.75]


def test_each_study_is_measured_against_its_own_fewest_gpus() -> None:
    snapshots = [gpus_study(g1=8.0, g2=4.0), gpus_study(g2=9.0, g4=3.0)]
    renamed = replace(snapshots[1], study=replace(snapshots[1].study, name="other"))
    frame = by_table([snapshots[0], renamed], "gpus_per_trial")
    assert frame.speed_up.tolist() == [1.0, 2.0, 1.0, 3.0]


def test_times_of_trials_that_shared_a_device_unequally_do_not_compare() -> None:
    builder = SnapshotBuilder(make_spec({"batch_size": [64, 128]}))
    builder.complete(0.5, 0.6, batch_size=64, epochs={"num_sharing": 1})
    assert unequal_sharing(trial_rows(builder.build())) is None
    builder.complete(0.5, 0.6, batch_size=128, epochs={"num_sharing": 3})
    snapshot = builder.build()
    assert by_table([snapshot], "batch_size").num_sharing.tolist() == [1, 3]
    warning = unequal_sharing(trial_rows(snapshot))
    assert warning == (
        "From 1 to 3 trials ran on a device at a time (num_sharing): their times do not compare."
    )
    assert warning in caveats(snapshot, trial_rows(snapshot), summarize(snapshot, None))


def test_of_images_at_once_the_fewest_of_any_trial_count() -> None:
    builder = SnapshotBuilder(make_spec({"batch_size": [64, 128]}))
    for size, fewest, base in ((64, 64, 10), (128, 128, 10), (128, 32, 30)):
        memory = {"micro_batch": fewest, "baseline_memory_bytes": base * MIB}
        builder.complete(0.5, 0.6, batch_size=size, epochs=memory)
    frame = by_table([builder.build()], "batch_size")
    assert frame.micro_batch.tolist() == [64, 32]
    assert frame.baseline_memory_mib.tolist() == [10.0, 20.0]


def test_values_are_sorted_as_numbers_and_not_as_text() -> None:
    assert by_table([lr_batch_study()], "batch_size").batch_size.tolist() == [32, 64, 128]
    assert by_table([lr_batch_study()], "optimizer").optimizer.tolist() == ["adam", "sgd"]


def test_states_are_counted_and_only_complete_trials_have_a_say_in_the_accuracy() -> None:
    row = by_table([lr_batch_study()], "batch_size").iloc[1]
    assert (row.trials, row.complete, row.pruned, row.failed) == (3, 1, 1, 1)
    assert row.test_accuracy == 0.92
    assert pd.isna(row.test_accuracy_std)


def test_a_pruned_trial_is_never_best_however_high_it_was() -> None:
    row = by_table([lr_batch_study()], "batch_size").iloc[1]
    assert (row.best_trial, row.best_test_accuracy) == (5, 0.92)


def test_the_deviation_is_that_of_a_sample() -> None:
    row = by_table([lr_batch_study()], "batch_size").iloc[0]
    assert row.test_accuracy == pytest.approx(0.86)
    assert row.test_accuracy_std == pytest.approx(0.12 / 2**0.5)


def test_times_and_memory_are_means_over_all_trials_that_have_an_epoch() -> None:
    builder = SnapshotBuilder(make_spec({"batch_size": [64]}))
    builder.complete(0.5, batch_size=64, epochs={"epoch_s": 10.0})
    builder.pruned(0.4, batch_size=64, epochs={"epoch_s": 20.0, "peak_memory_bytes": 300 * MIB})
    row = by_table([builder.failed(batch_size=64).build()], "batch_size").iloc[0]
    assert (row.epoch_s, row.peak_memory_mib, row.trials) == (15.0, 200.0, 3)


def test_the_cost_is_the_sum() -> None:
    assert by_table([lr_batch_study()], "batch_size").cost.tolist() == pytest.approx(
        [0.06, 0.09, 0.03]
    )


def test_trials_without_the_param_form_the_last_row() -> None:
    spec = make_spec({"optimizer": ["sgd", "adam"], "nesterov": [True, False]})
    builder = SnapshotBuilder(spec).complete(0.5, optimizer="adam")
    builder.complete(0.6, optimizer="sgd", nesterov=True)
    frame = by_table([builder.build()], "nesterov")
    assert frame.nesterov.isna().tolist() == [False, True]
    assert frame.best_trial.tolist() == [1, 0]


def test_an_unknown_param_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no param 'bs' .*: optimizer, batch_size, lr"):
        by_table([lr_batch_study()], "bs")


def test_studies_keep_their_own_rows_and_the_study_is_appended() -> None:
    other = SnapshotBuilder(make_spec({"lr": [0.1]}, name="other")).complete(0.5, lr=0.1).build()
    frame = by_table([lr_batch_study(), other], "lr")
    assert frame.lr.tolist() == [0.01, 0.1, 0.1]
    assert frame.study.tolist() == ["lr_bs", "lr_bs", "other"]
    assert frame.columns[-1] == "study"


def test_another_objective_has_columns_of_its_own_at_the_end() -> None:
    spec = make_spec({"lr": [0.1]}, metric="error", direction=Direction.MINIMIZE)
    builder = SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.3, lr=0.1)
    frame = by_table([builder.build()], "lr")
    expected = (*BY, *BY_OTHER_OBJECTIVE, *BY_MEMORY)
    assert list(frame.columns)[1:] == [column.name for column in expected]
    row = frame.iloc[0]
    assert (row.value, row.best_value, row.best_trial) == (0.4, 0.3, 1)


def test_a_comparison_is_controlled_when_only_the_param_differs() -> None:
    builder = SnapshotBuilder(make_spec({"batch_size": [64, 128], "lr": [0.1, 0.2]}))
    builder.complete(0.5, batch_size=64, lr=0.1).complete(0.6, batch_size=128, lr=0.1)
    comparison = controlled(builder.waiting(batch_size=64, lr=0.2).build(), "batch_size")
    assert comparison.is_controlled
    assert comparison.sentence == (
        "controlled comparison: only batch_size differs (2 values, 2 trials)"
    )


def test_an_uncontrolled_comparison_names_what_varies_too() -> None:
    comparison = controlled(lr_batch_study(), "batch_size")
    assert not comparison.is_controlled
    assert comparison.varying == ("optimizer", "lr")
    assert comparison.sentence == (
        "not a controlled comparison: optimizer, lr vary too, besides batch_size"
    )


def test_means_of_the_greatest_numbers_are_no_error() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}, metric="score"))
    for score in (1.5e308, 1.7e308, 1.6e308):
        builder.complete(score, lr=0.1)
    row = by_table([builder.build()], "lr").iloc[0]
    assert row.value == pytest.approx(1.6e308)
    assert row.value_std == pytest.approx(0.1e308)


def test_one_value_compares_with_nothing() -> None:
    comparison = controlled(lr_study(0.1), "lr")
    assert not comparison.is_controlled
    assert comparison.sentence == ("nothing to compare: the finished trials have 1 value of lr")


def test_a_few_values_stay_exact_in_a_report() -> None:
    assert ranges_of(0.3, 0.1, 0.2) == [0.1, 0.2, 0.3]


def test_many_values_over_decades_become_half_decades() -> None:
    found = ranges_of(*(10 ** (-4 + i / 10) for i in range(21)))
    assert found == [
        *("0.0001 to 0.000316", "0.000316 to 0.001", "0.001 to 0.00316", "0.00316 to 0.01"),
        "0.01 to 0.0316",
    ]


def test_many_values_close_together_become_equal_steps() -> None:
    found = ranges_of(*(0.5 + i / 100 for i in range(40)))
    assert found == ["0.5 to 0.6", "0.6 to 0.7", "0.7 to 0.8", "0.8 to 0.9"]


def test_ranges_whose_ends_are_close_together_have_labels_of_their_own() -> None:
    spec = make_spec({"units": list(range(1000, 1025))})
    builder = SnapshotBuilder(spec)
    for units in range(1000, 1025):
        builder.complete(0.5, units=units)
    snapshot = builder.build()
    groups = groups_by_range(trial_rows(snapshot), "units", snapshot.study)
    assert [(group.value, group.trials) for group in groups] == [
        *(("1000 to 1005", 5), ("1005 to 1010", 5), ("1010 to 1015", 5), ("1015 to 1020", 5)),
        ("1020 to 1025", 5),
    ]
    decays = ranges_of(*(0.999 + index * 0.00006 for index in range(16)))
    assert decays[:2] == ["0.999 to 0.9992", "0.9992 to 0.9994"]
    assert len(set(decays)) == len(decays) == 5


def test_values_that_were_drawn_evenly_become_equal_steps_however_far_they_span() -> None:
    edges = range_edges(0.002, 0.98, is_linear=True)
    assert edges == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, 8.0), (1e-6, 1e6), (64, 4096)])
def test_ranges_rise_and_hold_everything(low: float, high: float) -> None:
    edges = range_edges(low, high)
    assert edges == sorted(set(edges))
    assert edges[0] <= low
    assert edges[-1] > high
