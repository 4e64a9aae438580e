"""The log of one attempt, as it lies in its file or as it grows."""

import sys
import time
from pathlib import Path
from typing import IO

from sweep.cli.console import answer_bytes
from sweep.coordinator.holder import living_lease
from sweep.errors import NotFoundError, UnusableError
from sweep.records import Attempt, Study, TrialState
from sweep.store.store import Store
from sweep.views.log_text import without_escapes

EVERY_S = 0.5


def found_attempt(store: Store, study: Study, trial: int, attempt: int | None) -> Attempt:
    """That attempt of the trial, or its latest. Raises NotFoundError."""
    trials = [each.number for each in store.trials(study.id)]
    if trial not in trials:
        there = f"it has 0 to {max(trials)}" if trials else "it has none yet"
        raise NotFoundError(f"study {study.name} has no trial {trial}; {there}")
    attempts = [each for each in store.attempts(study.id) if each.trial == trial]
    if not attempts:
        raise NotFoundError(f"trial {trial} of study {study.name} has not begun yet")
    for each in attempts:
        if each.attempt == attempt:
            return each
    if attempt is not None:
        raise NotFoundError(f"trial {trial} has no attempt {attempt}; it has 1 to {len(attempts)}")
    return attempts[-1]


def show_log(store: Store, study: Study, attempt: Attempt, *, follow: bool) -> None:
    """The log is on stdout; with `follow` also what comes, until the attempt has ended."""
    path = _path(attempt)
    try:
        with path.open("rb") as log:
            _show_rest(log)
            while follow and _is_running(store, study, attempt):
                time.sleep(EVERY_S)
                _show_rest(log)
            _show_rest(log)
    except FileNotFoundError as error:
        raise NotFoundError(f"the log {path} is not there; it was on {attempt.host}") from error
    except OSError as error:
        raise UnusableError(f"the log {path} cannot be read: {error.strerror}") from error


def _path(attempt: Attempt) -> Path:
    if attempt.log is None:
        raise NotFoundError(f"attempt {attempt.attempt} of trial {attempt.trial} kept no log")
    return Path(attempt.log)


def _is_running(store: Store, study: Study, attempt: Attempt) -> bool:
    key = (attempt.trial, attempt.attempt)
    now = (each for each in store.attempts(study.id) if (each.trial, each.attempt) == key)
    is_running = any(each.state is TrialState.RUNNING for each in now)
    return is_running and living_lease(store, study) is not None


def _show_rest(log: IO[bytes]) -> None:
    """Whole lines as they are on a terminal, without escape sequences elsewhere."""
    data = log.read()
    if data:
        answer_bytes(data if sys.stdout.isatty() else without_escapes(data))
