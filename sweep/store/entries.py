"""Entries: what a trial's changes write, checked when they are made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from sweep.records import Cause, Params, Trial, TrialState


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTrial:
    """What is stored of a trial when it is added."""

    number: int
    params: Params
    seed: int
    space_version: int
    enqueued: bool = False
    tuner_attrs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, trial: Trial) -> Self:
        """What is stored of a trial that has been made up."""
        return cls(
            number=trial.number,
            params=trial.params,
            seed=trial.seed,
            space_version=trial.space_version,
            enqueued=trial.enqueued,
            tuner_attrs=trial.tuner_attrs,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an attempt runs: on so many devices (2, or 0.25 where four share one).

    `num_slots` is how many such attempts its run has room for.
    """

    device: str
    host: str
    pid: int | None
    num_slots: int
    log: str | None
    num_devices: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a trial ended: a cause goes with failed, a value with complete and often pruned.

    `tuner_attrs` None leaves what the tuner keeps with it; `ended_at` None means now.
    """

    state: TrialState
    cause: Cause | None
    value: float | None
    message: str | None
    tuner_attrs: Mapping[str, Any] | None = None
    ended_at: datetime | None = None

    def __post_init__(self) -> None:
        assert self.state.is_finished, f"{self.state} is no end"
        assert (self.cause is not None) == (self.state is TrialState.FAILED), "a cause, if failed"
        assert self.value is None or math.isfinite(self.value), "a value is a finite number"
        assert self.value is None or self.state is not TrialState.FAILED, "failed, so no value"
        assert self.value is not None or self.state is not TrialState.COMPLETE, "complete: a value"
