"""The search space: its points, its order, what it fills in and what it refuses."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sweep.errors import UsageError
from sweep.space.distributions import Categorical, Constant, Distribution, Float, Int
from sweep.space.document import from_json, to_json
from sweep.space.names import near
from sweep.space.space import Alternative, Param, Space


def always(name: str, distribution: Distribution) -> Param:
    return Param(name=name, alternatives=(Alternative(distribution=distribution),))


OPTIMIZER = always("optimizer", Categorical(choices=("sgd", "adam", "rmsprop")))
LR = Param(
    name="lr",
    alternatives=(
        Alternative(when={"optimizer": ("sgd",)}, distribution=Float(low=0.1, high=0.3, step=0.1)),
        Alternative(
            when={"optimizer": ("adam", "rmsprop")},
            distribution=Categorical(choices=(0.01, 0.001)),
        ),
    ),
)
DECAY = Param(
    name="weight_decay",
    alternatives=(
        Alternative(when={"optimizer": ("sgd",)}, distribution=Constant(value=0.0005)),
        Alternative(when={"optimizer": ("adam", "rmsprop")}, distribution=Constant(value=0.0)),
    ),
)
SPACE = Space(params=(OPTIMIZER, LR, DECAY), columns=("lr", "optimizer", "weight_decay"))
ROWS = Space(configurations=({"lr": 0.1, "optimizer": "sgd"}, {"lr": 0.2, "optimizer": "adam"}))


def test_steps_of_a_float_are_clean_decimals_with_both_bounds() -> None:
    assert list(Float(low=0.1, high=0.5, step=0.1).values()) == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert list(Float(low=0.0, high=1.0, step=0.4).values()) == [0.0, 0.4, 0.8]


def test_a_float_with_step_contains_its_steps_only_and_cleans_them() -> None:
    steps = Float(low=0.1, high=0.5, step=0.1)
    assert steps.contains(0.1 + 0.2)
    assert steps.settle(0.1 + 0.2) == 0.3
    assert not steps.contains(0.25)
    assert not steps.contains(0.6)


def test_a_float_takes_whole_numbers_as_floats_and_no_switches() -> None:
    distribution = Float(low=0.0, high=2.0)
    assert distribution.contains(1)
    assert isinstance(distribution.settle(1), float)
    assert not distribution.contains(True)
    assert not distribution.contains(float("nan"))
    assert not distribution.contains("1")


def test_an_int_counts_in_steps_from_its_low() -> None:
    distribution = Int(low=16, high=64, step=16)
    assert list(distribution.values()) == [16, 32, 48, 64]
    assert distribution.num_points == 4
    assert not distribution.contains(24)
    assert not distribution.contains(16.0)
    assert not Int(low=0, high=1).contains(True)


def test_choices_ignore_case_and_keep_switches_apart_from_numbers() -> None:
    assert Categorical(choices=("sgd", "adam")).settle("Adam") == "adam"
    assert Categorical(choices=(64, 128)).contains(64.0)
    assert not Categorical(choices=(0, 1)).contains(True)
    assert not Categorical(choices=(True, False)).contains(1)


def test_a_space_counts_its_points_through_the_conditions() -> None:
    assert SPACE.num_points == 3 + 2 * 2
    assert len(list(SPACE.points())) == 7


def test_points_have_the_columns_of_the_file_and_vary_the_last_walked_fastest() -> None:
    points = list(SPACE.points())
    assert points[0] == {"lr": 0.1, "optimizer": "sgd", "weight_decay": 0.0005}
    assert points[1] == {"lr": 0.2, "optimizer": "sgd", "weight_decay": 0.0005}
    assert points[-1] == {"lr": 0.001, "optimizer": "rmsprop", "weight_decay": 0.0}
    assert [list(point) for point in points] == [list(SPACE.names)] * 7


def test_one_endless_alternative_makes_a_space_endless() -> None:
    endless = Alternative(when={"optimizer": ("sgd",)}, distribution=Float(low=0.1, high=1.0))
    lr = Param(name="lr", alternatives=(endless, LR.alternatives[1]))
    assert Space(params=(OPTIMIZER, lr)).num_points is None


def test_a_huge_space_is_counted_without_walking_it() -> None:
    params = tuple(always(f"p{i}", Int(low=1, high=1_000_000_000)) for i in range(20))
    space = Space(params=params)
    assert space.num_points == 10**180
    assert next(iter(space.points())) == {f"p{i}": 1 for i in range(20)}


def test_filling_adds_constants_and_settles_each_value() -> None:
    point = SPACE.fill({"optimizer": "SGD", "lr": 0.1 + 0.2})
    assert point == {"lr": 0.3, "optimizer": "sgd", "weight_decay": 0.0005}
    assert list(point) == ["lr", "optimizer", "weight_decay"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"optimizer": "sgd"}, "lr is missing; it is float from 0.1 to 0.3 in steps of 0.1"),
        (
            {"optimizer": "sgd", "lr": 0.01},
            "lr is 0.01, outside the space; it is float from 0.1 to 0.3 in steps of 0.1",
        ),
        (
            {"optimizer": "lion", "lr": 0.1},
            "optimizer is lion, outside the space; it is one of sgd, adam, rmsprop",
        ),
        (
            {"optimizer": "sgd", "lr": 0.1, "weight_decay": 0.1},
            "weight_decay is 0.1, outside the space; it is always 0.0005",
        ),
        ({"optimiser": "sgd", "lr": 0.1}, "unknown param optimiser; did you mean optimizer?"),
        ({"foo": 1}, "unknown param foo; known: lr, optimizer, weight_decay"),
    ],
)
def test_filling_refuses_what_is_no_point(params: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        SPACE.fill(params)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_configurations_are_the_points_in_their_order() -> None:
    assert ROWS.num_points == 2
    assert list(ROWS.points()) == list(ROWS.configurations)
    assert ROWS.names == ("lr", "optimizer")


def test_a_configuration_is_found_by_any_params_that_are_only_its_own() -> None:
    assert ROWS.fill({"optimizer": "Adam"}) == {"lr": 0.2, "optimizer": "adam"}
    with pytest.raises(UsageError, match="no configuration has these params"):
        ROWS.fill({"lr": 0.3})
    with pytest.raises(UsageError, match="several configurations have these params"):
        ROWS.fill({})


def test_a_point_has_one_key_whatever_the_order_of_its_params() -> None:
    one = SPACE.key({"optimizer": "sgd", "lr": 0.1, "weight_decay": 0.0005})
    other = SPACE.key({"weight_decay": 0.0005, "lr": 0.1, "optimizer": "sgd"})
    assert one == other
    assert hash(one) == hash(other)


def test_true_and_one_are_different_points() -> None:
    space = Space(params=(always("x", Categorical(choices=(True, False))),))
    assert space.key({"x": True}) != space.key({"x": 1})


@pytest.mark.parametrize("space", [SPACE, ROWS, Space(params=(LR,), columns=("lr",))])
def test_a_space_comes_back_from_json_as_it_was(space: Space) -> None:
    back = from_json(json.loads(json.dumps(to_json(space), sort_keys=True)))
    assert back.params == space.params
    assert back.names == space.names
    assert back.configurations == space.configurations


def test_a_param_says_what_it_may_be_and_when() -> None:
    assert str(LR) == (
        "float from 0.1 to 0.3 in steps of 0.1 when optimizer is sgd; "
        "one of 0.01, 0.001 when optimizer is adam or rmsprop"
    )
    assert str(Int(low=1, high=64, log=True)) == "int from 1 to 64, log scale"
    assert str(Constant(value=True)) == "always true"


numbers = st.integers(-1000, 1000)
choices = st.one_of(
    st.lists(numbers, min_size=1, max_size=3, unique=True),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=3, unique=True),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
)


@st.composite
def distributions(draw: st.DrawFn) -> Distribution:
    """Any finite distribution of at most a few values."""
    kind = draw(st.sampled_from(["float", "int", "categorical", "constant"]))
    if kind == "categorical":
        return Categorical(choices=tuple(draw(choices)))
    if kind == "constant":
        return Constant(value=draw(numbers))
    low, step, num = draw(numbers), draw(st.integers(1, 50)), draw(st.integers(1, 3))
    if kind == "int":
        return Int(low=low, high=low + num * step, step=step)
    return Float(low=low / 100, high=(low + num * step) / 100, step=step / 100)


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """A finite space whose later params hang on the first, each value in one alternative."""
    parent = Categorical(choices=tuple(draw(choices)))
    params = [always("p0", parent)]
    for index in range(draw(st.integers(0, 3))):
        split = draw(st.integers(0, len(parent.choices)))
        parts = [part for part in (parent.choices[:split], parent.choices[split:]) if part]
        alternatives = (
            Alternative(when={"p0": part}, distribution=draw(distributions())) for part in parts
        )
        params.append(Param(name=f"p{index + 1}", alternatives=tuple(alternatives)))
    columns = draw(st.permutations([param.name for param in params]))
    return Space(params=tuple(params), columns=tuple(columns))


@given(space=spaces())
def test_the_points_of_any_finite_space_are_as_many_as_it_counts_and_all_different(
    space: Space,
) -> None:
    points = list(space.points())
    assert len(points) == space.num_points
    assert len({space.key(point) for point in points}) == len(points)


@given(space=spaces())
def test_every_point_fills_to_itself_and_survives_json(space: Space) -> None:
    back = from_json(json.loads(json.dumps(to_json(space))))
    assert back == space
    for point in space.points():
        assert space.fill(point) == point
        assert back.key(json.loads(json.dumps(point))) == space.key(point)


@given(space=spaces(), draw=st.data())
def test_a_point_may_leave_out_its_constants(space: Space, draw: st.DataObject) -> None:
    point = draw.draw(st.sampled_from(list(space.points())))
    needed = {
        param.name: point[param.name]
        for param in space.params
        if not isinstance(param.distribution(point), Constant)
    }
    assert space.fill(needed) == point


@settings(max_examples=300)
@given(
    low=st.decimals(-100, 100, places=3),
    step=st.decimals("0.001", 10, places=3),
    num=st.integers(1, 200),
)
def test_every_step_of_a_float_is_contained_as_it_is(low: object, step: object, num: int) -> None:
    assume(float(str(step)) > 0)
    high = float(str(low)) + num * float(str(step))
    steps = Float(low=float(str(low)), high=high, step=float(str(step)))
    for value in steps.values():
        assert steps.contains(value)
        assert steps.settle(value) == value
        assert len(repr(value)) <= len("-1000.123e-100")


def test_a_name_in_another_case_is_meant_before_any_that_is_like_it() -> None:
    assert near("ONE", ["CON", "neg", "one", "One"]) == ["one", "One"]
    assert set(near("on", ["CON", "one"])) == {"one", "CON"}
    assert near("x", ["one"]) == []
