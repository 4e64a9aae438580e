"""Resources: how many GPUs a trial has, or how many trials a GPU."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from sweep.space.space import Space

GPUS_PER_TRIAL = "gpus_per_trial"
"""A name that may stand in the space as well as under resources."""

AUTO: Literal["auto"] = "auto"

TrialsPerGpu: TypeAlias = int | Literal["auto"]


class ResourcesSpec(BaseModel):
    """What a trial may take of the machine; `gpus_per_trial` where the space does not say it.

    `hang_after_s`: the longest silence of a trial that does not count as a hang; None: judged by
    the epochs so far.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    hang_after_s: float | None = None
    gpus_per_trial: int = 1
    trials_per_gpu: TrialsPerGpu = 1

    @property
    def shares_gpus(self) -> bool:
        """Whether several trials may run on one GPU."""
        return self.trials_per_gpu != 1


def most_gpus(resources: ResourcesSpec, space: Space) -> int:
    """The most GPUs that any trial has."""
    rows = [int(row[GPUS_PER_TRIAL]) for row in space.configurations if GPUS_PER_TRIAL in row]
    ranges = [
        int(value)
        for param in space.params
        if param.name == GPUS_PER_TRIAL
        for alternative in param.alternatives
        for value in alternative.distribution.values()
    ]
    return max([*rows, *ranges], default=resources.gpus_per_trial)
