"""Upkeep of a led study: what repairs it, frees its disk and ends it, each one transaction."""

from collections.abc import Collection
from datetime import datetime

from sweep.records import Attempt, Cause, TrialState
from sweep.store import repairs, studies
from sweep.store.leadership import Leadership


def forget_checkpoints(leadership: Leadership, paths: Collection[str]) -> None:
    """The store names none of these files as a checkpoint any more."""
    if paths:
        leadership.write(lambda c: repairs.forget_checkpoints(c, leadership.study.id, list(paths)))


def forget_checkpoints_of(leadership: Leadership, trial: int) -> None:
    """The store names no checkpoint of the trial any more."""
    leadership.write(lambda c: repairs.forget_checkpoints_of(c, leadership.study.id, trial))


def set_value(leadership: Leadership, trial: int, value: float | None) -> None:
    """The trial has the value."""
    leadership.write(lambda c: repairs.set_value(c, leadership.study.id, trial, value))


def set_failed(leadership: Leadership, trial: int, cause: Cause) -> None:
    """The trial has failed with the cause."""
    leadership.write(lambda c: repairs.set_failed(c, leadership.study.id, trial, cause))


def end_attempt(
    leadership: Leadership,
    attempt: Attempt,
    *,
    state: TrialState,
    cause: Cause | None,
    ended_at: datetime,
) -> None:
    """The attempt that was left open has ended so."""
    leadership.write(
        lambda c: repairs.end_attempt(
            c, leadership.study.id, attempt, state=state, cause=cause, ended_at=ended_at
        )
    )


def remove_study(leadership: Leadership) -> None:
    """Nothing of the study is stored any more, and nobody leads it."""
    leadership.write(lambda c: studies.remove(c, leadership.study.id))
