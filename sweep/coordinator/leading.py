"""Leading: taking a study over, with all that goes with it, and putting it in order."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version

from sweep import __version__, clock
from sweep.coordinator.adoption import adopt
from sweep.coordinator.budget import spent
from sweep.coordinator.busy import kept_for
from sweep.coordinator.code_mark import code_mark
from sweep.coordinator.desk import Desk
from sweep.coordinator.folders import StudyFolder, study_folder
from sweep.coordinator.ledger import Ledger
from sweep.coordinator.limits import MemoryLimits
from sweep.coordinator.overseer import LEASE_S, Overseer
from sweep.coordinator.plan import Plan
from sweep.coordinator.projecting import projection_of
from sweep.coordinator.quota import DiskQuota
from sweep.coordinator.signals import Signals
from sweep.coordinator.taking import forget_stops, take_lead
from sweep.fleet.slots import Slot
from sweep.records import NewStudy, Study, TrialState
from sweep.spec.differences import Kind, differences
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
    quota: DiskQuota
    elapsed_s: float


@contextmanager
def lead(plan: Plan, signals: Signals, versions: Mapping[str, str]) -> Iterator[Led]:
    """Lead the plan's study, creating what is absent; released at the end.

    Raises LedByAnotherError, StorageError.
    """
    with open_store(plan.url, create=True, may_wait=signals.are_absent) as store:
        study = store.create_study(_new_study(plan, versions))
        with take_lead(store, study, LEASE_S) as leadership:
            forget_stops(store, leadership)
            spec = _settle_spec(plan, store, leadership)
            with projection_of(store, leadership.study) as projection:
                folder = study_folder(plan.run_folder, spec.study, plan.url)
                ledger = ledger_of(spec, plan.slots, folder, store, leadership, projection)
                ledger.enqueue(spec.enqueue)
                yield Led(
                    study=leadership.study,
                    spec=spec,
                    ledger=ledger,
                    overseer=_overseer(plan, signals, store, leadership, ledger, spec),
                    quota=DiskQuota(
                        spec.checkpoints.max_disk_bytes,
                        direction=spec.objective.direction,
                        folder=folder,
                        ledger=ledger,
                        leadership=leadership,
                    ),
                    elapsed_s=spent(
                        ledger.attempts.values(), spec.budget, clock.utc_now()
                    ).elapsed_s,
                )


def _settle_spec(plan: Plan, store: Store, leadership: Leadership) -> StudySpec:
    """The spec of this run, stored; a changed space becomes the next space version."""
    study = leadership.study
    spec = _with_trials(plan, store, study)
    changes = differences(StudySpec.from_json(study.spec), spec)
    is_new_space = any(each.kind is Kind.SPACE for each in changes)
    leadership.set_spec(spec.to_json(), spec.hash, study.space_version + is_new_space)
    return spec


def _with_trials(plan: Plan, store: Store, study: Study) -> StudySpec:
    if plan.extra_trials is None:
        return plan.spec
    num_finished = sum(trial.state.is_finished for trial in store.trials(study.id))
    budget = plan.spec.budget.model_copy(update={"trials": num_finished + plan.extra_trials})
    return replace(plan.spec, budget=budget)


def ledger_of(
    spec: StudySpec,
    slots: Sequence[Slot],
    folder: StudyFolder,
    store: Store,
    leadership: Leadership,
    projection: Projection,
) -> Ledger:
    """The ledger of a led study, in order: no trial is marked as running any more."""
    ledger = Ledger(
        spec=spec,
        outline=store.outline(leadership.study.id),
        values=store.values(leadership.study.id, spec.objective.metric),
        leadership=leadership,
        tuner=Tuner(
            space=spec.space,
            search=spec.search,
            direction=spec.objective.direction,
            epochs=spec.training.get("epochs"),
        ),
        projection=projection,
        limits=MemoryLimits(spec, slots, store, leadership),
    )
    for trial in adopt(ledger):
        is_complete = trial.state is TrialState.COMPLETE
        kept_for(spec, trial, ledger, folder).finish(is_complete=is_complete)
    return ledger


def _overseer(
    plan: Plan,
    signals: Signals,
    store: Store,
    leadership: Leadership,
    ledger: Ledger,
    spec: StudySpec,
) -> Overseer:
    return Overseer(
        signals=signals,
        store=store,
        leadership=leadership,
        desk=Desk(spec=spec, store=store, leadership=leadership, ledger=ledger),
        budget=spec.budget,
        grace_s=plan.grace_s,
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
            "optuna": version("optuna"),
            **versions,
            **code_mark(spec.recipe),
        },
        git_commit=plan.git_commit,
    )
