"""A session: one run of a study, from the plan to its end. Everything it opens, it closes."""

import shlex
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from sweep.coordinator.code_mark import changed_code
from sweep.coordinator.crew import Crew
from sweep.coordinator.events import (
    DataFetched,
    Event,
    Notice,
    StudyLed,
    SweepEnded,
)
from sweep.coordinator.folders import StudyFolder, make_folder, study_folder
from sweep.coordinator.own_code import check_own_code
from sweep.coordinator.packing import Packing
from sweep.coordinator.plan import Plan
from sweep.coordinator.refusal import left_out, refused
from sweep.coordinator.sharing import open_to_group, shared_places
from sweep.coordinator.signals import Signals
from sweep.coordinator.standing import found_standing
from sweep.coordinator.tracked import tracked
from sweep.errors import DeviceError, StorageError, SweepError, UsageError
from sweep.fleet.gauges import Gauges
from sweep.fleet.local import Ended, LocalFleet, Received
from sweep.fleet.reservation import reserved
from sweep.fleet.slots import Slot
from sweep.spec.recipe import RecipeSpec
from sweep.spec.resources import AUTO
from sweep.store.url import locate
from sweep.strays import kill_ghosts
from sweep.wire import Failed, Fetching, Ready


def run_study(plan: Plan) -> Generator[Event, None, None]:
    """Run a study until its budget is used up, its space is exhausted or somebody stops it.

    Every event as it happens, `SweepEnded` last. Closing the generator kills what still runs.
    Raises a SweepError when the study cannot be run; nothing was written then.
    """
    standing = found_standing(plan.url, plan.spec)
    standing.check_devices(plan.slots, allows_cpu=plan.allows_cpu)
    if plan.extra_trials is None and (reason := standing.nothing_left(plan.spec)):
        yield SweepEnded(reason=f"nothing is left to do: {reason}", exit_code=0)
        return
    folder = study_folder(plan.run_folder, plan.spec.study, plan.url)
    found = standing.cut_short(kill_ghosts())
    with ExitStack() as open_things:
        signals = open_things.enter_context(Signals())
        open_things.enter_context(_reserved(plan))
        fleet = open_things.enter_context(_fleet(plan))
        crew = open_things.enter_context(_crew(plan, fleet))
        crew.start_all()
        _import_the_rest()
        if standing.outline is None:
            _check_name(plan)
        versions = yield from _wait_for_worker(plan.spec.recipe, fleet, crew, signals)
        if versions is None:
            yield SweepEnded(reason="stopped before it began", exit_code=signals.exit_code)
            return
        if found is not None:
            yield Notice(text=found)
        try:
            yield from _lead(plan, folder, fleet, crew, signals, versions)
        except StorageError as error:
            if signals.first is None:
                raise
            reason = f"stopped by {signals.first.name}: {error}"
            yield SweepEnded(reason=reason, exit_code=signals.exit_code)


def check_slots(plan: Plan) -> None:
    """Raises DeviceError where the plan's devices are not free for it."""
    with _reserved(plan):
        pass


def _reserved(plan: Plan) -> AbstractContextManager[None]:
    devices = (device for slot in plan.slots for device in slot.devices)
    return reserved(devices, shares=plan.shares_busy)


def _fleet(plan: Plan) -> LocalFleet:
    return LocalFleet(plan.slots, plan.spec.recipe.model_dump_json(), plan.worker)


@contextmanager
def _crew(plan: Plan, fleet: LocalFleet) -> Iterator[Crew]:
    with Gauges() as gauges:
        is_auto = plan.spec.resources.trials_per_gpu == AUTO
        packing = Packing(slots=plan.slots, is_auto=is_auto, free_bytes=gauges.free_bytes)
        yield Crew(fleet, packing)


def _import_the_rest() -> None:
    """Load Optuna while the workers load torch: it takes half a second."""
    import sweep.coordinator.leading
    import sweep.coordinator.loop  # noqa: F401


def _check_name(plan: Plan) -> None:
    """Raises UsageError where Optuna's tables have a study of that name that is not ours."""
    from sweep.tuner.optuna_mark import has_foreign_study

    location = locate(plan.url)
    if location.path is not None and not location.path.exists():
        return
    if has_foreign_study(location.connection_string, plan.spec.study):
        another = shlex.quote(f"{plan.spec.study}_2")
        raise UsageError(
            f"{location} has a study {plan.spec.study!r} of Optuna's that sweep did not make; it "
            f"stays as it is: give this one another name with --name {another}"
        )


def _wait_for_worker(
    recipe: RecipeSpec, fleet: LocalFleet, crew: Crew, signals: Signals
) -> Generator[DataFetched | Notice, None, dict[str, str] | None]:
    """Wait until a worker is ready: what it runs with, or None when a signal came first.

    Devices that cannot be used are left out and told of then; raises the first one's DeviceError
    when none is left.
    """
    found: dict[str, str] | None = None
    faults: list[tuple[Slot, DeviceError]] = []
    while found is None and signals.first is None:
        for event in fleet.wait(1.0):
            match event:
                case Received(slot=slot, message=Ready(versions=versions)):
                    crew.ready(slot)
                    found = versions
                case Received(message=Fetching(name=name, done_bytes=done, total_bytes=total)):
                    yield DataFetched(name=name, done_bytes=done, total_bytes=total)
                case Received(slot=slot, message=Failed() as failed):
                    _leave_out(slot, refused(failed, slot), crew, faults)
                case Ended(slot=slot, how=how, last_words=last_words):
                    check_own_code(recipe)  # it may end whatever process loads it
                    if fault := crew.ended(slot, how, last_words):
                        _leave_out(slot, fault, crew, faults)
        crew.restart_due()
    yield from (left_out(slot, fault) for slot, fault in faults)
    return found


def _leave_out(
    slot: Slot, fault: SweepError, crew: Crew, faults: list[tuple[Slot, DeviceError]]
) -> None:
    """Note the fault of a slot's device while other slots are left; raise any other fault."""
    if not isinstance(fault, DeviceError):
        raise fault
    faults.append((slot, fault))
    if not crew.retire(slot):
        raise faults[0][1]


def _lead(
    plan: Plan,
    folder: StudyFolder,
    fleet: LocalFleet,
    crew: Crew,
    signals: Signals,
    versions: dict[str, str],
) -> Iterator[Event]:
    from sweep.coordinator.leading import lead
    from sweep.coordinator.loop import Loop

    make_folder(folder)
    if plan.is_for_group:
        open_to_group(shared_places(plan.run_folder, folder.path, locate(plan.url).path))
    with lead(plan, signals, versions) as led:
        yield StudyLed(
            study=led.study,
            slots=fleet.slots,
            trials=tuple(led.ledger.trials.values()),
            trials_wanted=led.spec.budget.trials,
            elapsed_s=led.elapsed_s,
        )
        if changed := changed_code(led.study, plan.spec.recipe):
            yield Notice(text=changed)
        loop = Loop(
            spec=led.spec,
            ledger=led.ledger,
            fleet=fleet,
            crew=crew,
            overseer=led.overseer,
            folder=folder,
            quota=led.quota,
        )
        yield from tracked(loop.run(), led.spec, folder.path)
