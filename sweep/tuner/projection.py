"""The projection: a study's trials written into Optuna's own tables, for Optuna's dashboard and
`optuna.load_study`. It follows our records, decides nothing, and can be made anew from them.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType

import optuna

# Loads SQLAlchemy's ORM, which Optuna would otherwise load in the writing thread: half imported,
# it breaks the queries of every other thread.
import optuna.storages._rdb.models
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial

from sweep.records import Direction, Epoch, Trial
from sweep.space.space import Space
from sweep.tuner.projected import agree, as_optuna, final_value, projected_params
from sweep.tuner.states import optuna_direction, optuna_state

_log = logging.getLogger(__name__)

_RETRY_S = 5.0


class Projection:
    """Writes in a thread of its own, trials in the order of their numbers. A context manager:
    leaving it writes what is still to be written, unless the database refuses."""

    def __init__(
        self,
        *,
        url: str,
        study: str,
        space: Space,
        direction: Direction,
        metric: str,
        schema_lock: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._url = url
        self._study_name = study
        self._space = space
        self._direction = direction
        self._metric = metric
        self._schema_lock = schema_lock
        self._changed = threading.Condition()
        self._trials: dict[int, Trial] = {}
        self._values: dict[int, dict[int, float]] = {}
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="projection", daemon=True)

    def __enter__(self) -> "Projection":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()

    def put(self, trials: Iterable[Trial], epochs: Iterable[Epoch]) -> None:
        """Have these trials and epochs written; later records replace earlier ones."""
        with self._changed:
            for trial in trials:
                self._trials[trial.number] = trial
            for epoch in epochs:
                value = epoch.metrics.get(self._metric)
                if value is not None:
                    self._values.setdefault(epoch.trial, {})[epoch.epoch] = value
            self._changed.notify()

    def _run(self) -> None:
        writer: _Writer | None = None
        while self._wait_for_work():
            trials, values = self._take()
            try:
                writer = writer or self._writer()
                writer.write(trials, values)
            except Exception as error:  # a projection that fails must never end a sweep
                self._give_back(trials, values)
                if self._pause_after(error):
                    break
        if writer is not None:
            writer.close()

    def _writer(self) -> "_Writer":
        with self._schema_lock():  # two processes that make Optuna's tables at once fail
            return _Writer(self._url, self._study_name, self._space, self._direction)

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._trials or self._values or self._is_closing)
            return bool(self._trials or self._values)

    def _take(self) -> tuple[dict[int, Trial], dict[int, dict[int, float]]]:
        with self._changed:
            taken = self._trials, self._values
            self._trials, self._values = {}, {}
            return taken

    def _give_back(
        self, trials: Mapping[int, Trial], values: Mapping[int, Mapping[int, float]]
    ) -> None:
        with self._changed:
            self._trials = {**trials, **self._trials}
            for number, old in values.items():
                self._values[number] = {**old, **self._values.get(number, {})}

    def _pause_after(self, error: Exception) -> bool:
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        _log.warning("Optuna's tables lag behind, training goes on: %s", first_line)
        with self._changed:
            return self._changed.wait_for(lambda: self._is_closing, timeout=_RETRY_S)


class _Writer:
    """Brings one study in Optuna's tables to what our records say."""

    def __init__(self, url: str, study: str, space: Space, direction: Direction) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._storage = RDBStorage(_escaped(url), engine_kwargs=_engine_arguments(url))
        self._name = study
        self._direction = direction
        self._params = projected_params(space)
        self._open()

    def write(
        self, trials: Mapping[int, Trial], values: Mapping[int, Mapping[int, float]]
    ) -> None:
        """Write what is new, in the order of the numbers: Optuna numbers trials as they come."""
        if any(self._contradicts(trial) for trial in trials.values()):
            self._start_over()
        for number in sorted({*trials, *values}):
            self._write_one(number, trials.get(number), values.get(number, {}))

    def close(self) -> None:
        """Every connection is closed."""
        self._storage.remove_session()
        self._storage.engine.dispose()

    def _open(self) -> None:
        self._study = optuna.create_study(
            storage=self._storage,
            study_name=self._name,
            direction=optuna_direction(self._direction),
            load_if_exists=True,
        )
        self._stored = self._study.get_trials(deepcopy=False)

    def _contradicts(self, trial: Trial) -> bool:
        if trial.number >= len(self._stored):
            return False
        ours = as_optuna(trial, {}, self._params)
        return not agree(ours, self._stored[trial.number])

    def _start_over(self) -> None:
        # Optuna lets no finished trial be changed. What was lost here is put again at the next
        # start, when every record is.
        optuna.delete_study(storage=self._storage, study_name=self._name)
        self._open()

    def _write_one(self, number: int, trial: Trial | None, values: Mapping[int, float]) -> None:
        if number < len(self._stored):
            self._advance(self._stored[number], trial, values)
        elif trial is not None and number == len(self._stored):
            self._study.add_trial(as_optuna(trial, values, self._params))
            self._stored = self._study.get_trials(deepcopy=False)

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
        self._stored = self._study.get_trials(deepcopy=False)


def _engine_arguments(url: str) -> dict[str, object]:
    if url.startswith("sqlite"):
        return {"connect_args": {"timeout": 60}}
    return {"pool_pre_ping": True}


def _escaped(url: str) -> str:
    # Optuna passes the URL through str.format, where a brace in a password would be a field.
    return url.replace("{", "%7B").replace("}", "%7D")
