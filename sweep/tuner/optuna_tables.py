"""Optuna's tables: our study as Optuna keeps it, an Optuna study for each space version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial

from sweep.records import Direction, Trial
from sweep.space.space import Space
from sweep.tuner import optuna_rows
from sweep.tuner.optuna_engine import engine_arguments, escaped
from sweep.tuner.optuna_mark import mark
from sweep.tuner.optuna_rows import EPOCHS, TRIALS, USER_ATTRS, VALUES, Rows
from sweep.tuner.optuna_stored import StoredTrial, stored_from, stored_trials
from sweep.tuner.projected import ProjectedParam, as_optuna, projected_params
from sweep.tuner.states import optuna_direction

_AT_ONCE = 100
"""Trials in one transaction: while it lasts, nobody else writes to an SQLite file."""


def optuna_name(study: str, space_version: int) -> str:
    """What Optuna calls a study: its own name, and another for each later space version."""
    return study if space_version == 1 else f"{study} (space {space_version})"


class OptunaTables:
    """Brings Optuna's tables to what our records say. Not for more than one thread."""

    def __init__(
        self, url: str, study: str, spaces: Mapping[int, Space], direction: Direction
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._storage = RDBStorage(escaped(url), engine_kwargs=engine_arguments(url))
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
        changes: dict[int, list[_Change]] = {}
        for number in sorted({*trials, *values}):
            if number in self._version_of:
                version = self._version_of[number]
                change = _Change(
                    index=number - self._first_of[version],
                    trial=trials.get(number),
                    values=values.get(number, {}),
                )
                changes.setdefault(version, []).append(change)
        for version, of_version in changes.items():
            self._versions[version].write(of_version)

    def close(self) -> None:
        """Every connection is closed."""
        self._storage.remove_session()
        self._storage.engine.dispose()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What is new of the trial at one place of an Optuna study."""

    index: int
    trial: Trial | None
    values: Mapping[int, float]


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
        self._study_id: int | None = None
        self._stored: list[StoredTrial] = []

    def write(self, changes: Sequence[_Change]) -> None:
        """Bring the study to what the changes say, in the order of their places."""
        try:
            self._open()
            if any(self._contradicts(change) for change in changes):
                self._start_over()
            for first in range(0, len(changes), _AT_ONCE):
                self._write(changes[first : first + _AT_ONCE])
        except BaseException:
            self._study_id = None  # what is stored is looked at again
            raise

    def _open(self) -> None:
        if self._study_id is not None:
            return
        optuna.create_study(
            storage=self._storage,
            study_name=self._name,
            direction=optuna_direction(self._direction),
            load_if_exists=True,
        )
        mark(self._storage, self._name)
        study_id = self._storage.get_study_id_from_name(self._name)
        with self._storage.engine.connect() as connection:
            self._stored = stored_trials(connection, study_id)
        self._study_id = study_id

    def _contradicts(self, change: _Change) -> bool:
        """Whether what is stored cannot become what our record says: no finished trial changes."""
        if change.trial is None or change.index >= len(self._stored):
            return False
        ours = as_optuna(change.trial, {}, self._params)
        return not self._stored[change.index].can_become(ours)

    def _start_over(self) -> None:
        """What else was stored is put again at the next start, when every record is."""
        optuna.delete_study(storage=self._storage, study_name=self._name)
        self._study_id = None
        self._open()

    def _write(self, changes: Sequence[_Change]) -> None:
        num_known = len(self._stored)
        known = [change for change in changes if change.index < num_known]
        added = list(self._added(changes))
        with self._storage.engine.begin() as connection:
            if added:
                self._stored += self._add(connection, added)
            self._put_epochs(connection, known)
            for change in known:
                stored = self._stored[change.index]
                if stored.is_open and change.trial is not None and change.trial.state.is_finished:
                    self._finish(connection, stored, change.trial)

    def _added(self, changes: Iterable[_Change]) -> Iterator[FrozenTrial]:
        expected = len(self._stored)
        for change in changes:
            if change.trial is not None and change.index == expected:
                yield as_optuna(change.trial, change.values, self._params)
                expected += 1

    def _add(self, connection: Any, trials: Sequence[FrozenTrial]) -> list[StoredTrial]:
        study_id, first = self._study_id, len(self._stored)
        assert study_id is not None
        rows = [
            optuna_rows.trial_row(study_id, number, trial)
            for number, trial in enumerate(trials, start=first)
        ]
        connection.execute(TRIALS.insert(), rows)
        question = TRIALS.select().with_only_columns(TRIALS.c.trial_id)
        is_new = (TRIALS.c.study_id == study_id, TRIALS.c.number >= first)
        keys = connection.scalars(question.where(*is_new).order_by(TRIALS.c.number)).all()
        added = list(zip(keys, trials, strict=True))
        for table, rows in optuna_rows.rows_of(added):
            if rows:
                connection.execute(table.insert(), rows)
        return [stored_from(key, trial) for key, trial in added]

    def _put_epochs(self, connection: Any, changes: Iterable[_Change]) -> None:
        """Of trials that are not finished: the new epochs, and those with another value."""
        rows: Rows = []
        for change in changes:
            stored = self._stored[change.index]
            for epoch, value in sorted(change.values.items()) if stored.is_open else ():
                if epoch not in stored.values:
                    rows += optuna_rows.epoch_rows(stored.key, {epoch: value})
                elif stored.values[epoch] != value:
                    (row,) = optuna_rows.epoch_rows(stored.key, {epoch: value})
                    is_it = (EPOCHS.c.trial_id == stored.key, EPOCHS.c.step == epoch)
                    connection.execute(EPOCHS.update().where(*is_it).values(**row))
                stored.values[epoch] = value
        if rows:
            connection.execute(EPOCHS.insert(), rows)

    def _finish(self, connection: Any, stored: StoredTrial, trial: Trial) -> None:
        ours = as_optuna(trial, {}, self._params)
        connection.execute(
            TRIALS.update()
            .where(TRIALS.c.trial_id == stored.key)
            .values(
                state=ours.state,
                datetime_start=optuna_rows.naive_utc(ours.datetime_start),
                datetime_complete=optuna_rows.naive_utc(ours.datetime_complete),
            )
        )
        if trial.cause is not None:
            rows = optuna_rows.attr_rows(stored.key, {"cause": str(trial.cause)})
            connection.execute(USER_ATTRS.insert(), rows)
        if rows := optuna_rows.value_rows(stored.key, ours.value):
            connection.execute(VALUES.insert(), rows)
        stored.state, stored.value, stored.values = ours.state, ours.value, {}
