"""Optuna's tables: our study as Optuna keeps it, an Optuna study for each space version."""

from collections.abc import Mapping

import optuna

# Loads SQLAlchemy's ORM, which Optuna would otherwise load in the writing thread: half imported,
# it breaks the queries of every other thread.
import optuna.storages._rdb.models
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial

from sweep.records import Direction, Trial
from sweep.space.space import Space
from sweep.tuner.projected import (
    ProjectedParam,
    agree,
    as_optuna,
    final_value,
    projected_params,
)
from sweep.tuner.states import optuna_direction, optuna_state


def optuna_name(study: str, space_version: int) -> str:
    """What Optuna calls a study: its own name, and another for each later space version."""
    return study if space_version == 1 else f"{study} (space {space_version})"


class OptunaTables:
    """Brings Optuna's tables to what our records say. Not for more than one thread."""

    def __init__(
        self, url: str, study: str, spaces: Mapping[int, Space], direction: Direction
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._storage = RDBStorage(_escaped(url), engine_kwargs=_engine_arguments(url))
        self._versions = {
            version: _VersionTables(
                self._storage, optuna_name(study, version), projected_params(space), direction
            )
            for version, space in spaces.items()
        }
        self._version_of: dict[int, int] = {}
        self._first_of: dict[int, int] = {}

    def write(
        self, trials: Mapping[int, Trial], values: Mapping[int, Mapping[int, float]]
    ) -> None:
        """Write what is new. Trials come in the order of their numbers, every one of a study
        before any of its changes: Optuna numbers them as they are added."""
        for number, trial in sorted(trials.items()):
            self._version_of[number] = trial.space_version
            self._first_of.setdefault(trial.space_version, number)
        for number, trial in trials.items():
            self._tables(number).check(self._index(number), trial)
        for number in sorted({*trials, *values}):
            if number in self._version_of:
                self._tables(number).write(
                    self._index(number), trials.get(number), values.get(number, {})
                )

    def close(self) -> None:
        """Every connection is closed."""
        self._storage.remove_session()
        self._storage.engine.dispose()

    def _tables(self, number: int) -> "_VersionTables":
        return self._versions[self._version_of[number]]

    def _index(self, number: int) -> int:
        return number - self._first_of[self._version_of[number]]


class _VersionTables:
    """The Optuna study of one space version. It is made when its first trial is written."""

    def __init__(
        self,
        storage: RDBStorage,
        name: str,
        params: tuple[ProjectedParam, ...],
        direction: Direction,
    ) -> None:
        self._storage = storage
        self._name = name
        self._params = params
        self._direction = direction
        self._study: optuna.Study | None = None
        self._stored: list[FrozenTrial] = []

    def check(self, index: int, trial: Trial) -> None:
        """Start over when what is stored contradicts our record: Optuna lets no finished trial
        be changed. What else was stored is put again at the next start, when every record is."""
        self._opened()
        stored = self._stored[index : index + 1]
        if stored and not agree(as_optuna(trial, {}, self._params), stored[0]):
            optuna.delete_study(storage=self._storage, study_name=self._name)
            self._study = None

    def write(self, index: int, trial: Trial | None, values: Mapping[int, float]) -> None:
        study = self._opened()
        if index < len(self._stored):
            self._advance(self._stored[index], trial, values)
        elif trial is not None and index == len(self._stored):
            study.add_trial(as_optuna(trial, values, self._params))
            self._stored = study.get_trials(deepcopy=False)

    def _opened(self) -> optuna.Study:
        if self._study is None:
            self._study = optuna.create_study(
                storage=self._storage,
                study_name=self._name,
                direction=optuna_direction(self._direction),
                load_if_exists=True,
            )
            self._stored = self._study.get_trials(deepcopy=False)
        return self._study

    def _advance(
        self, stored: FrozenTrial, trial: Trial | None, values: Mapping[int, float]
    ) -> None:
        if stored.state.is_finished():
            return
        for epoch, value in sorted(values.items()):
            if stored.intermediate_values.get(epoch) != value:
                self._storage.set_trial_intermediate_value(stored._trial_id, epoch, value)
        if trial is not None and trial.state.is_finished:
            self._finish(stored, trial)

    def _finish(self, stored: FrozenTrial, trial: Trial) -> None:
        if trial.cause is not None:
            self._storage.set_trial_user_attr(stored._trial_id, "cause", str(trial.cause))
        value = final_value(trial)
        self._storage.set_trial_state_values(
            stored._trial_id,
            optuna_state(trial.state, trial.cause),
            None if value is None else [value],
        )
        self._stored = self._opened().get_trials(deepcopy=False)


def _engine_arguments(url: str) -> dict[str, object]:
    if url.startswith("sqlite"):
        return {"connect_args": {"timeout": 60}}
    return {"pool_pre_ping": True}


def _escaped(url: str) -> str:
    # Optuna passes the URL through str.format, where a brace in a password would be a field.
    return url.replace("{", "%7B").replace("}", "%7D")
