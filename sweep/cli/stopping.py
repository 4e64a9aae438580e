"""Stopping: asking a study's leader to end, and waiting until it has let go."""

import math
import time

from sweep import clock
from sweep.cli.console import tell
from sweep.cli.studies import study_flag
from sweep.coordinator.holder import living_lease, this_process
from sweep.coordinator.taking import forget_stops
from sweep.errors import LedByAnotherError, UnusableError
from sweep.records import Lease, Study
from sweep.requests import RequestKind
from sweep.store.store import Store

PATIENCE_S = 15.0
EVERY_S = 0.25
_LEASE_S = 10.0


def stopped(store: Store, study: Study, kind: RequestKind) -> None:
    """Nobody leads the study any more, and no request to stop it is left.

    A leader that drains is waited for as long as it lives: its own grace ends it. Raises
    UnusableError when it is still there some time after it was to end at once.
    """
    lease = living_lease(store, study)
    if lease is None:
        tell(f"study {study.name} is not running: nothing to stop")
        return
    store.add_request(study.id, kind)
    tell(f"asked pid {lease.holder.pid} on {lease.holder.host} to {_what(kind)}")
    _wait(store, study, lease, PATIENCE_S if kind is RequestKind.KILL else math.inf)
    _forget_requests(store, study)
    tell(f"study {study.name} is stopped; run it again to go on")


def _what(kind: RequestKind) -> str:
    if kind is RequestKind.KILL:
        return "end all trials at once"
    return "stop; each trial ends its epoch first"


def _wait(store: Store, study: Study, lease: Lease, patience_s: float) -> None:
    deadline = clock.monotonic_s() + patience_s
    while (now := living_lease(store, study)) is not None and now.token == lease.token:
        if clock.monotonic_s() > deadline:
            raise UnusableError(
                f"pid {lease.holder.pid} on {lease.holder.host} still leads study {study.name} "
                f"after {patience_s:g} s; look with: sweep status {study_flag(study.name)}"
            )
        time.sleep(EVERY_S)


def _forget_requests(store: Store, study: Study) -> None:
    """A request that came too late for its leader must not stop the study's next run."""
    if not store.pending_requests(study.id):
        return
    try:
        with store.lead(study.id, this_process(), _LEASE_S) as leadership:
            forget_stops(store, leadership)
    except LedByAnotherError:
        return
