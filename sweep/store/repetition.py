"""Repetition: transactions that are carried out again when what was in their way has passed."""

import logging
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

import tenacity
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from sweep.clock import monotonic_s
from sweep.store.failures import explain, is_full, is_locked
from sweep.store.url import Location

BUSY_TIMEOUT_S = 60.0
_LOOK_S = 0.25
_SILENT_TRIES = 10

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)

# SQLSTATE classes and codes that say nothing against the transaction itself: connection
# exceptions, rollbacks for concurrency, operator intervention, too many connections.
_PASSING = ("08", "40", "57P", "53300")


class Repetition:
    """When a transaction on one database is tried again, and for how long.

    A lost connection is sought for `patience_s`, a lock waited for as long as `BUSY_TIMEOUT_S`.
    `may_wait` is asked meanwhile, and ends the waiting; with it a full disk is waited for without
    end, without it that is an error at once.
    """

    def __init__(
        self, location: Location, patience_s: float, may_wait: Callable[[], bool] | None
    ) -> None:
        self._location = location
        self._patience_s = patience_s
        self._may_wait = may_wait

    def run(
        self,
        transaction: Callable[[], Answer],
        is_worth_a_try: Callable[[BaseException], bool] | None = None,
    ) -> Answer:
        """The answer of the transaction, which is tried once before anything else is thought of:
        nearly all go well, and the machinery takes a tenth of the time of one."""
        try:
            return transaction()
        except Exception as error:
            failed = error
        return self._again(failed, transaction, is_worth_a_try or self._is_worth_a_try)

    def _again(
        self,
        failed: Exception,
        transaction: Callable[[], Answer],
        is_worth_a_try: Callable[[BaseException], bool],
    ) -> Answer:
        """The answer of a transaction that has failed once already."""
        first = [failed]

        def attempt() -> Answer:
            if first:
                raise first.pop()
            return transaction()

        repeated = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_worth_a_try),
            wait=_wait_s,
            stop=self._is_over,
            sleep=self._sleep,
            before_sleep=self._say,
            reraise=True,
        )
        return repeated(attempt)

    def _is_worth_a_try(self, error: BaseException) -> bool:
        if _is_passing(error) or is_locked(error):
            return True
        return self._may_wait is not None and is_full(error)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        if self._may_wait is not None and not self._may_wait():
            return True
        error = state.outcome and state.outcome.exception()
        assert isinstance(error, BaseException)
        if is_full(error):
            return False
        patience_s = BUSY_TIMEOUT_S if is_locked(error) else self._patience_s
        return tenacity.stop_after_delay(patience_s)(state)

    def _sleep(self, seconds: float) -> None:
        deadline = monotonic_s() + seconds
        while (rest_s := deadline - monotonic_s()) > 0:
            if self._may_wait is not None and not self._may_wait():
                return
            time.sleep(min(rest_s, _LOOK_S))

    def _say(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome and state.outcome.exception()
        if not isinstance(error, Exception):
            return
        if state.attempt_number == (_SILENT_TRIES if is_locked(error) else 1):
            found = f"database {self._location} is locked by another process"
            said = found if is_locked(error) else explain(self._location, error)
            _log.warning("%s; trying again", said)


_growing_s = tenacity.wait_random_exponential(multiplier=0.1, max=5)


def _wait_s(state: tenacity.RetryCallState) -> float:
    error = state.outcome and state.outcome.exception()
    is_waited = isinstance(error, BaseException) and is_locked(error)
    return 0.0 if is_waited else _growing_s(state)


def _is_passing(error: BaseException) -> bool:
    """Whether the same transaction may well succeed a moment later."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        return False
    return _is_lost(error) or str(getattr(error.orig, "sqlstate", "")).startswith(_PASSING)


def _is_lost(error: DBAPIError) -> bool:
    return error.connection_invalidated or getattr(error.orig, "sqlstate", None) is None
