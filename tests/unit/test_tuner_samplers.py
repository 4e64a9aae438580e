"""Quasi-random and Gaussian-process samplers: what they draw, before and after a restart."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from math import log

import optuna
import pytest
from optuna.samplers import TPESampler
from optuna.trial import TrialState as OptunaState

from sweep.records import Cause, Direction, Params, Trial, TrialState
from sweep.space.distributions import Categorical, Float, Int
from sweep.space.space import Alternative, Param, Space
from sweep.spec.study import SearchSpec
from sweep.tuner.groups import with_quick_groups
from sweep.tuner.tuner import Tuner
from tests.scripted import space_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MIXED = space_of(
    lr=Float(low=0.001, high=1.0, log=True),
    momentum=Float(low=0.0, high=0.9, step=0.3),
    batch_size=Int(low=16, high=128, step=16),
    warmup=Int(low=1, high=64, log=True),
    optimizer=Categorical(choices=("sgd", "adam")),
)
DEADLINE_S = 120


def tuner_of(space: Space, **search: object) -> Tuner:
    return Tuner(
        space=space, search=SearchSpec.model_validate(search), direction=Direction.MAXIMIZE
    )


def value_of(params: Params) -> float:
    """An objective with its peak inside the space."""
    return 1.0 - abs(float(params.get("lr", params.get("x", 0.3))) - 0.3)


def run(tuner: Tuner, numbers: range) -> list[Params]:
    """Ask for trials and complete each before the next."""
    points = []
    for number in numbers:
        params = tuner.ask(number)
        assert params is not None
        points.append(params)
        tuner.report(number, 0, value_of(params))
        tuner.tell(number, TrialState.COMPLETE, None, value_of(params))
    return points


def completed(points: Sequence[Params], *, num_enqueued: int = 0) -> list[Trial]:
    """The records of trials with these params, the first ones enqueued."""
    return [
        Trial(
            number=number,
            state=TrialState.COMPLETE,
            params=params,
            seed=0,
            space_version=1,
            value=value_of(params),
            enqueued=number < num_enqueued,
            created_at=NOW,
        )
        for number, params in enumerate(points)
    ]


def test_quasi_random_points_fill_every_part_of_a_space_alike() -> None:
    points = run(tuner_of(MIXED, sampler="qmc"), range(16))
    shares = [log(float(params["lr"]) / 0.001) / log(1000) for params in points]
    assert sorted(int(16 * share) for share in shares) == list(range(16)), "one in each part"
    assert Counter(params["optimizer"] for params in points) == {"sgd": 8, "adam": 8}
    assert Counter(params["batch_size"] for params in points) == dict.fromkeys(
        range(16, 129, 16), 2
    )
    assert Counter(params["momentum"] for params in points) == dict.fromkeys(
        (0.0, 0.3, 0.6, 0.9), 4
    )
    assert min(params["warmup"] for params in points) == 1
    assert max(params["warmup"] for params in points) > 32


def test_each_alternative_of_a_param_is_filled_alike() -> None:
    space = Space(
        params=(
            Param(
                name="optimizer",
                alternatives=(Alternative(distribution=Categorical(choices=("sgd", "adam"))),),
            ),
            Param(
                name="lr",
                alternatives=(
                    Alternative(when={"optimizer": ("sgd",)}, distribution=Float(low=1, high=2)),
                    Alternative(when={"optimizer": ("adam",)}, distribution=Float(low=4, high=6)),
                ),
            ),
        )
    )
    points = run(tuner_of(space, sampler="qmc"), range(64))
    for optimizer, low, high in (("sgd", 1, 2), ("adam", 4, 6)):
        rates = [float(each["lr"]) for each in points if each["optimizer"] == optimizer]
        assert len(rates) == 32
        quarters = Counter(int(4 * (rate - low) / (high - low)) for rate in rates)
        assert set(quarters) == set(range(4))
        assert max(quarters.values()) <= 12


def test_quasi_random_points_do_not_depend_on_how_trials_end() -> None:
    orderly = run(tuner_of(MIXED, sampler="qmc", seed=3), range(12))
    parallel = tuner_of(MIXED, sampler="qmc", seed=3)
    points = [parallel.ask(number) for number in range(8)]
    for number in (7, 2, 5):
        parallel.tell(number, TrialState.FAILED, Cause.EXCEPTION, None)
    points += [parallel.ask(number) for number in range(8, 12)]
    assert points == orderly
    assert run(tuner_of(MIXED, sampler="qmc", seed=4), range(12)) != orderly


FINITE = space_of(
    lr=Categorical(choices=(0.1, 0.2, 0.3, 0.5)),
    momentum=Float(low=0.0, high=0.9, step=0.3),
    nesterov=Categorical(choices=(True, False)),
)


@pytest.mark.parametrize("sampler", ["qmc", "gp", "random", "tpe"])
@pytest.mark.parametrize("space", [MIXED, FINITE], ids=["endless", "finite"])
@pytest.mark.parametrize("num_before", [2, 13])
def test_an_interrupted_study_draws_what_an_unbroken_one_would(
    sampler: str, space: Space, num_before: int
) -> None:
    search = {"sampler": sampler, "seed": 5, "startup_trials": 6}
    points = run(tuner_of(space, **search), range(20))
    resumed = tuner_of(space, **search)
    records = completed(points[:num_before])
    resumed.restore(records, {trial.number: {0: trial.value or 0.0} for trial in records})
    assert run(resumed, range(num_before, 20)) == points[num_before:]


def test_enqueued_points_take_no_place_in_the_sequence() -> None:
    plain = run(tuner_of(MIXED, sampler="qmc"), range(6))
    given: list[Params] = [
        {"lr": 0.1, "momentum": 0.3, "batch_size": 32, "warmup": 1, "optimizer": optimizer}
        for optimizer in ("sgd", "adam")
    ]
    live = tuner_of(MIXED, sampler="qmc")
    for number, params in enumerate(given):
        live.begin(number, params)
    assert run(live, range(2, 8)) == plain
    restored = tuner_of(MIXED, sampler="qmc")
    restored.restore(completed([*given, *plain[:3]], num_enqueued=2), {})
    assert run(restored, range(5, 8)) == plain[3:]


def test_gp_comes_closer_to_the_peak_than_chance() -> None:
    space = space_of(lr=Float(low=0.001, high=1.0, log=True), x=Float(low=0.0, high=1.0))

    def best(sampler: str) -> float:
        points = run(tuner_of(space, sampler=sampler, startup_trials=8), range(24))
        return max(value_of(params) for params in points[8:])

    assert best("gp") > max(0.99, best("random"))


def test_gp_learns_although_older_trials_do_not_fit_the_space() -> None:
    space = space_of(lr=Float(low=0.001, high=1.0, log=True))
    old: list[Params] = [{"lr": 0.1, "gone": number} for number in range(4)]
    tuner = tuner_of(space, sampler="gp", startup_trials=8)
    waiting = Trial(
        number=4,
        state=TrialState.WAITING,
        params={"gone": 1},
        seed=0,
        space_version=1,
        created_at=NOW,
    )
    tuner.restore([*completed(old), waiting], {})
    tuner.report(4, 0, 0.5)
    tuner.tell(4, TrialState.COMPLETE, None, 0.5)
    points = run(tuner, range(5, 25))
    assert max(value_of(params) for params in points[8:]) > 0.99


@pytest.mark.parametrize(
    ("sampler", "loads_torch"),
    [("tpe", False), ("random", False), ("grid", False), ("qmc", False), ("gp", True)],
)
def test_only_gp_loads_torch_beside_the_tuner(sampler: str, loads_torch: bool) -> None:
    code = (
        "import sys\n"
        "from sweep.records import Direction, TrialState\n"
        "from sweep.space.distributions import Int\n"
        "from sweep.spec.study import SearchSpec\n"
        "from sweep.tuner.tuner import Tuner\n"
        "from tests.scripted import space_of\n"
        f"search = SearchSpec(sampler={sampler!r}, startup_trials=2)\n"
        "space = space_of(x=Int(low=1, high=40))\n"
        "tuner = Tuner(space=space, search=search, direction=Direction.MAXIMIZE)\n"
        "for number in range(4):\n"
        "    params = tuner.ask(number)\n"
        "    tuner.tell(number, TrialState.COMPLETE, None, 1.0 / params['x'])\n"
        "print('torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.stdout == f"{loads_torch}\n", done.stderr


def test_optuna_itself_bears_the_points_that_are_drawn() -> None:
    tuner = tuner_of(MIXED, sampler="qmc")
    points = run(tuner, range(8))
    study = optuna.create_study()
    for params in points:
        distributions = {
            "lr": optuna.distributions.FloatDistribution(0.001, 1.0, log=True),
            "batch_size": optuna.distributions.IntDistribution(16, 128, step=16),
            "warmup": optuna.distributions.IntDistribution(1, 64, log=True),
        }
        kept = {name: params[name] for name in distributions}
        study.add_trial(optuna.create_trial(value=0.0, params=kept, distributions=distributions))
    assert len(study.trials) == 8


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_tpe_draws_as_optuna_does_where_params_depend_on_others() -> None:
    def grown(sampler: TPESampler) -> optuna.Study:
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for number in range(40):
            trial = study.ask()
            kind = trial.suggest_categorical("kind", ["a", "b", "c"])
            trial.suggest_float(f"lr_{kind}", 0.01, 1.0, log=True)
            if kind != "c":
                trial.suggest_int("depth", 1, 9)
            is_good = number % 5 != 0
            study.tell(trial, *([1.0 / (number + 1)] if is_good else [None, OptunaState.PRUNED]))
        return study

    plain, quick = (TPESampler(n_startup_trials=5, group=True, seed=7) for _ in range(2))
    ours = grown(with_quick_groups(quick))
    assert [trial.params for trial in ours.trials] == [
        trial.params for trial in grown(plain).trials
    ]
