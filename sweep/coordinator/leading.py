"""Leading: taking a study over, with all that goes with it, and putting it in order."""

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import optuna

from sweep import __version__, clock
from sweep.coordinator.budget import spent
from sweep.coordinator.holder import is_known_dead, this_process
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.overseer import LEASE_S, Overseer
from sweep.coordinator.plan import Plan
from sweep.coordinator.signals import Signals
from sweep.records import NewStudy, Study
from sweep.spec.study import StudySpec
from sweep.store.leadership import Leadership
from sweep.store.store import Store, open_store
from sweep.tuner.projection import Projection
from sweep.tuner.tuner import Tuner


@dataclass(frozen=True, kw_only=True, slots=True)
class Led:
    """A study that this process leads, its ledger in order."""

    study: Study
    spec: StudySpec
    ledger: Ledger
    overseer: Overseer
    elapsed_s: float


@contextmanager
def lead(plan: Plan, signals: Signals, versions: Mapping[str, str]) -> Iterator[Led]:
    """Lead the plan's study, creating what is absent; released at the end.

    Raises LedByAnotherError, StorageError.
    """
    with open_store(plan.url, create=True) as store:
        study = store.create_study(_new_study(plan, versions))
        with (
            _leadership(store, study) as leadership,
            _projection(store, plan.spec) as projection,
        ):
            yield _put_in_order(plan, signals, store, leadership, projection)


def _put_in_order(
    plan: Plan, signals: Signals, store: Store, leadership: Leadership, projection: Projection
) -> Led:
    snapshot = store.snapshot(leadership.study.id)
    spec = _with_trials(plan, sum(trial.state.is_finished for trial in snapshot.trials))
    study = leadership.set_spec(spec.to_json(), spec.hash, leadership.study.space_version)
    ledger = Ledger(
        spec=spec,
        snapshot=snapshot,
        leadership=leadership,
        tuner=Tuner(space=spec.space, search=spec.search, direction=spec.objective.direction),
        projection=projection,
    )
    ledger.adopt()
    ledger.enqueue(spec.enqueue)
    overseer = Overseer(
        signals=signals,
        store=store,
        leadership=leadership,
        study_id=study.id,
        budget=spec.budget,
        grace_s=plan.grace_s,
    )
    used = spent(list(ledger.attempts.values()), spec.budget, clock.utc_now())
    return Led(study=study, spec=spec, ledger=ledger, overseer=overseer, elapsed_s=used.elapsed_s)


def _with_trials(plan: Plan, num_finished: int) -> StudySpec:
    if plan.extra_trials is None:
        return plan.spec
    trials = num_finished + plan.extra_trials
    return replace(plan.spec, budget=plan.spec.budget.model_copy(update={"trials": trials}))


def _leadership(store: Store, study: Study) -> Leadership:
    lease = store.leader(study.id)
    replaces = lease.token if lease is not None and is_known_dead(lease.holder) else None
    return store.lead(study.id, this_process(), LEASE_S, replaces=replaces)


def _projection(store: Store, spec: StudySpec) -> Projection:
    return Projection(
        url=store.connection_string,
        study=spec.study,
        space=spec.space,
        direction=spec.objective.direction,
        metric=spec.objective.metric,
        schema_lock=store.schema_lock,
    )


def _new_study(plan: Plan, versions: Mapping[str, str]) -> NewStudy:
    spec = plan.spec
    return NewStudy(
        name=spec.study,
        spec=spec.to_json(),
        spec_hash=spec.hash,
        metric=spec.objective.metric,
        direction=spec.objective.direction,
        seed=spec.search.seed,
        versions={
            "sweep": __version__,
            "python": platform.python_version(),
            "optuna": optuna.__version__,
            **versions,
        },
        git_commit=plan.git_commit,
    )
