"""Studies whose trials are acted out by the scripted worker, and runs of them."""

import sys
from collections.abc import Iterator
from pathlib import Path

from sweep.coordinator.events import Event, SweepEnded
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import run_study
from sweep.fleet.slots import cpu_slots
from sweep.records import Direction, ParamValue, Snapshot
from sweep.space.distributions import Distribution, Float
from sweep.space.space import Alternative, Param, Space
from sweep.spec.recipe import RecipeSpec
from sweep.spec.resources import ResourcesSpec
from sweep.spec.study import (
    BudgetSpec,
    CheckpointsSpec,
    Objective,
    SearchSpec,
    StudySpec,
)
from sweep.store.store import open_store

WORKER = (sys.executable, "-P", str(Path(__file__).with_name("scripted_worker.py")))


def space_of(**distributions: Distribution) -> Space:
    """A space of unconditional params."""
    return Space(
        params=tuple(
            Param(name=name, alternatives=(Alternative(distribution=distribution),))
            for name, distribution in distributions.items()
        )
    )


QUALITY = space_of(quality=Float(low=0.1, high=1.0))


def acts(*choices: ParamValue) -> Space:
    """A space that runs through the given acts, all of one quality."""
    return Space(configurations=tuple({"quality": 0.8, "act": choice} for choice in choices))


def scripted_spec(
    space: Space = QUALITY,
    *,
    trials: int | None = None,
    epochs: int = 3,
    search: SearchSpec | None = None,
    training: dict[str, object] | None = None,
    budget: BudgetSpec | None = None,
    resources: ResourcesSpec | None = None,
    checkpoints: CheckpointsSpec | None = None,
) -> StudySpec:
    """A study for the scripted worker."""
    return StudySpec(
        study="scripted",
        recipe=RecipeSpec(train="tests.scripted_train:train"),
        objective=Objective(metric="test_accuracy", direction=Direction.MAXIMIZE),
        space=space,
        training={"epochs": epochs, **(training or {})},
        search=search or SearchSpec(sampler="random"),
        budget=budget or BudgetSpec(trials=trials),
        resources=resources or ResourcesSpec(),
        checkpoints=checkpoints or CheckpointsSpec(),
    )


def scripted_plan(folder: Path, spec: StudySpec, *, slots: int = 1) -> Plan:
    """A plan that stores in a folder's own SQLite file."""
    return Plan(
        spec=spec,
        url=f"sqlite:///{folder}/sweep.db",
        run_folder=folder / "runs",
        slots=cpu_slots(slots),
        worker=WORKER,
    )


def run_to_end(plan: Plan) -> SweepEnded:
    """Run the plan; how it ended."""
    *_, last = run_study(plan)
    assert isinstance(last, SweepEnded)
    return last


def run_until(plan: Plan, wanted: type[Event], count: int = 1) -> None:
    """Run the plan up to the count-th event of a kind, then kill it as a crash would."""
    events: Iterator[Event] = run_study(plan)
    for event in events:
        count -= isinstance(event, wanted)
        if count == 0:
            events.close()  # type: ignore[attr-defined]
            return
    raise AssertionError(f"the run ended before {wanted.__name__}")


def stored(plan: Plan) -> Snapshot:
    """What the store holds of the plan's study."""
    with open_store(plan.url, create=False) as store:
        return store.snapshot(store.study(plan.spec.study).id)
