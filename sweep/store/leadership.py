"""Leadership: the writer's hold on one study; each verb is one transaction that it fences."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

from sqlalchemy import Connection

from sweep.errors import FencedError, StorageError
from sweep.records import (
    Attempt,
    Cause,
    Epoch,
    Holder,
    MemoryKey,
    Study,
    Trial,
    TrialState,
)
from sweep.store import leases, limits, requests, studies, trials
from sweep.store.database import Database
from sweep.store.entries import Ending, NewTrial, Place
from sweep.store.url import storage_flag

Answer = TypeVar("Answer")


class Leadership:
    """The right to write one study, until it is given back or passes to another.

    Every verb raises FencedError, and writes nothing, once another leads the study; and
    StorageError when the database cannot be written.
    """

    def __init__(self, database: Database, study: Study, token: int, ttl_s: float) -> None:
        self.study = study
        self.token = token
        self.ttl_s = ttl_s
        self._database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, FencedError):  # it has passed on
            return
        if isinstance(error, StorageError):  # not waited for again: the lease ends by itself
            with suppress(FencedError, StorageError):
                self._database.write_once(self._released)
            return
        with suppress(FencedError):
            self.release()

    def renew(self) -> None:
        """The lease holds for `ttl_s` from now."""
        self._database.write(lambda c: leases.renew(c, self.study, self.token, self.ttl_s))

    def release(self) -> None:
        """Nobody leads the study; this leadership writes nothing more."""
        self._database.write(self._released)

    def _released(self, connection: Connection) -> None:
        leases.release(connection, self.study, self.token)

    def add_trial(self, new: NewTrial) -> Trial:
        """A new trial waits; the same one twice is no fault.

        Raises TransitionError if another trial has the number.
        """
        return self.write(lambda c: trials.add(c, self.study.id, new))

    def start_attempt(self, trial: int, place: Place) -> Attempt:
        """The trial runs, in an attempt numbered one higher.

        Raises TransitionError unless the trial waits.
        """
        claim = uuid4().hex
        return self.write(
            lambda c: trials.start_attempt(c, self.study.id, trial, place, claim=claim)
        )

    def begin_trial(self, new: NewTrial, place: Place) -> tuple[Trial, Attempt]:
        """A new trial runs at once. Raises TransitionError as `add_trial` does."""
        claim = uuid4().hex
        return self.write(lambda c: trials.begin(c, self.study.id, new, place, claim=claim))

    def store_epoch(self, epoch: Epoch) -> None:
        """The epoch is on disk; the same one twice is no fault.

        Raises StaleAttemptError unless its attempt is the current one of a running trial.
        """
        self.write(lambda c: trials.store_epoch(c, self.study.id, epoch))

    def set_tuner_attrs(self, trial: int, attrs: Mapping[str, Any]) -> None:
        """What the tuner keeps with the trial is exactly `attrs`."""
        self.write(lambda c: trials.set_tuner_attrs(c, self.study.id, trial, attrs))

    def finish_trial(
        self,
        *,
        trial: int,
        attempt: int,
        state: TrialState,
        cause: Cause | None = None,
        value: float | None = None,
        message: str | None = None,
        tuner_attrs: Mapping[str, Any] | None = None,
        ended_at: datetime | None = None,
    ) -> Trial:
        """The running trial and its attempt have ended: complete, pruned or failed.

        A cause goes with failed, a finite value with complete; pruned may have one. What the
        tuner keeps stays where `tuner_attrs` is None; `ended_at` None means now. Raises
        StaleAttemptError unless the attempt is the current one of a running trial.
        """
        ending = Ending(
            state=state,
            cause=cause,
            value=value,
            message=message,
            tuner_attrs=tuner_attrs,
            ended_at=ended_at,
        )
        return self.write(lambda c: trials.finish(c, self.study.id, trial, attempt, ending))

    def interrupt(
        self,
        *,
        trial: int,
        attempt: int,
        cause: Cause,
        message: str | None = None,
        ended_at: datetime | None = None,
    ) -> Trial:
        """The attempt has failed with the cause, now or at `ended_at`; its trial waits again.

        Raises StaleAttemptError unless the attempt is the current one of a running trial.
        """
        return self.write(
            lambda c: trials.interrupt(
                c,
                self.study.id,
                trial,
                attempt,
                cause=cause,
                message=message,
                ended_at=ended_at,
            )
        )

    def note_fits(self, key: MemoryKey, micro_batch: int) -> None:
        """So many images at once have fitted in memory, for every study that asks."""
        self.write(lambda c: limits.note_fits(c, key, micro_batch))

    def note_too_large(self, key: MemoryKey, micro_batch: int) -> None:
        """So many images at once have not fitted in memory, for every study that asks."""
        self.write(lambda c: limits.note_too_large(c, key, micro_batch))

    def finish_request(self, request_id: int, refusal: str | None = None) -> None:
        """The request pends no more: it is carried out, or refused for a reason."""
        self.write(lambda c: requests.finish(c, self.study.id, request_id, refusal=refusal))

    def enqueue(self, request_id: int, new: NewTrial) -> Trial:
        """A new trial waits, as the request asks. Raises TransitionError as `add_trial` does."""
        return self.write(lambda c: requests.enqueue(c, self.study.id, request_id, new))

    def set_excluded(self, request_id: int, trial: int, *, excluded: bool) -> Trial:
        """The finished trial counts for nothing, or again. TransitionError where not finished."""
        return self.write(
            lambda c: requests.set_excluded(c, self.study.id, request_id, trial, excluded=excluded)
        )

    def retry(self, request_id: int, trial: int) -> Trial:
        """The failed trial waits, to start over. TransitionError where it has not failed."""
        return self.write(lambda c: requests.retry(c, self.study.id, request_id, trial))

    def set_spec(self, spec: Mapping[str, Any], spec_hash: str, space_version: int) -> Study:
        """The study has this spec; a new space version is one higher than the last.

        Raises TransitionError for any other space version.
        """
        self.study = self.write(
            lambda c: studies.set_spec(c, self.study.id, spec, spec_hash, space_version)
        )
        return self.study

    def write(self, change: Callable[[Connection], Answer]) -> Answer:
        """The answer of a change that is now stored, made while this still leads."""

        def fenced(connection: Connection) -> Answer:
            leases.fence(connection, self.study, self.token)
            return change(connection)

        return self._database.write(fenced)


def lead(
    database: Database,
    study: Study,
    holder: Holder,
    ttl_s: float,
    *,
    replaces: int | None,
) -> Leadership:
    """The leadership of the study, now the holder's. Raises LedByAnotherError."""
    claim, flag = uuid4().hex, storage_flag(database.location)
    token = database.write(
        lambda c: leases.take(c, study, holder, ttl_s, replaces=replaces, claim=claim, flag=flag)
    )
    return Leadership(database, study, token, ttl_s)
