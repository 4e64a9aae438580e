"""The projection: a study's trials written into Optuna's own tables, for Optuna's dashboard and
`optuna.load_study`. It follows our records, decides nothing, and can be made anew from them.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType

from sweep.records import Direction, Epoch, Trial
from sweep.space.space import Space
from sweep.tuner.optuna_tables import OptunaTables

_log = logging.getLogger(__name__)

_GATHER_S = 0.2
"""What comes within this time is written at once: two writers of one file wait for each other, and
the one that counts is the coordinator."""
_RETRY_S = 5.0
_CLOSE_S = 15.0
_LAST_TRIES = 4  # at the end, as of a server that is just coming back
_LAST_TRY_S = 1.0


class Projection:
    """Writes in a thread of its own, trials in the order of their numbers. A context manager:
    leaving it writes what is still to be written, unless the database refuses."""

    def __init__(
        self,
        *,
        url: str,
        study: str,
        spaces: Mapping[int, Space],
        direction: Direction,
        metric: str,
        schema_lock: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._url = url
        self._study_name = study
        self._spaces = spaces
        self._direction = direction
        self._metric = metric
        self._schema_lock = schema_lock
        self._changed = threading.Condition()
        self._trials: dict[int, Trial] = {}
        self._values: dict[int, dict[int, float]] = {}
        self._complaint = ""
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
        self._thread.join(_CLOSE_S)
        if self._thread.is_alive():
            _log.warning("Optuna's tables are not up to date; the study's next run mends them")

    def restore(self, trials: Iterable[Trial], values: Mapping[int, Mapping[int, float]]) -> None:
        """Have all that is known written, where it is not; `values` by trial and epoch."""
        with self._changed:
            self._trials.update((trial.number, trial) for trial in trials)
            for number, of_trial in values.items():
                self._values.setdefault(number, {}).update(of_trial)
            self._changed.notify()

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
        writer: OptunaTables | None = None
        num_last_tries = 0
        while self._wait_for_work():
            trials, values = self._take()
            try:
                writer = writer or self._writer()
                writer.write(trials, values)
            except Exception as error:  # a projection that fails must never end a sweep
                self._give_back(trials, values)
                if self._pause_after(error):
                    num_last_tries += 1
                    if num_last_tries > _LAST_TRIES:
                        break
                    time.sleep(_LAST_TRY_S)
        if writer is not None:
            writer.close()

    def _writer(self) -> OptunaTables:
        with self._schema_lock():  # two processes that make Optuna's tables at once fail
            return OptunaTables(self._url, self._study_name, self._spaces, self._direction)

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._trials or self._values or self._is_closing)
            self._changed.wait_for(lambda: self._is_closing, timeout=_GATHER_S)
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
        complaint = (str(error) or type(error).__name__).splitlines()[0]
        if complaint != self._complaint:
            self._complaint = complaint
            _log.warning("Optuna's tables lag behind, training goes on: %s", complaint)
        with self._changed:
            return self._changed.wait_for(lambda: self._is_closing, timeout=_RETRY_S)
