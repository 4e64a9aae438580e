"""The session of `sweep run`: a plan described, or led to its end before the user's eyes."""

from collections.abc import Iterator
from contextlib import closing

from sweep.cli.console import answer, offer, tell
from sweep.cli.ending import ending_text
from sweep.cli.spec_text import idle_text, plan_text
from sweep.cli.watch import watch
from sweep.coordinator.events import Notice, StudyLed, SweepEnded
from sweep.coordinator.plan import Plan
from sweep.coordinator.session import check_slots, run_study
from sweep.coordinator.sharing import files_of_ones_own
from sweep.coordinator.standing import found_standing
from sweep.errors import NotFoundError
from sweep.records import Snapshot
from sweep.store.store import open_store
from sweep.views.display import one_line, show_count


def describe(plan: Plan) -> int:
    """Say what the plan would run, having looked at what a run looks at; write nothing."""
    from sweep.coordinator.own_code import check_own_code

    standing = found_standing(plan.url, plan.spec)
    standing.check_devices(plan.slots, allows_cpu=plan.allows_cpu)
    check_slots(plan)
    check_own_code(plan.spec.recipe)
    answer(plan_text(plan, standing.outline))
    return 0


def start(plan: Plan, storage: str | None, *, is_detached: bool) -> int:
    """Run the plan's study here or in the background, its files for whom the plan says."""
    with files_of_ones_own(for_group=plan.is_for_group):
        if is_detached:
            from sweep.cli.detaching import detached

            return detached(plan, storage)
        return lead(plan, storage)


def lead(plan: Plan, storage: str | None) -> int:
    """Run the plan's study, showing what happens; at the end, what it found. The exit code.

    `storage` is the flag, which the commands that are proposed at the end repeat.
    """
    ended = _watched(plan)
    tell(one_line(ended.reason))
    snapshot = _stored(plan)
    if snapshot is not None:
        offer(ending_text(snapshot, storage))
    return ended.exit_code


def _watched(plan: Plan) -> SweepEnded:
    ended = None
    with watch() as watcher, closing(run_study(plan)) as events:
        for event in events:
            for notice in _notices(plan) if isinstance(event, StudyLed) else ():
                watcher.show(notice)
            watcher.show(event)
            ended = event if isinstance(event, SweepEnded) else ended
    assert ended is not None, "a run says last that it ended"
    return ended


def _notices(plan: Plan) -> Iterator[Notice]:
    """What to say of a run on the CPU that nobody asked for, and of GPUs that it does not use."""
    if not plan.allows_cpu and not any(slot.device.uuid for slot in plan.slots):
        count = show_count(len(plan.slots), "trial")
        text = f"no GPU here: running {count} at a time on the CPU (--cpu N for another number)"
        yield Notice(text=text)
    if idle := idle_text(plan):
        yield Notice(text=idle)


def _stored(plan: Plan) -> Snapshot | None:
    try:
        with open_store(plan.url, create=False) as store:
            study = store.find_study(plan.spec.study)
            return None if study is None else store.snapshot(study.id)
    except NotFoundError:
        return None
