"""The numbers of the plots over many trials: spreads, importance, fronts, slots, studies."""

import random
from dataclasses import replace

import numpy as np
import optuna
import pytest
from optuna.importance import PedAnovaImportanceEvaluator

from sweep.records import Direction, Snapshot, TrialState
from sweep.space.distributions import Float
from sweep.space.space import Alternative, Param, Space
from sweep.spec.study import BudgetSpec
from sweep.views import captions
from sweep.views.figures.bars import timeline_figure
from sweep.views.series.boxes import BoxSeries, Spread, box_series, spread_of
from sweep.views.series.contour import ContourSeries, contour_series, smoothed
from sweep.views.series.importance import ImportanceSeries, importance_series
from sweep.views.series.parallel import MAX_AXES, MAX_LINES, ParallelSeries, parallel_series
from sweep.views.series.parts import Nothing, Point
from sweep.views.series.studies import StudiesSeries, studies_series
from sweep.views.series.subject import subject_of
from sweep.views.series.timeline import MAX_BARS, PAUSE_S, TimelineSeries, timeline_series
from sweep.views.series.trade_offs import TradeOffSeries, front_of, trade_off_series
from tests.snapshots import (
    START,
    SnapshotBuilder,
    lr_batch_study,
    make_attempt,
    make_spec,
    make_trial,
    seconds,
    with_attempts,
)


def test_a_spread_has_quartiles_and_whiskers_without_outliers() -> None:
    assert spread_of([1, 2, 3, 4, 5, 100]) == Spread(
        num=6, low=1, first_quartile=2.25, median=3.5, third_quartile=4.75, high=5
    )
    assert spread_of([]) is None


def test_a_spread_of_the_greatest_numbers_is_finite() -> None:
    spread = spread_of([-1.7e308, -1e308, 1e308, 1.7e308])
    assert spread is not None
    assert (spread.low, spread.high) == (-1.7e308, 1.7e308)
    assert spread.median == 0


def test_a_box_is_of_complete_trials_and_pruned_ones_are_points() -> None:
    series = box_series(subject_of(lr_batch_study()))
    assert isinstance(series, BoxSeries)
    assert [box.label for box in series.boxes] == ["adam", "sgd"]
    sgd = series.boxes[1]
    assert sgd.spread is not None
    assert (sgd.spread.num, sgd.spread.median) == (3, 0.9)
    assert [point.trial for point in sgd.points] == [0, 2, 4, 5]


def searched(num_trials: int, direction: Direction = Direction.MAXIMIZE) -> Snapshot:
    """Trials whose value depends on lr, little on the optimizer and not on the batch size."""
    chance = random.Random(0)
    spec = make_spec(
        {"optimizer": ["sgd", "adam"], "batch_size": [32, 64, 128], "lr": [0.1]},
        metric="score",
        direction=direction,
    )
    builder = SnapshotBuilder(spec)
    for _ in range(num_trials):
        params = {
            "optimizer": chance.choice(["sgd", "adam"]),
            "batch_size": chance.choice([32, 64, 128]),
            "lr": chance.choice([0.001, 0.003, 0.01, 0.03, 0.1]),
        }
        gain = abs(np.log10(params["lr"]) + 2) + 0.2 * (params["optimizer"] == "sgd")
        sign = -1 if direction is Direction.MAXIMIZE else 1
        builder.complete(sign * float(gain) + chance.random() / 10, **params)
    return builder.build()


def importance_of(snapshot: Snapshot) -> dict[str, float]:
    series = importance_series(subject_of(snapshot))
    assert isinstance(series, ImportanceSeries)
    return dict(series.importances)


def optunas(snapshot: Snapshot) -> dict[str, float]:
    """The importance that Optuna finds for the same trials."""
    study = optuna.create_study(direction=str(snapshot.study.direction))
    lists = {
        "optimizer": ["sgd", "adam"],
        "batch_size": [32, 64, 128],
        "lr": [0.001, 0.003, 0.01, 0.03, 0.1],
    }
    space = {name: optuna.distributions.CategoricalDistribution(v) for name, v in lists.items()}
    for trial in snapshot.trials:
        study.add_trial(
            optuna.trial.create_trial(
                params=dict(trial.params), distributions=space, value=trial.value
            )
        )
    return optuna.importance.get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())


@pytest.mark.parametrize("direction", Direction)
def test_importance_of_listed_values_is_the_one_that_optuna_finds(direction: Direction) -> None:
    snapshot = searched(300, direction)
    assert importance_of(snapshot) == pytest.approx(optunas(snapshot), rel=1e-6)
    assert next(iter(importance_of(snapshot))) == "lr"


def ranged(num_trials: int) -> tuple[Snapshot, dict[str, float]]:
    """Trials with two params from ranges, one of them on a log scale; and Optuna's importance."""
    ranges = {"lr": Float(low=1e-4, high=1.0, log=True), "momentum": Float(low=0.0, high=1.0)}
    space = Space(
        params=tuple(
            Param(name=name, alternatives=(Alternative(distribution=each),))
            for name, each in ranges.items()
        )
    )
    chance = random.Random(1)
    builder = SnapshotBuilder(replace(make_spec({"lr": [0.1]}, metric="score"), space=space))
    study = optuna.create_study(direction="maximize")
    theirs = {
        "lr": optuna.distributions.FloatDistribution(1e-4, 1.0, log=True),
        "momentum": optuna.distributions.FloatDistribution(0.0, 1.0),
    }
    for _ in range(num_trials):
        params = {"lr": 10 ** chance.uniform(-4, 0), "momentum": chance.random()}
        value = -abs(float(np.log10(params["lr"])) + 2) - 0.3 * abs(params["momentum"] - 0.9)
        builder.complete(value, **params)
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=theirs, value=value)
        )
    evaluator = PedAnovaImportanceEvaluator()
    return builder.build(), optuna.importance.get_param_importances(study, evaluator=evaluator)


def test_importance_of_ranges_is_near_the_one_that_optuna_finds() -> None:
    snapshot, theirs = ranged(400)
    assert importance_of(snapshot) == pytest.approx(theirs, abs=0.03)


def test_importance_wants_ten_complete_trials_and_a_param_that_differs() -> None:
    few = importance_series(subject_of(searched(9)))
    assert few == Nothing(reason="it takes 10 complete trials; there are 9")
    builder = SnapshotBuilder(make_spec({"lr": [0.1]}))
    for _ in range(10):
        builder.complete(0.5, lr=0.1)
    same = importance_series(subject_of(builder.build()))
    assert same == Nothing(reason="all complete trials have the same params")


def test_where_all_trials_reached_the_same_no_param_is_important() -> None:
    builder = SnapshotBuilder(make_spec({"a": [1, 2], "b": [1, 2]}))
    for index in range(12):
        builder.complete(0.0, a=1 + index % 2, b=1 + index // 2 % 2)
    series = importance_series(subject_of(builder.build()))
    assert series == Nothing(reason="all complete trials have the same test_accuracy")


def test_a_param_that_not_every_trial_has_is_compared_among_those_that_have_it() -> None:
    builder = SnapshotBuilder(make_spec({"optimizer": ["sgd", "adam"], "momentum": [0.0, 0.9]}))
    for index in range(40):
        builder.complete(0.5 + 0.4 * (index % 2), optimizer="sgd", momentum=0.9 * (index % 2))
        builder.complete(0.7 + 0.01 * (index % 2), optimizer="adam")
    shares = importance_of(builder.build())
    assert shares["momentum"] > 0.3


def test_a_line_of_parallel_coordinates_has_no_place_for_what_is_not_active() -> None:
    builder = SnapshotBuilder(make_spec({"optimizer": ["sgd", "adam"], "momentum": [0.0, 0.9]}))
    builder.complete(0.5, optimizer="sgd", momentum=0.9).complete(0.6, optimizer="adam")
    builder.pruned(0.4, optimizer="sgd", momentum=0.0).failed(optimizer="adam")
    series = parallel_series(subject_of(builder.build()))
    assert isinstance(series, ParallelSeries)
    assert [axis.param for axis in series.axes] == ["optimizer", "momentum"]
    assert [line.places for line in series.lines] == [(1, 1), (0, None), (1, 0)]
    assert [line.is_best for line in series.lines] == [False, True, False]


def test_parallel_coordinates_are_thinned_in_lines_and_axes() -> None:
    names = {f"p{index}": [0, 1] for index in range(MAX_AXES + 2)}
    builder = SnapshotBuilder(make_spec(names))
    for index in range(MAX_LINES + 50):
        builder.complete(index / 1000, **dict.fromkeys(names, index % 2))
    series = parallel_series(subject_of(builder.build()))
    assert isinstance(series, ParallelSeries)
    assert (len(series.axes), series.num_params) == (MAX_AXES, MAX_AXES + 2)
    assert (series.num_drawn, series.num_total) == (MAX_LINES, MAX_LINES + 50)
    assert series.lines[-1].is_best


def test_a_smoothed_surface_is_near_its_values_and_ends_where_none_are() -> None:
    shares = np.array([[0.0, 0.0], [0.4, 0.0]])
    surface = smoothed(
        shares, np.array([1.0, 3.0]), np.array([0.0, 0.2, 0.4, 1.0]), np.array([0.0])
    )
    assert surface[0, :3] == pytest.approx([1, 2, 3], abs=0.01)
    assert np.isnan(surface[0, 3])


def test_a_contour_is_over_lr_and_batch_size() -> None:
    series = contour_series(subject_of(searched(60)))
    assert isinstance(series, ContourSeries)
    assert (series.x_axis.param, series.y_axis.param) == ("lr", "batch_size")
    assert series.y_axis.labels == ("32", "64", "128")
    assert (len(series.surface), len(series.surface[0])) == (3, len(series.xs))
    best = [max(range(len(series.xs)), key=lambda i: line[i] or -9) for line in series.surface]
    assert [series.xs[index] for index in best] == pytest.approx([0.01] * 3, rel=0.3)


def test_a_contour_of_two_scales_is_square() -> None:
    snapshot, _ = ranged(50)
    series = contour_series(subject_of(snapshot))
    assert isinstance(series, ContourSeries)
    assert {series.x_axis.param, series.y_axis.param} == {"lr", "momentum"}
    assert len(series.ys) == len(series.xs)
    scales = {axis.param: axis.is_log for axis in (series.x_axis, series.y_axis)}
    assert scales == {"lr": True, "momentum": False}  # as they were searched


def test_a_contour_says_what_it_takes() -> None:
    single = SnapshotBuilder(make_spec({"lr": [0.1, 0.2]})).complete(0.1, lr=0.1).build()
    assert contour_series(subject_of(single)) == Nothing(
        reason="it takes two params, and one of them of numbers"
    )
    few = SnapshotBuilder(make_spec({"lr": [0.1], "batch_size": [1]}))
    few.complete(0.1, lr=0.1, batch_size=1)
    assert contour_series(subject_of(few.build())) == Nothing(
        reason="it takes 4 complete trials that differ in lr and in batch_size"
    )


@pytest.mark.parametrize(
    ("direction", "front"), [(Direction.MAXIMIZE, [0, 2]), (Direction.MINIMIZE, [1, 4])]
)
def test_nothing_beats_a_trial_on_the_front_in_both(
    direction: Direction, front: list[int]
) -> None:
    places = [(1, 5), (1, 3), (4, 9), (5, 9), (2, 2), (2, 2)]
    points = [
        Point(trial=trial, state=TrialState.COMPLETE, x=x, y=y)
        for trial, (x, y) in enumerate(places)
    ]
    assert [point.trial for point in front_of(points, direction)] == front


def test_a_pruned_trial_is_a_point_but_never_on_the_front() -> None:
    builder = SnapshotBuilder(
        make_spec({"lr": [0.1]}, budget=BudgetSpec(price_per_gpu_hour=3.6, currency="EUR"))
    )
    builder.complete(0.5, lr=0.1).pruned(0.9, lr=0.1, epochs={"epoch_s": 1.0})
    series = trade_off_series(subject_of(builder.build()))
    assert isinstance(series, TradeOffSeries)
    assert [panel.measure for panel in series.panels] == ["epoch_s", "peak_memory_mib", "cost"]
    assert [[point.trial for point in panel.front] for panel in series.panels] == [[0]] * 3
    assert series.panels[2].points[0].x == pytest.approx(0.03)
    assert series.currency == "EUR"


def slots_study() -> Snapshot:
    """Three trials: two after each other on one GPU with a gap of 10 s, one beside them."""
    snapshot = SnapshotBuilder(make_spec({"lr": [0.1]})).complete(0.5, lr=0.1).build()
    trials = [make_trial(number, {"lr": 0.1}, TrialState.COMPLETE) for number in range(3)]
    spans = [("GPU-a", 0, 30), ("GPU-a", 40, 60), ("GPU-b", 0, 60)]
    return with_attempts(
        snapshot,
        *(
            make_attempt(
                trial,
                device=device,
                started_at=START + seconds(begin),
                finished_at=START + seconds(end),
            )
            for trial, (device, begin, end) in zip(trials, spans, strict=True)
        ),
    )


def timeline(snapshot: Snapshot) -> TimelineSeries:
    series = timeline_series(subject_of(snapshot))
    assert isinstance(series, TimelineSeries)
    return series


def test_a_timeline_has_a_lane_for_each_slot_and_knows_how_much_it_was_used() -> None:
    series = timeline(slots_study())
    assert [(lane.device, lane.used) for lane in series.lanes] == [
        ("GPU-a", pytest.approx(50 / 60)),
        ("GPU-b", 1),
    ]
    assert [(bar.lane, bar.start_s, bar.end_s) for bar in series.bars] == [
        *((0, 0, 30), (0, 40, 60), (1, 0, 60)),
    ]
    assert series.in_use == ((0, 2), (30, 1), (40, 2), (60, 0))
    assert series.used == pytest.approx(110 / 120)


def test_a_pause_between_two_runs_is_no_idle_time() -> None:
    snapshot = slots_study()
    late = [
        replace(
            attempt,
            started_at=attempt.started_at + seconds(10_000),
            finished_at=attempt.finished_at + seconds(10_000),
        )
        for attempt in snapshot.attempts
    ]
    twice = with_attempts(snapshot, *snapshot.attempts, *late)
    series = timeline(twice)
    assert series.span_s == 10_060
    assert [lane.used for lane in series.lanes] == [pytest.approx(50 / 60), 1]
    assert series.used == pytest.approx(110 / 120)


def test_a_slot_alone_is_idle_between_its_trials_and_at_pause_between_its_runs() -> None:
    snapshot = slots_study()
    first = snapshot.attempts[0]
    moments = [(0, 30), (40, 60), (60 + PAUSE_S, 90 + PAUSE_S)]
    alone = with_attempts(
        snapshot,
        *(
            replace(first, started_at=START + seconds(begin), finished_at=START + seconds(end))
            for begin, end in moments
        ),
    )
    assert timeline(alone).used == pytest.approx(80 / 90)


def test_of_some_trials_alone_nobody_can_tell_how_much_the_slots_were_used() -> None:
    series = timeline_series(replace(subject_of(slots_study()), is_whole=False))
    assert isinstance(series, TimelineSeries)
    assert (series.used, {lane.used for lane in series.lanes}) == (None, {None})
    assert "idle" not in captions.timeline(series)
    assert "%" not in captions.timeline(series)
    assert "used" not in timeline_figure(series).layout.yaxis.ticktext[0]


def test_a_trial_on_two_gpus_fills_the_lane_of_each() -> None:
    snapshot = slots_study()
    first, *others = snapshot.attempts
    pair = replace(first, device="GPU-a,GPU-b", started_at=START + seconds(60), finished_at=None)
    pair = replace(pair, finished_at=START + seconds(90))
    series = timeline(with_attempts(snapshot, *others, pair))
    assert [lane.device for lane in series.lanes] == ["GPU-a", "GPU-b"]
    assert [(bar.lane, bar.start_s) for bar in series.bars] == [(0, 40), (0, 60), (1, 0), (1, 60)]
    assert series.in_use == ((0, 1), (40, 2), (60, 2), (90, 0))


def test_attempts_that_overlap_on_one_device_have_lanes_of_their_own() -> None:
    snapshot = slots_study()
    both = [replace(attempt, device="cpu") for attempt in snapshot.attempts]
    series = timeline(with_attempts(snapshot, *both))
    assert [lane.device for lane in series.lanes] == ["cpu", "cpu"]


def test_an_attempt_that_failed_although_its_trial_did_not_was_cut_short() -> None:
    snapshot = SnapshotBuilder(make_spec({"lr": [0.1]})).complete(0.5, lr=0.1).build()
    failed = SnapshotBuilder(make_spec({"lr": [0.1]})).failed(lr=0.1).build()
    trial = replace(snapshot.trials[0], attempt=2)
    lost = make_attempt(trial, state=TrialState.FAILED, finished_at=START + seconds(5))
    again = make_attempt(trial, attempt=2, started_at=START + seconds(6))
    resumed = replace(with_attempts(snapshot, lost, again), trials=(trial,))
    assert [bar.ending for bar in timeline(resumed).bars] == ["cut short", "complete"]
    assert [bar.ending for bar in timeline(failed).bars] == ["failed"]


def test_very_many_attempts_are_merged_and_none_is_lost() -> None:
    snapshot = slots_study()
    attempts = [
        make_attempt(
            make_trial(number, {"lr": 0.1}, TrialState.COMPLETE),
            device=f"GPU-{number % 4}",
            started_at=START + seconds(10 * (number // 4) + 2 * (number % 4)),
            finished_at=START + seconds(10 * (number // 4) + 2 * (number % 4) + 9),
        )
        for number in range(MAX_BARS * 3)
    ]
    series = timeline(with_attempts(snapshot, *attempts))
    assert len(series.bars) <= MAX_BARS
    assert sum(bar.count for bar in series.bars) == MAX_BARS * 3
    assert series.lanes[0].used == pytest.approx(0.9, abs=0.01)


def test_studies_rise_over_each_other_by_trials_and_by_time() -> None:
    loss = SnapshotBuilder(make_spec({"lr": [0.1]}, metric="loss")).complete(0.5, lr=0.1).build()
    two = [subject_of(lr_batch_study()), subject_of(slots_study())]
    series = studies_series(two)
    assert isinstance(series, StudiesSeries)
    assert series.studies[0].by_trials == ((1, 0.9), (2, 0.92), (6, 0.92))
    assert series.studies[0].by_hours[0] == (pytest.approx(30 / 3600), 0.9)
    assert series.studies[1].box.points[0].x == 1
    assert studies_series(two[:1]) == Nothing(reason="it takes two studies or more")
    mixed = studies_series([two[0], subject_of(loss)])
    assert mixed == Nothing(
        reason="the studies have different objectives: maximize loss, maximize test_accuracy"
    )
