"""The projection's writer brings Optuna's tables to what our records say, on every database."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path

import optuna
import pytest
import sqlalchemy
from optuna.trial import TrialState as OptunaState

from sweep.records import Cause, Direction, Trial, TrialState
from sweep.space.distributions import Categorical, Float
from sweep.space.space import Space
from sweep.tuner.optuna_tables import OptunaTables
from tests.scripted import space_of
from tests.snapshots import make_trial

SPACE = space_of(
    lr=Float(low=0.001, high=1.0, log=True), optimizer=Categorical(choices=("a", "b"))
)
PARAMS = {"lr": 0.1, "optimizer": "b"}


@pytest.fixture
def url(store_url: str) -> str:
    if store_url.startswith("sqlite:"):
        Path(store_url.removeprefix("sqlite:///")).parent.mkdir()
    return store_url


@contextmanager
def writer(url: str, space: Space = SPACE) -> Iterator[OptunaTables]:
    tables = OptunaTables(url, "made_up", {1: space}, Direction.MAXIMIZE)
    yield tables
    tables.close()


def write(url: str, *trials: Trial, values: dict[int, dict[int, float]] | None = None) -> None:
    """One writer's whole life."""
    with writer(url) as tables:
        tables.write({trial.number: trial for trial in trials}, values or {})


def as_optuna_reads(url: str) -> list[optuna.trial.FrozenTrial]:
    storage = optuna.storages.RDBStorage(url)
    trials = optuna.load_study(study_name="made_up", storage=storage).trials
    storage.remove_session()
    storage.engine.dispose()
    return trials


def running(number: int = 0, **fields: object) -> Trial:
    return make_trial(number, PARAMS, TrialState.RUNNING, **fields)


def complete(number: int = 0, value: float = 0.9, **fields: object) -> Trial:
    return make_trial(number, PARAMS, TrialState.COMPLETE, value=value, **fields)


@pytest.mark.parametrize(
    ("trial", "state", "value", "cause"),
    [
        (make_trial(0, PARAMS, TrialState.WAITING), OptunaState.RUNNING, None, None),
        (running(), OptunaState.RUNNING, None, None),
        (complete(), OptunaState.COMPLETE, 0.9, None),
        (
            make_trial(0, PARAMS, TrialState.PRUNED, value=0.4),
            OptunaState.PRUNED,
            0.4,
            None,
        ),
        (
            make_trial(0, PARAMS, TrialState.FAILED, cause=Cause.DIVERGED),
            OptunaState.PRUNED,
            None,
            "diverged",
        ),
        (
            make_trial(0, PARAMS, TrialState.FAILED, cause=Cause.LOST),
            OptunaState.FAIL,
            None,
            "lost",
        ),
    ],
    ids=["waiting", "running", "complete", "pruned", "diverged", "lost"],
)
def test_optuna_reads_a_trial_as_we_have_it(url, trial, state, value, cause):
    write(url, trial, values={0: {0: 0.3, 1: 0.4}})
    (read,) = as_optuna_reads(url)
    assert (read.number, read.state, read.value, read.params) == (0, state, value, PARAMS)
    assert read.intermediate_values == {0: 0.3, 1: 0.4}
    assert read.user_attrs["seed"] == trial.seed
    assert read.user_attrs.get("cause") == cause
    assert read.datetime_start.astimezone(UTC) == (trial.started_at or trial.created_at)


def test_a_trial_that_was_open_is_the_same_one_when_it_has_ended(url):
    write(url, running(), values={0: {0: 0.3}})
    write(url, complete(), values={0: {0: 0.3, 1: 0.9}})
    (read,) = as_optuna_reads(url)
    assert (read.state, read.value) == (OptunaState.COMPLETE, 0.9)
    assert read.intermediate_values == {0: 0.3, 1: 0.9}
    assert read.datetime_complete.astimezone(UTC) == complete().finished_at


def test_an_epoch_that_was_gone_through_again_has_its_new_value(url):
    with writer(url) as tables:
        tables.write({0: running()}, {0: {0: 0.3, 1: 0.4}})
        tables.write({}, {0: {1: 0.5}})
    write(url, running(), values={0: {1: 0.6}})
    assert as_optuna_reads(url)[0].intermediate_values == {0: 0.3, 1: 0.6}


def test_the_same_records_twice_change_nothing(url):
    trials = (complete(0), running(1), make_trial(2, PARAMS, TrialState.FAILED))
    values = {0: {0: 0.3, 1: 0.9}, 1: {0: 0.2}}
    write(url, *trials, values=values)
    before = as_optuna_reads(url)
    write(url, *trials, values=values)
    assert as_optuna_reads(url) == before


def test_a_long_backlog_arrives_in_order_with_every_epoch(url):
    trials = [complete(number, value=number / 1000) for number in range(250)]
    values = {trial.number: {0: 0.0, 1: trial.value} for trial in trials}
    write(url, *trials, values=values)
    read = as_optuna_reads(url)
    assert [each.number for each in read] == list(range(250))
    assert [each.value for each in read] == [trial.value for trial in trials]
    assert all(each.intermediate_values == values[each.number] for each in read)


@pytest.mark.parametrize(
    "other",
    [
        complete(value=0.1),
        make_trial(0, PARAMS, TrialState.PRUNED, value=0.9),
        make_trial(0, PARAMS | {"lr": 0.2}, TrialState.COMPLETE, value=0.9),
    ],
    ids=["another value", "another state", "other params"],
)
def test_a_study_that_contradicts_our_record_is_made_anew(url, other):
    write(url, other, complete(1))
    write(url, complete(0), complete(1))
    read = as_optuna_reads(url)
    assert [(each.state, each.value) for each in read] == [(OptunaState.COMPLETE, 0.9)] * 2
    assert [each.params for each in read] == [PARAMS, PARAMS]


def test_a_write_that_failed_half_way_can_be_repeated(url):
    """The table of values is away for a while: what was written before it is not left there."""
    engine = sqlalchemy.create_engine(url)
    whole = {0: complete(0), 1: complete(1)}
    with writer(url) as tables:
        tables.write({0: running(0)}, {0: {0: 0.1}})
        rename(engine, "trial_values", "hidden")
        for trials in ({0: complete(0)}, whole):
            with pytest.raises(sqlalchemy.exc.DBAPIError):
                tables.write(trials, {0: {1: 0.9}})
        rename(engine, "hidden", "trial_values")
        tables.write(whole, {0: {1: 0.9}})
    engine.dispose()
    read = as_optuna_reads(url)
    assert [each.value for each in read] == [0.9, 0.9]
    assert read[0].intermediate_values == {0: 0.1, 1: 0.9}


def rename(engine: sqlalchemy.Engine, table: str, name: str) -> None:
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"ALTER TABLE {table} RENAME TO {name}"))


def test_optuna_itself_can_add_trials_afterwards(url):
    write(url, complete(0), complete(1))
    storage = optuna.storages.RDBStorage(url)
    study = optuna.load_study(study_name="made_up", storage=storage)
    assert study.best_trial.number == 0
    study.tell(study.ask(), 0.99)
    assert [each.number for each in study.trials] == [0, 1, 2]
    storage.remove_session()
    storage.engine.dispose()
