"""The figures: every one of them drawn from every kind of study, or a reason in one line."""

import json
import random
from html import unescape

import pytest

from sweep.errors import UsageError
from sweep.records import Cause, Snapshot, TrialState
from sweep.spec.study import BudgetSpec
from sweep.views.gallery import (
    GALLERY,
    STUDIES,
    Blank,
    Drawing,
    FigureKind,
    draw,
    draw_studies,
    kind_named,
)
from sweep.views.series.subject import subject_of
from tests.snapshots import SnapshotBuilder, lr_batch_study, make_spec

NAMES = [kind.name for kind in GALLERY]
MAX_BYTES = 5_000_000
BOLD = f"<b>{'名' * 100}</b>{'x' * 100}"


def drawn(name: str, snapshot: Snapshot, **params: str) -> Drawing:
    drawing = draw(kind_named(name), subject_of(snapshot, **params))
    assert isinstance(drawing, Drawing), drawing
    return drawing


def full_study(num_trials: int, num_epochs: int = 3, **params: list[object]) -> Snapshot:
    """Trials in every state, some params of which are not active in all of them."""
    chance = random.Random(7)
    spec = make_spec(
        params or {"optimizer": ["sgd", "adam"], "batch_size": [32, 64], "lr": [0.1]},
        budget=BudgetSpec(price_per_gpu_hour=2.0, currency="USD"),
    )
    builder = SnapshotBuilder(spec)
    for index in range(num_trials):
        chosen = {name: chance.choice(values) for name, values in spec_choices(params).items()}
        curve = [chance.random() for _ in range(num_epochs)]
        state = [TrialState.COMPLETE, TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAILED]
        failed = {"cause": Cause.DIVERGED} if index % 4 == 3 else {}
        builder.add(
            state[index % 4],
            curve,
            trial=failed,
            attempt={"device": f"GPU-{index % 8:08d}-0000"},
            epochs={"epoch_s": 5 + chance.random()},
            **chosen,
        )
    return builder.build()


def spec_choices(params: dict[str, list[object]]) -> dict[str, list[object]]:
    return params or {
        "optimizer": ["sgd", "adam"],
        "batch_size": [32, 64],
        "lr": [10 ** -(index / 7) for index in range(30)],
    }


def texts_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    if isinstance(value, list):
        return [text for each in value for text in texts_of(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
def test_every_axis_says_what_it_shows_with_its_unit(kind: FigureKind) -> None:
    figure = drawn(kind.name, full_study(40)).figure
    axes = [*figure.select_xaxes(), *figure.select_yaxes()]
    shown = [a for a in axes if a.visible is not False and a.showticklabels is not False]
    titles = [axis.title.text or "" for axis in shown]
    if kind.name == "parallel":  # its one axis has a name at each tick
        titles = list(figure.layout.xaxis.ticktext)
    assert all(titles)
    for measure, unit in (("accuracy", "(%)"), ("time", "("), ("memory", "(MiB)")):
        assert all(unit in title for title in titles if measure in title)


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
def test_a_drawing_has_a_title_and_a_caption_that_are_sentences(kind: FigureKind) -> None:
    drawing = drawn(kind.name, full_study(40))
    assert drawing.title == kind.title
    assert drawing.caption.endswith(".")
    assert kind.needs


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
def test_a_users_text_is_short_and_no_html_in_any_figure(kind: FigureKind) -> None:
    params = {f"{BOLD}1": [BOLD, f"{BOLD}2"], f"{BOLD}2": [1, 2, 3], "lr": [0.1, 0.2]}
    snapshot = full_study(40, **params)
    for text in texts_of(json.loads(drawn(kind.name, snapshot).figure.to_json())["data"]):
        assert "<b>" not in text
        assert text.count("名") <= 120
    layout = json.loads(drawn(kind.name, snapshot).figure.to_json())["layout"]
    assert not [text for text in texts_of(layout) if "<b>" in text]


@pytest.mark.parametrize("name", ["batch_size", "lr", "optimizer", "history", "trade_offs"])
def test_states_differ_by_shape(name: str) -> None:
    traces = [t for t in drawn(name, full_study(40)).figure.data if t.type == "scatter"]
    shapes: dict[str, set[str]] = {}
    for trace in traces:
        for state in ("complete", "pruned"):
            if trace.name and state in trace.name:
                shapes.setdefault(state, set()).add(trace.marker.symbol)
    assert shapes == {"complete": {"circle"}, "pruned": {"x"}}


def test_a_state_of_the_timeline_has_a_pattern_of_its_own() -> None:
    bars = [t for t in drawn("timeline", full_study(40)).figure.data if t.type == "bar"]
    patterns = [(bar.marker.color, bar.marker.pattern.shape) for bar in bars]
    assert len(patterns) == 3
    assert len({color for color, _ in patterns}) == len({shape for _, shape in patterns}) == 3


def test_a_bar_of_the_timeline_tells_how_long_its_attempt_took() -> None:
    (bar,) = (t for t in drawn("timeline", conditional()).figure.data if t.type == "bar")
    assert "for %{customdata[2]:.4~g} min" in bar.hovertemplate
    assert [told[2] for told in bar.customdata] == list(bar.x)


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
def test_a_point_names_its_trial_first(kind: FigureKind) -> None:
    numbers = set()
    for trace in drawn(kind.name, full_study(40)).figure.data:
        for told in () if trace.customdata is None else trace.customdata:
            numbers.add(told[0])
    assert numbers <= {None, *range(40)}
    assert numbers or kind.name == "importance"


EMPTY = SnapshotBuilder(make_spec({"lr": [0.1], "batch_size": [64]}))
STUDIES_BY_NAME = {
    "no trial": EMPTY.build(),
    "waiting": SnapshotBuilder(make_spec({"lr": [0.1]})).waiting(lr=0.1).build(),
    "running": SnapshotBuilder(make_spec({"lr": [0.1]})).running(0.5, lr=0.1).build(),
    "one trial": SnapshotBuilder(make_spec({"lr": [0.1]})).complete(0.5, lr=0.1).build(),
    "all failed": SnapshotBuilder(make_spec({"lr": [0.1]})).failed(lr=0.1).failed(lr=0.1).build(),
}


def zeros() -> Snapshot:
    builder = SnapshotBuilder(make_spec({"lr": [0.0], "batch_size": [1, 2]}))
    for index in range(12):
        builder.complete(0.0, lr=0.0, batch_size=1 + index % 2)
    return builder.build()


def conditional() -> Snapshot:
    builder = SnapshotBuilder(make_spec({"optimizer": ["sgd", "adam"], "momentum": [0.1, 0.9]}))
    for index in range(12):
        builder.complete(0.5 + index / 100, optimizer="sgd", momentum=0.1 + index / 20)
        builder.complete(0.6, optimizer="adam")
    return builder.build()


ALL = {
    **STUDIES_BY_NAME,
    "a value of 0": zeros(),
    "conditional": conditional(),
    "booleans": full_study(24, nesterov=[True, False]),
    "long": full_study(24, **{"名" * 200: ["字" * 200, "词" * 200], "x" * 200: [1, 2]}),
    "negative": full_study(24, shift=[-5, -1.5, 0, 3]),
}


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
@pytest.mark.parametrize("study", ALL)
def test_a_figure_is_drawn_or_says_why_in_one_line(study: str, kind: FigureKind) -> None:
    drawing = draw(kind, subject_of(ALL[study]))
    if isinstance(drawing, Blank):
        assert drawing.reason
        assert "\n" not in drawing.reason
        assert not drawing.reason.endswith(".")
    else:
        json.loads(drawing.figure.to_json(), parse_constant=pytest.fail)


def test_every_figure_is_drawn_of_a_study_that_has_all() -> None:
    kinds = [draw(kind, subject_of(full_study(40))) for kind in GALLERY]
    assert not [each for each in kinds if isinstance(each, Blank)]


def test_ten_thousand_trials_stay_small_and_every_figure_says_what_it_leaves_out() -> None:
    subject = subject_of(full_study(10_000))
    drawings = [draw(kind, subject) for kind in GALLERY]
    sizes = {each.name: len(each.figure.to_json()) for each in drawings}
    assert sum(sizes.values()) < MAX_BYTES, sizes
    said = [each.name for each in drawings if "are drawn" in each.caption]
    assert set(said) == set(NAMES) - {"importance", "timeline"}


def test_figures_show_accuracies_in_percent_and_units_on_the_axes() -> None:
    figure = drawn("batch_size", lr_batch_study()).figure
    titles = [axis.title.text for axis in figure.select_yaxes()]
    assert titles == ["epoch time (s)", "peak memory (MiB)", "test accuracy (%)"]
    mean = [trace for trace in figure.data if trace.name == "mean"][-1]
    assert mean.y[1] == 92


def test_a_param_is_no_metric_whatever_its_name_ends_in() -> None:
    figure = drawn("batch_size", full_study(40, target_accuracy=[0.5, 0.75])).figure
    points = next(trace for trace in figure.data if trace.name == "complete")
    assert {round(x) for x in points.x} == {0, 1}
    assert figure.layout.xaxis.title.text == "target_accuracy"
    assert "target_accuracy %{customdata[1]}<br>" in points.hovertemplate
    scale = drawn("lr", full_study(40, target_accuracy=[0.5, 0.75])).figure
    assert set(scale.data[0].x) <= {0.5, 0.75}


def parallel_texts(snapshot: Snapshot) -> list[tuple[int, float, str]]:
    notes = drawn("parallel", snapshot).figure.layout.annotations
    return [(note.x, note.y, note.text) for note in notes]


def test_a_label_of_parallel_coordinates_stands_where_its_lines_pass() -> None:
    builder = SnapshotBuilder(make_spec({"optimizer": ["sgd", "adam"], "momentum": [0.9]}))
    for _ in range(4):
        builder.complete(0.5, optimizer="sgd", momentum=0.9).complete(0.5, optimizer="adam")
    texts = parallel_texts(builder.build())
    assert (1, 0.5, "0.9") in texts
    assert [(place, shown) for axis, place, shown in texts if axis == 2] == [(0.5, "50%")]


def test_ticks_of_parallel_coordinates_differ_on_a_short_axis() -> None:
    builder = SnapshotBuilder(make_spec({"units": list(range(1000, 1025))}))
    for units in range(1000, 1025):
        builder.complete(units / 1e6, units=units)
    shown = [words for axis, _, words in parallel_texts(builder.build()) if axis == 0]
    assert len(set(shown)) == len(shown) == 6
    assert (shown[0], shown[-1]) == ("1000", "1024")


@pytest.mark.parametrize("name", ["lr", "contour"])
def test_params_that_differ_in_their_last_digits_have_places_of_their_own(name: str) -> None:
    builder = SnapshotBuilder(make_spec({"units": [1], "kind": ["a", "b"]}))
    for index in range(25):
        builder.complete(0.5, units=1_000_000 + index, kind="ab"[index % 2])
    traces = drawn(name, builder.build()).figure.data
    xs = {x for trace in traces if trace.type == "scatter" for x in trace.x}
    assert xs == set(range(1_000_000, 1_000_025))


def test_a_metric_is_escaped_once() -> None:
    spec = make_spec({"lr": [0.1, 0.2]}, metric="a&b")
    snapshot = SnapshotBuilder(spec).complete(0.5, lr=0.1).complete(0.6, lr=0.2).build()
    assert list(drawn("parallel", snapshot).figure.layout.xaxis.ticktext) == ["lr", "a&amp;b"]
    long = full_study(40, **{"a&b" * 20: [1, 2]})
    title = drawn("batch_size", long).figure.layout.xaxis.title.text
    assert unescape(title) == f"{('a&b' * 20)[:23]}…"


@pytest.mark.parametrize("kind", GALLERY, ids=NAMES)
def test_the_greatest_numbers_are_drawn(kind: FigureKind) -> None:
    spec = make_spec({"batch_size": [32, 64], "lr": [0.1], "kind": ["a", "b"]}, metric="score")
    builder = SnapshotBuilder(spec)
    for index in range(24):
        value = (1.7e308, -1.7e308, 1e308, -1e308)[index % 4]
        builder.complete(
            value, batch_size=32 * (1 + index % 2), lr=0.1 / (1 + index % 4), kind="ab"[index % 2]
        )
    assert isinstance(draw(kind, subject_of(builder.build())), Drawing)


def test_a_cost_has_its_currency() -> None:
    figure = drawn("trade_offs", full_study(40)).figure
    assert [axis.title.text for axis in figure.select_xaxes()][-1] == "cost (USD)"


def test_optimizers_differ_by_colour_and_their_states_do_not() -> None:
    figure = drawn("lr", lr_batch_study()).figure
    traces = {trace.name: trace.marker for trace in figure.data}
    assert traces["sgd, complete"].color == traces["sgd, pruned"].color
    assert traces["sgd, complete"].color != traces["adam, complete"].color
    assert figure.layout.xaxis.type == "log"


def test_curves_count_epochs_from_one_on_the_screen() -> None:
    figure = drawn("curves", lr_batch_study()).figure
    best = next(trace for trace in figure.data if trace.name == "best: trial 1")
    assert list(best.x) == [1, 2, 3]


def test_a_param_of_ones_own_gives_the_figure_its_name() -> None:
    drawing = drawn("batch_size", full_study(24, nesterov=[True, False]))
    assert drawing.title == "By nesterov"
    assert drawn("lr", lr_batch_study(), param="batch_size").title == "Batch size"


def test_several_studies_differ_by_colour_and_dash() -> None:
    subjects = [subject_of(full_study(40)), subject_of(lr_batch_study())]
    drawing = draw_studies(subjects)
    assert isinstance(drawing, Drawing)
    lines = [t for t in drawing.figure.data if t.type == "scatter" and t.mode == "lines+markers"]
    assert [line.name for line in lines[::2]] == ["made_up", "lr_bs"]
    assert len({(line.line.color, line.line.dash) for line in lines}) == 2
    single = draw_studies(subjects[:1])
    assert single == Blank(
        name=STUDIES, title="Studies compared", reason="it takes two studies or more"
    )


def test_an_unknown_figure_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"there is no figure 'histry'.*history"):
        kind_named("histry")
