"""The numbers of the plots: which trials are drawn, where, and what is said without any."""

import pytest

from sweep.errors import UsageError
from sweep.records import Direction, Snapshot, TrialState
from sweep.views.figures.lines import history_figure
from sweep.views.series.axis import axis_of, even_axis, label_of, scale_axis
from sweep.views.series.curves import (
    MAX_CURVE_POINTS,
    MAX_CURVES,
    CurveSeries,
    curve_series,
)
from sweep.views.series.history import HistorySeries, history_series
from sweep.views.series.param_panels import PanelSeries, panel_series
from sweep.views.series.param_scatter import ScatterSeries, scatter_series
from sweep.views.series.parts import (
    MAX_GROUPS,
    MAX_POINTS,
    Nothing,
    grouped,
    thinned,
    thinned_keeping,
)
from sweep.views.series.subject import subject_of
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec


def by_size(snapshot: Snapshot) -> PanelSeries:
    series = panel_series(subject_of(snapshot))
    assert isinstance(series, PanelSeries)
    return series


def by_lr(snapshot: Snapshot) -> ScatterSeries:
    series = scatter_series(subject_of(snapshot))
    assert isinstance(series, ScatterSeries)
    return series


def curves(snapshot: Snapshot) -> CurveSeries:
    series = curve_series(subject_of(snapshot))
    assert isinstance(series, CurveSeries)
    return series


def history(snapshot: Snapshot) -> HistorySeries:
    series = history_series(subject_of(snapshot))
    assert isinstance(series, HistorySeries)
    return series


def test_few_numbers_stand_evenly_and_many_on_a_scale() -> None:
    few = axis_of("batch_size", [512, 64, 128.0, 128, None])
    assert few.labels == ("64", "128", "512")
    assert [few.place(value) for value in (64, 128, 128.0, 512, None, 99)] == [
        0,
        1,
        1,
        2,
        None,
        None,
    ]
    many = axis_of("lr", [10 ** -(index / 5) for index in range(16)])
    assert not many.is_even
    assert many.is_log
    assert many.place(0.3) == 0.3
    assert many.place(0) is None


def test_few_numbers_of_a_range_lie_on_its_scale() -> None:
    axis = axis_of("momentum", [0.1, 0.9], is_log=False)
    assert (axis.is_even, axis.is_log, axis.low, axis.high) == (False, False, 0.1, 0.9)


def test_a_scale_is_logarithmic_only_over_much_and_above_zero() -> None:
    assert not scale_axis("x", [1.0, 19.0]).is_log
    assert scale_axis("x", [1.0, 19.0], is_log=True).is_log
    assert scale_axis("x", [1.0, 21.0]).is_log
    assert not scale_axis("x", [0.0, 21.0], is_log=True).is_log
    assert not scale_axis("x", [1.0, 21.0], is_log=False).is_log


def test_a_share_of_an_axis_and_a_place_on_it_are_inverse() -> None:
    axis = scale_axis("lr", [0.001, 1.0])
    assert axis.share(0.001) == 0
    assert axis.share(1.0) == pytest.approx(1)
    assert axis.at(1 / 3) == pytest.approx(0.01)
    assert even_axis("x", ["one"]).share("one") == 0.5


def test_values_that_round_alike_have_places_and_labels_of_their_own() -> None:
    axis = even_axis("ema_decay", [0.9999, 0.99999, 0.999999])
    assert axis.labels == ("0.9999", "0.99999", "0.999999")
    sampled = even_axis("x", [0.012345671, 0.012345672, 0.5])
    assert sampled.labels == ("0.012345671", "0.012345672", "0.5")
    assert even_axis("x", [0.0123456789, 0.5]).labels == ("0.01235", "0.5")
    assert [sampled.place(value) for value in (0.012345671, 0.012345672, 0.5)] == [0, 1, 2]


def test_a_text_that_could_be_another_value_is_quoted() -> None:
    labels = [label_of(value) for value in (1, "1", True, "true", "other", "not set", "'1'", "a")]
    assert labels == [
        *("1", "'1'", "true", "'true'", "'other'", "'not set'", "''1''", "a"),
    ]
    assert even_axis("x", [1, "1", True, "true"]).place("1") == 2
    assert len({label_of(value) for value in ("a\nb", "a\\nb", "'a\\nb'")}) == 3


def test_the_middle_of_an_axis_is_the_place_of_what_stands_alone() -> None:
    lonely = scale_axis("x", [3.0])
    assert (lonely.share(3.0), lonely.at(0.5)) == (0.5, 3.0)
    widest = scale_axis("x", [-1.7e308, 1.7e308])
    assert [widest.share(value) for value in (-1.7e308, 0.0, 1.7e308)] == [0, 0.5, 1]


def test_true_and_one_have_places_of_their_own() -> None:
    axis = axis_of("x", [True, 1, False])
    assert len({axis.place(value) for value in (True, 1, False)}) == 3


def test_a_study_is_drawn_by_the_usual_params_where_it_has_them() -> None:
    subject = subject_of(lr_batch_study())
    assert (subject.size, subject.scale, subject.group) == ("batch_size", "lr", "optimizer")


def test_a_study_of_other_names_is_drawn_by_what_its_params_are() -> None:
    spec = make_spec({"activation": ["relu", "gelu"], "depth": [2, 4], "dropout": [0.1, 0.2]})
    builder = SnapshotBuilder(spec)
    for index in range(4):
        params = {"activation": ["relu", "gelu"][index % 2], "depth": 2 + 2 * (index // 2)}
        builder.complete(0.5, **params, dropout=index / 10)
    subject = subject_of(builder.build())
    assert (subject.size, subject.scale, subject.group) == ("depth", "dropout", "activation")


def test_a_study_without_params_has_no_param_to_be_drawn_by() -> None:
    spec = make_spec({"lr": [0.1]})
    subject = subject_of(SnapshotBuilder(spec).build())
    assert (subject.size, subject.scale, subject.group) == (None, "lr", None)


def test_a_param_that_is_asked_for_is_drawn_instead() -> None:
    subject = subject_of(lr_batch_study(), param="lr", by="batch_size")
    assert (subject.size, subject.scale, subject.group) == ("lr", "lr", "batch_size")
    with pytest.raises(UsageError, match="no param 'momentum' is searched here"):
        subject_of(lr_batch_study(), param="momentum")
    with pytest.raises(UsageError, match="lr is drawn already"):
        subject_of(lr_batch_study(), param="lr", by="lr")


def test_batch_size_has_a_panel_for_time_memory_and_accuracy() -> None:
    series = by_size(lr_batch_study())
    assert [panel.measure for panel in series.panels] == [
        *("epoch_s", "peak_memory_mib", "test_accuracy"),
    ]
    assert series.axis.labels == ("32", "64", "128")


def test_each_trial_has_one_point_and_each_batch_size_a_mean() -> None:
    times, _, accuracy = by_size(lr_batch_study()).panels
    assert sorted(point.trial for point in times.points) == [0, 1, 2, 3, 4, 5]
    assert sorted(point.trial for point in accuracy.points) == [0, 1, 2, 4, 5]
    assert times.means == ((0, 10), (1, 10), (2, 10))
    assert accuracy.means[0] == (0, pytest.approx((0.92 + 0.8) / 2))
    assert accuracy.means[1] == (1, 0.92)  # the pruned one does not count


def test_of_many_sizes_the_means_are_of_tenths_of_the_axis() -> None:
    spec = make_spec({"batch_size": list(range(1, 101))})
    builder = SnapshotBuilder(spec)
    for size in range(101, 201):
        builder.complete(size / 1000, batch_size=size)
    accuracy = by_size(builder.build()).panels[-1]
    assert len(accuracy.means) == 10
    assert accuracy.means[0] == (pytest.approx(101 + 99 / 20), pytest.approx(0.1055))


def test_lr_is_grouped_by_optimizer_and_failed_trials_have_no_point() -> None:
    series = by_lr(lr_batch_study())
    assert [group.label for group in series.groups] == ["adam", "sgd"]
    assert [point.trial for group in series.groups for point in group.points] == [1, 0, 2, 4, 5]
    assert series.axis.is_log


def test_lr_without_optimizers_is_one_group_and_zero_forbids_a_log_axis() -> None:
    spec = make_spec({"lr": [0.0, 0.1]})
    series = by_lr(SnapshotBuilder(spec).complete(0.1, lr=0.0).complete(0.5, lr=0.1).build())
    assert [group.label for group in series.groups] == [None]
    assert not series.axis.is_log


def test_of_many_values_the_frequent_have_groups_and_the_rest_one() -> None:
    names = [f"name{index}" for index in range(20)]
    builder = SnapshotBuilder(make_spec({"kind": names}))
    for index, name in enumerate(names):
        for _ in range(3 if index < MAX_GROUPS - 1 else 1):
            builder.complete(0.5, kind=name)
    groups = grouped(subject_of(builder.build()).rows, "kind")
    assert list(groups) == [*names[: MAX_GROUPS - 1], "other"]
    assert len(groups["other"]) == 20 - MAX_GROUPS + 1


def test_a_choice_called_other_or_not_set_is_no_leftover_group() -> None:
    names = ["other", "not set", *(f"name{index}" for index in range(8))]
    builder = SnapshotBuilder(make_spec({"kind": names, "lr": [0.1]}))
    for index, name in enumerate(names):
        for _ in range(5 if index < 2 else 1):
            builder.complete(0.5, kind=name)
    builder.complete(0.5, lr=0.1)
    groups = grouped(subject_of(builder.build()).rows, "kind")
    sizes = {label: len(rows) for label, rows in groups.items()}
    assert (sizes["'other'"], sizes["'not set'"]) == (5, 5)
    assert sum(sizes.values()) == 19
    assert list(groups)[-1] == "other"


def test_curves_keep_gaps_and_know_the_best() -> None:
    snapshot = lr_batch_study()
    drawn = {curve.trial: curve for curve in curves(snapshot).curves}
    assert [trial for trial, curve in drawn.items() if curve.is_best] == [1]
    assert drawn[3].values == (0.1, None)
    assert drawn[2].state is TrialState.PRUNED


def test_of_very_many_curves_the_best_are_always_drawn() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    for index in range(3 * MAX_CURVES):
        builder.complete(0.9 if index == 77 else 0.5, lr=0.1)
    series = curves(builder.build())
    assert series.num_total == 3 * MAX_CURVES
    assert series.num_drawn == MAX_CURVES
    assert any(curve.is_best and curve.trial == 77 for curve in series.curves)


def test_a_very_long_curve_keeps_its_first_and_last_epoch() -> None:
    long = [0.5] * (MAX_CURVE_POINTS + 7)
    (curve,) = curves(
        SnapshotBuilder(make_spec({"lr": [0.1]})).complete(*long, lr=0.1).build()
    ).curves
    assert len(curve.epochs) == MAX_CURVE_POINTS
    assert (curve.epochs[0], curve.epochs[-1]) == (0, len(long) - 1)


def test_the_best_so_far_rises_with_complete_trials_only() -> None:
    series = history(lr_batch_study())
    assert series.best == ((0, 0.9), (1, 0.92), (5, 0.92))
    assert series.failed == (3,)
    assert [point.trial for point in series.points] == [0, 1, 2, 4, 5]


def test_of_a_loss_the_best_so_far_falls() -> None:
    spec = make_spec({"lr": [0.1]}, metric="loss", direction="minimize")
    builder = SnapshotBuilder(spec)
    for loss in (0.0, 0.5, -1.0):
        builder.complete(loss, lr=0.1)
    assert history(builder.build()).best == ((0, 0.0), (2, -1.0))


@pytest.mark.parametrize(("direction", "worst"), [("maximize", 0.1), ("minimize", 0.5)])
def test_failed_trials_lie_level_with_the_worst_one(direction: str, worst: float) -> None:
    spec = make_spec({"lr": [0.1]}, metric="loss", direction=Direction(direction))
    builder = SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.1, lr=0.1).failed(lr=0.1)
    series = history(builder.build())
    failed = next(t for t in history_figure(series).data if t.name == "failed (no value)")
    assert list(failed.y) == [worst]


def test_of_very_many_trials_those_that_raised_the_best_are_drawn() -> None:
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    for index in range(MAX_POINTS + 500):
        builder.complete(0.9 if index == 1235 else 0.5, lr=0.1)
    series = history(builder.build())
    assert (series.num_drawn, series.num_total) == (MAX_POINTS, MAX_POINTS + 500)
    assert 1235 in {point.trial for point in series.points}


def test_what_cannot_be_drawn_says_why() -> None:
    subject = subject_of(
        SnapshotBuilder(make_spec({"kind": ["a", "b"]})).failed(kind="a").failed(kind="b").build()
    )
    assert panel_series(subject) == Nothing(reason="no trial with a kind has an epoch yet")
    assert scatter_series(subject) == Nothing(reason="no param of numbers was searched")
    assert curve_series(subject) == Nothing(reason="no epoch has a test_accuracy yet")
    assert history_series(subject) == Nothing(reason="no trial has a value yet")


def test_thinning_keeps_few_and_spreads_many() -> None:
    assert thinned([1, 2], 3) == [1, 2]
    assert thinned(list(range(10)), 5) == [0, 2, 4, 6, 8]
    assert thinned_keeping(list(range(10)), 4, lambda item: item in (3, 9)) == [0, 3, 5, 9]
    assert thinned_keeping(list(range(10)), 2, lambda item: True) == [0, 5]
