"""The study spec: a study file in its checked form, as JSON and back."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from sweep.records import Direction, Params
from sweep.space.document import from_json, to_json
from sweep.space.space import Space
from sweep.spec.recipe import RecipeSpec
from sweep.spec.resources import GPUS_PER_TRIAL, ResourcesSpec, most_gpus
from sweep.spec.training import resolve_training


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Objective(_Frozen):
    """The metric that is optimized, and which way it is better."""

    metric: str
    direction: Direction


PrunerName: TypeAlias = Literal[
    "none", "median", "percentile", "asha", "hyperband", "threshold", "patient"
]
PRUNER_KEYS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "median": ("startup_trials", "min_epochs"),
    "percentile": ("percentile", "startup_trials", "min_epochs"),
    "asha": ("min_epochs", "reduction_factor"),
    "hyperband": ("min_epochs", "reduction_factor"),
    "threshold": ("lower", "upper", "min_epochs"),
    "patient": ("patience", "pruner"),
}
"""Which keys each pruner uses, beside its name."""


class PrunerSpec(_Frozen):
    """When a trial is stopped early. Keys that a pruner does not use keep their defaults.

    No trial is stopped before `min_epochs` of its epochs are done; `percentile` percent of the
    trials are kept (75 stops the worst quarter), `startup_trials` complete ones come first.
    `threshold` stops whatever is below `lower` or above `upper`. `patient` asks its own `pruner`
    only about a trial that has not got better for `patience` epochs; with none, it stops that.
    """

    name: PrunerName = "none"
    percentile: float = 75.0
    startup_trials: int = 5
    min_epochs: int = 1
    reduction_factor: int = 2
    lower: float | None = None
    upper: float | None = None
    patience: int = 1
    pruner: "PrunerSpec | None" = None

    def used(self) -> dict[str, Any]:
        """The name and the keys that this pruner uses, as plain JSON values."""
        values = {key: getattr(self, key) for key in PRUNER_KEYS[self.name]}
        if self.pruner is not None:
            values["pruner"] = self.pruner.used()
        return {"name": self.name, **values}


class SearchSpec(_Frozen):
    """How params are chosen; `startup_trials` random ones come before TPE or GP learns."""

    sampler: Literal["tpe", "random", "grid", "qmc", "gp"] = "tpe"
    seed: int = 0
    startup_trials: int = 10
    pruner: PrunerSpec = PrunerSpec()


class BudgetSpec(_Frozen):
    """What the study may use in all, over every run of it; None: no such limit or price."""

    trials: int | None = None
    timeout_s: float | None = None
    max_cost: float | None = None
    price_per_hour: float | None = None
    price_per_gpu_hour: float | None = None
    currency: str = "USD"


Keep: TypeAlias = Literal["best_and_last", "last", "all", "none"]


class CheckpointsSpec(_Frozen):
    """How often the state to resume from is saved, and what stays of it.

    Above `max_disk_bytes` those of finished trials go, the oldest first, never the best one's.
    """

    every_epochs: int = 1
    keep: Keep = "best_and_last"
    max_disk_bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StudySpec:
    """One study as its file describes it.

    `training` holds the keys that the file gives; `enqueue` holds whole points of the space.
    `log` names where else the epochs are logged: tensorboard, mlflow, wandb.
    """

    version: int = 1
    study: str
    description: str = ""
    recipe: RecipeSpec
    objective: Objective
    space: Space
    training: Mapping[str, Any]
    search: SearchSpec = field(default_factory=SearchSpec)
    enqueue: tuple[Params, ...] = ()
    budget: BudgetSpec = field(default_factory=BudgetSpec)
    checkpoints: CheckpointsSpec = field(default_factory=CheckpointsSpec)
    resources: ResourcesSpec = field(default_factory=ResourcesSpec)
    log: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The spec as plain JSON values, from which `from_json` makes an equal one."""
        return {
            "version": self.version,
            "study": self.study,
            "description": self.description,
            "recipe": self.recipe.model_dump(mode="json"),
            "objective": self.objective.model_dump(mode="json"),
            "space": to_json(self.space),
            "training": dict(self.training),
            "search": self.search.model_dump(mode="json"),
            "enqueue": [dict(params) for params in self.enqueue],
            "budget": self.budget.model_dump(mode="json"),
            "checkpoints": self.checkpoints.model_dump(mode="json"),
            "resources": self.resources.model_dump(mode="json"),
            "log": list(self.log),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "StudySpec":
        """The spec that `to_json` described."""
        space = from_json(document["space"])
        rows = document["enqueue"]
        return cls(
            version=document["version"],
            study=document["study"],
            description=document["description"],
            recipe=RecipeSpec.model_validate(document["recipe"]),
            objective=Objective.model_validate(document["objective"]),
            space=space,
            training=dict(document["training"]),
            search=SearchSpec.model_validate(document["search"]),
            enqueue=tuple({name: row[name] for name in space.names} for row in rows),
            budget=BudgetSpec.model_validate(document["budget"]),
            checkpoints=CheckpointsSpec.model_validate(document["checkpoints"]),
            # studies of the first releases were stored without
            resources=ResourcesSpec.model_validate(document.get("resources", {})),
            log=tuple(document.get("log", ())),
        )

    @property
    def hash(self) -> str:
        """The SHA-256 of the whole spec, in hex; equal specs have equal hashes."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def flat_params(self, params: Params) -> dict[str, Any]:
        """One flat mapping for a training function: the training keys overlaid with `params`.

        The built-in training gets every key; a function of one's own what the file gives.
        """
        given = {**self.training, **params}
        if self.recipe.train is not None:
            return given
        given.pop(GPUS_PER_TRIAL, None)
        return resolve_training(given).as_params()

    def num_gpus(self, params: Params) -> int:
        """How many GPUs a trial has."""
        return int(params.get(GPUS_PER_TRIAL, self.resources.gpus_per_trial))

    @property
    def most_gpus(self) -> int:
        """The most GPUs that any trial has."""
        return most_gpus(self.resources, self.space)

    @property
    def searches_gpus(self) -> bool:
        """Whether trials may have different numbers of GPUs."""
        return GPUS_PER_TRIAL in self.space.names
