"""The numbers of the plots: which trials are drawn, where, and what is said without any."""

from sweep.records import Snapshot, TrialState
from sweep.views.figures import batch_size_figure, curves_figure, lr_figure
from sweep.views.rows import trial_rows
from sweep.views.series import (
    MAX_CURVES,
    BatchSizeSeries,
    CurveSeries,
    LrSeries,
    Nothing,
    batch_size_series,
    curve_series,
    lr_series,
    thinned,
)
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec


def by_size(snapshot: Snapshot) -> BatchSizeSeries:
    series = batch_size_series(snapshot, trial_rows(snapshot))
    assert isinstance(series, BatchSizeSeries)
    return series


def by_lr(snapshot: Snapshot) -> LrSeries:
    series = lr_series(snapshot, trial_rows(snapshot))
    assert isinstance(series, LrSeries)
    return series


def curves(snapshot: Snapshot) -> CurveSeries:
    series = curve_series(snapshot, trial_rows(snapshot))
    assert isinstance(series, CurveSeries)
    return series


def test_batch_size_has_a_panel_for_time_memory_and_accuracy() -> None:
    series = by_size(lr_batch_study())
    assert [panel.measure for panel in series.panels] == [
        *("epoch_s", "peak_memory_mib", "test_accuracy"),
    ]
    assert series.sizes == (32, 64, 128)


def test_mean_times_are_of_all_trials_and_mean_accuracies_of_complete_ones() -> None:
    times, _, accuracy = by_size(lr_batch_study()).panels
    assert [len(panel.points) for panel in (times, accuracy)] == [6, 5]
    assert times.means == ((32, 10), (64, 10), (128, 10))
    assert accuracy.means[1] == (64, 0.92)


def test_lr_is_grouped_by_optimizer_and_failed_trials_have_no_point() -> None:
    series = by_lr(lr_batch_study())
    assert [group.label for group in series.groups] == ["adam", "sgd"]
    assert [point.trial for group in series.groups for point in group.points] == [1, 0, 2, 4, 5]
    assert series.is_log


def test_lr_without_optimizers_is_one_group_and_zero_forbids_a_log_axis() -> None:
    spec = make_spec({"lr": [0.0, 0.1]})
    series = by_lr(SnapshotBuilder(spec).complete(0.1, lr=0.0).complete(0.5, lr=0.1).build())
    assert [group.label for group in series.groups] == [None]
    assert not series.is_log


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
    assert len(series.curves) == MAX_CURVES
    assert any(curve.is_best and curve.trial == 77 for curve in series.curves)


def test_what_cannot_be_drawn_says_why() -> None:
    snapshot = SnapshotBuilder(make_spec({"width": [16]})).failed(width=16).build()
    rows = trial_rows(snapshot)
    assert batch_size_series(snapshot, rows) == Nothing(
        reason="no figure by batch size: the study has no param batch_size"
    )
    assert lr_series(snapshot, rows) == Nothing(
        reason="no figure by learning rate: the study has no param lr"
    )
    assert curve_series(snapshot, rows) == Nothing(
        reason="no learning curves: no epoch has a test_accuracy yet"
    )


def test_params_without_numbers_yet_say_so() -> None:
    snapshot = SnapshotBuilder(make_spec({"batch_size": [64], "lr": [0.1]})).build()
    for series in (batch_size_series(snapshot, []), lr_series(snapshot, [])):
        assert isinstance(series, Nothing)
        assert series.reason.endswith("yet")


def test_thinning_keeps_few_and_spreads_many() -> None:
    assert thinned([1, 2], 3) == [1, 2]
    assert thinned(list(range(10)), 5) == [0, 2, 4, 6, 8]


def test_figures_show_accuracies_in_percent_and_units_on_the_axes() -> None:
    figure = batch_size_figure(by_size(lr_batch_study()))
    titles = [axis.title.text for axis in figure.select_yaxes()]
    assert titles == ["epoch time (s)", "peak memory (MiB)", "test accuracy (%)"]
    mean = [trace for trace in figure.data if trace.name == "mean"][-1]
    assert mean.y[1] == 92


def test_states_differ_by_shape_and_optimizers_by_colour() -> None:
    traces = {trace.name: trace.marker for trace in lr_figure(by_lr(lr_batch_study())).data}
    assert traces["sgd, complete"].symbol != traces["sgd, pruned"].symbol
    assert traces["sgd, complete"].color == traces["sgd, pruned"].color
    assert traces["sgd, complete"].color != traces["adam, complete"].color


def test_curves_count_epochs_from_one_on_the_screen() -> None:
    figure = curves_figure(curves(lr_batch_study()))
    best = next(trace for trace in figure.data if trace.name == "best: trial 1")
    assert list(best.x) == [1, 2, 3]


def test_a_users_text_is_no_html_in_a_figure() -> None:
    spec = make_spec({"optimizer": ["<b>bold</b>" + "x" * 200], "lr": [0.1]}, metric="<i>m</i>")
    builder = SnapshotBuilder(spec).complete(0.5, optimizer=f"<b>bold</b>{'x' * 200}", lr=0.1)
    figure = lr_figure(by_lr(builder.build()))
    assert figure.data[0].name.startswith("&lt;b&gt;bold&lt;/b&gt;x")
    assert len(figure.data[0].name) < 100
    assert figure.layout.yaxis.title.text == "&lt;i&gt;m&lt;/i&gt;"
