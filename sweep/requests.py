"""Requests: what other commands ask of a study's leader, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class RequestKind(StrEnum):
    """What can be asked: to end, or to change a trial.

    The arguments of exclude, include and retry are `{"trial": number}`; those of enqueue are
    `{"params": a whole point of the space}`; drain and kill have none.
    """

    DRAIN = "drain"
    KILL = "kill"
    EXCLUDE = "exclude"
    INCLUDE = "include"
    RETRY = "retry"
    ENQUEUE = "enqueue"

    @property
    def is_stop(self) -> bool:
        """Whether it asks the leader to end; it then is for nobody else."""
        return self in (RequestKind.DRAIN, RequestKind.KILL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request to a study's leader; it pends while `finished_at` is None.

    `trial` is the number of the trial that it has changed or added; `refusal` says in one line
    why it could not be carried out.
    """

    id: int
    study_id: int
    kind: RequestKind
    arguments: Mapping[str, Any]
    created_at: datetime
    finished_at: datetime | None = None
    trial: int | None = None
    refusal: str | None = None
