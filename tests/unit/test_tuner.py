"""The tuner: what it proposes, how it judges, and that its records bring it back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import pytest

from sweep.records import Cause, Direction, Params, Trial, TrialState
from sweep.space.distributions import Categorical, Constant, Float, Int
from sweep.space.space import Alternative, Param, Space
from sweep.spec.study import PrunerSpec, SearchSpec
from sweep.tuner.samplers import trial_seed
from sweep.tuner.tuner import Tuner
from tests.scripted import space_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONDITIONAL = Space(
    params=(
        Param(
            name="optimizer",
            alternatives=(Alternative(distribution=Categorical(choices=("sgd", "adam"))),),
        ),
        Param(
            name="lr",
            alternatives=(
                Alternative(
                    when={"optimizer": ("sgd",)}, distribution=Float(low=0.1, high=1.0, log=True)
                ),
                Alternative(
                    when={"optimizer": ("adam",)},
                    distribution=Float(low=0.001, high=0.01, log=True),
                ),
            ),
        ),
        Param(
            name="momentum",
            alternatives=(
                Alternative(
                    when={"optimizer": ("sgd",)},
                    distribution=Float(low=0.0, high=0.9, step=0.3),
                ),
                Alternative(when={"optimizer": ("adam",)}, distribution=Constant(value=0.0)),
            ),
        ),
    )
)


def _tuner(space: Space, search: SearchSpec | None = None, *, epochs: int | None = None) -> Tuner:
    return Tuner(
        space=space, search=search or SearchSpec(), direction=Direction.MAXIMIZE, epochs=epochs
    )


def _asked(tuner: Tuner, count: int) -> Iterator[Params]:
    for number in range(count):
        params = tuner.ask(number)
        if params is None:
            return
        yield params
        value = 1.0 - abs(float(str(params.get("lr", params.get("x", 0.3)))) - 0.3)
        tuner.report(number, 0, value)
        tuner.tell(number, TrialState.COMPLETE, None, value)


@pytest.mark.parametrize("sampler", ["tpe", "random", "qmc"])
def test_every_proposed_point_lies_in_the_space(sampler: str) -> None:
    search = SearchSpec.model_validate({"sampler": sampler, "startup_trials": 5})
    points = list(_asked(_tuner(CONDITIONAL, search), 40))
    assert len(points) == 40
    for params in points:
        assert list(CONDITIONAL.misfits(params)) == []
    assert {params["momentum"] for params in points} == {0.0, 0.3, 0.6, 0.9}


@pytest.mark.parametrize("sampler", ["tpe", "random", "grid", "qmc", "gp"])
def test_a_finite_space_is_tried_point_by_point_and_then_is_exhausted(sampler: str) -> None:
    space = space_of(x=Int(low=1, high=6), y=Categorical(choices=("a", "b", "c")))
    search = SearchSpec.model_validate({"sampler": sampler, "startup_trials": 2})
    points = list(_asked(_tuner(space, search), 99))
    assert len(points) == 18
    assert len({space.key(params) for params in points}) == 18


def test_a_grid_goes_through_its_points_in_order() -> None:
    space = space_of(x=Categorical(choices=(3, 1)), y=Categorical(choices=("a", "b")))
    points = list(_asked(_tuner(space, SearchSpec(sampler="grid")), 99))
    assert points == list(space.points())


def test_whole_configurations_are_tried_once_each_in_file_order() -> None:
    space = Space(configurations=({"x": 0.1, "y": "a"}, {"x": 0.01, "y": "b"}))
    assert list(_asked(_tuner(space), 9)) == list(space.configurations)


def test_the_same_seed_proposes_the_same_and_another_does_not() -> None:
    first, second, other = (
        list(_asked(_tuner(CONDITIONAL, SearchSpec(seed=seed, startup_trials=3)), 12))
        for seed in (1, 1, 2)
    )
    assert first == second
    assert first != other


def test_trials_have_seeds_of_their_own() -> None:
    seeds = {trial_seed(study, number) for study in range(3) for number in range(100)}
    assert len(seeds) == 300
    assert all(0 <= seed < 2**31 for seed in seeds)


def _trial(number: int, params: Params, state: TrialState, **fields: object) -> Trial:
    return Trial(
        number=number,
        state=state,
        params=params,
        seed=0,
        space_version=1,
        created_at=NOW,
        **fields,  # type: ignore[arg-type]
    )


def test_a_restored_tuner_proposes_what_an_unbroken_one_would() -> None:
    search = SearchSpec(startup_trials=4, seed=3)
    unbroken = _tuner(CONDITIONAL, search)
    points = list(_asked(unbroken, 12))
    values = [1.0 - abs(float(str(params["lr"])) - 0.3) for params in points]
    expected = unbroken.ask(12)
    restored = _tuner(CONDITIONAL, search)
    restored.restore(
        [
            _trial(number, params, TrialState.COMPLETE, value=value)
            for number, (params, value) in enumerate(zip(points, values, strict=True))
        ],
        {number: {0: value} for number, value in enumerate(values)},
    )
    assert restored.ask(12) == expected


def test_a_trial_that_diverged_teaches_the_same_before_and_after_a_restart() -> None:
    space = space_of(x=Float(low=0.0, high=1.0))
    search = SearchSpec(startup_trials=2)

    def tell(tuner: Tuner) -> list[Params]:
        points = []
        for number in range(8):
            params = tuner.ask(number)
            assert params is not None
            points.append(params)
            value = float(str(params["x"]))
            tuner.report(number, 0, value)
            if number % 3 == 1:
                tuner.tell(number, TrialState.FAILED, Cause.DIVERGED, None)
            else:
                tuner.tell(number, TrialState.COMPLETE, None, value)
        return points

    live = _tuner(space, search)
    points = tell(live)
    restored = _tuner(space, search)
    restored.restore(
        [
            _trial(number, params, TrialState.FAILED, cause=Cause.DIVERGED)
            if number % 3 == 1
            else _trial(number, params, TrialState.COMPLETE, value=float(str(params["x"])))
            for number, params in enumerate(points)
        ],
        {number: {0: float(str(params["x"]))} for number, params in enumerate(points)},
    )
    assert restored.ask(8) == live.ask(8)


def test_a_size_that_never_fits_is_soon_avoided() -> None:
    space = space_of(batch_size=Categorical(choices=(64, 128, 256, 512)), x=Float(low=0, high=1))
    tuner = _tuner(space, SearchSpec(startup_trials=8))
    tried = []
    for number in range(40):
        params = tuner.ask(number)
        assert params is not None
        tried.append(params["batch_size"])
        if params["batch_size"] == 512:
            tuner.tell(number, TrialState.FAILED, Cause.OUT_OF_MEMORY, None)
        else:
            tuner.report(number, 0, 0.5)
            tuner.tell(number, TrialState.COMPLETE, None, 0.5)
    assert tried.count(512) <= 12, "told as failed, it would be tried again and again"


def test_an_epoch_that_was_judged_is_not_judged_again() -> None:
    tuner = _tuner(space_of(x=Float(low=0, high=1)))
    tuner.ask(0)
    assert tuner.report(0, 0, 0.5)
    assert tuner.report(0, 1, 0.6)
    assert not tuner.report(0, 1, 0.1)
    assert not tuner.report(0, 0, 0.1)
    assert tuner.report(0, 2, 0.7)


@pytest.mark.parametrize(
    ("pruner", "first_pruned"),
    [
        (PrunerSpec(name="none"), None),
        (PrunerSpec(name="median", startup_trials=2, min_epochs=3), 3),
        (PrunerSpec(name="percentile", percentile=50, startup_trials=2, min_epochs=1), 1),
        (PrunerSpec(name="asha", min_epochs=2, reduction_factor=2), 2),
        (PrunerSpec(name="hyperband", min_epochs=5, reduction_factor=2), 5),
        (PrunerSpec(name="threshold", lower=0.2, min_epochs=3), 3),
        (PrunerSpec(name="threshold", upper=0.95, min_epochs=1), None),
    ],
)
def test_a_bad_trial_is_stopped_once_min_epochs_are_done(
    pruner: PrunerSpec, first_pruned: int | None
) -> None:
    tuner = _tuner(space_of(x=Float(low=0, high=1)), SearchSpec(pruner=pruner), epochs=6)
    for number in range(4):
        tuner.ask(number)
        for epoch in range(5):
            tuner.report(number, epoch, 0.9)
            tuner.should_prune(number)
        tuner.tell(number, TrialState.COMPLETE, None, 0.9)
    tuner.ask(4)
    stopped_after = None
    for epoch in range(5):
        tuner.report(4, epoch, 0.1)
        if tuner.should_prune(4):
            stopped_after = epoch + 1
            break
    assert stopped_after == first_pruned


def test_what_asha_keeps_with_a_trial_comes_back_with_it() -> None:
    search = SearchSpec(pruner=PrunerSpec(name="asha", min_epochs=1, reduction_factor=2))
    space = space_of(x=Float(low=0, high=1))
    live = _tuner(space, search)
    params = live.ask(0)
    assert params is not None
    live.report(0, 0, 0.9)
    assert not live.should_prune(0)
    attrs = live.attrs(0)
    assert attrs["completed_rung_0"] == 0.9
    restored = _tuner(space, search)
    trial = _trial(0, params, TrialState.WAITING, tuner_attrs=attrs)
    restored.restore([trial], {0: {0: 0.9}})
    assert restored.attrs(0) == attrs


def _stopped_after(pruner: PrunerSpec, values: list[float]) -> int | None:
    """After how many epochs a trial with these values is stopped, beside three good ones."""
    tuner = _tuner(space_of(x=Float(low=0, high=1)), SearchSpec(pruner=pruner), epochs=9)
    for number in range(3):
        tuner.ask(number)
        for epoch in range(len(values)):
            tuner.report(number, epoch, 0.9)
        tuner.tell(number, TrialState.COMPLETE, None, 0.9)
    tuner.ask(3)
    for epoch, value in enumerate(values):
        tuner.report(3, epoch, value)
        if tuner.should_prune(3):
            return epoch + 1
    return None


def test_patience_spares_a_trial_that_still_gets_better() -> None:
    median = PrunerSpec(name="median", startup_trials=2, min_epochs=1)
    patient = PrunerSpec(name="patient", patience=2, pruner=median)
    rising = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    falling = [0.1, 0.3, 0.2, 0.2, 0.2, 0.2]
    assert _stopped_after(median, rising) == 1
    assert _stopped_after(patient, rising) is None
    assert _stopped_after(patient, falling) == 5, "the best, two of patience, and one that decides"
    alone = PrunerSpec(name="patient", patience=2, pruner=PrunerSpec())
    assert _stopped_after(alone, [0.9, 0.95, 0.9, 0.9, 0.9]) == 5, "with none, patience decides"


def test_brackets_are_the_same_after_a_restart_and_whatever_was_drawn_in_between() -> None:
    space = space_of(x=Categorical(choices=("a", "b", "c", "d")), y=Int(low=1, high=6))
    pruner = PrunerSpec(name="hyperband", min_epochs=1, reduction_factor=2)
    search = SearchSpec(sampler="random", pruner=pruner)

    def live_and_stopped() -> tuple[Tuner, list[tuple[int, Params, int | None]]]:
        """Trials one after another, of falling quality; after which epoch each is stopped."""
        tuner, ends = _tuner(space, search, epochs=9), []
        for number in range(24):
            params = tuner.ask(number)
            assert params is not None
            stopped = None
            for epoch in range(9):
                tuner.report(number, epoch, 1 - number / 100)
                if epoch < 8 and tuner.should_prune(number):
                    stopped = epoch
                    break
            state = TrialState.COMPLETE if stopped is None else TrialState.PRUNED
            tuner.tell(number, state, None, 1 - number / 100)
            ends.append((number, params, stopped))
        return tuner, ends

    tuner, ends = live_and_stopped()
    stops = {stopped for _, _, stopped in ends}
    assert {None, 0, 1, 3} <= stops, "trials of several brackets are stopped at several rungs"
    restored = _tuner(space, search, epochs=9)
    restored.restore(
        [
            _trial(
                number,
                params,
                TrialState.COMPLETE if stopped is None else TrialState.PRUNED,
                value=1 - number / 100,
                tuner_attrs=tuner.attrs(number),
            )
            for number, params, stopped in ends[:16]
        ],
        {
            number: dict.fromkeys(range(9 if stopped is None else stopped + 1), 1 - number / 100)
            for number, _, stopped in ends[:16]
        },
    )
    for number, params, stopped in ends[16:]:
        assert restored.ask(number) == params
        for epoch in range(9 if stopped is None else stopped + 1):
            restored.report(number, epoch, 1 - number / 100)
            assert (restored.should_prune(number) and epoch < 8) == (epoch == stopped)
        state = TrialState.COMPLETE if stopped is None else TrialState.PRUNED
        restored.tell(number, state, None, 1 - number / 100)


def test_points_of_a_changed_space_are_knowledge_where_they_fit() -> None:
    space = space_of(x=Int(low=1, high=3))
    tuner = _tuner(space, SearchSpec(sampler="grid"))
    tuner.restore(
        [
            _trial(0, {"x": 2}, TrialState.COMPLETE, value=0.5),
            _trial(1, {"x": 9}, TrialState.COMPLETE, value=0.5),
            _trial(2, {"y": 1}, TrialState.WAITING),
        ],
        {},
    )
    points = [tuner.ask(number) for number in range(3, 6)]
    assert points == [{"x": 1}, {"x": 3}, None]
    tuner.report(2, 0, 0.5)
    tuner.tell(2, TrialState.COMPLETE, None, 0.5)


def test_a_grid_too_large_to_list_is_walked_lazily() -> None:
    space = space_of(**{f"p{index}": Int(low=1, high=1000) for index in range(6)})
    assert len(list(islice(_asked(_tuner(space, SearchSpec(sampler="grid")), 3), 3))) == 3
    assert len(list(_asked(_tuner(space, SearchSpec(sampler="random")), 3))) == 3
