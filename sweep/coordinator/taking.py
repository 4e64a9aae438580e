"""Taking a study over: its lease, for a run or for one short change, and old requests to stop."""

from sweep.coordinator.holder import is_known_dead, this_process
from sweep.records import Study
from sweep.store.leadership import Leadership
from sweep.store.store import Store


def take_lead(store: Store, study: Study, ttl_s: float) -> Leadership:
    """The leadership of the study; a holder that is dead on this host is replaced at once.

    Raises LedByAnotherError.
    """
    lease = store.leader(study.id)
    replaces = lease.token if lease is not None and is_known_dead(lease.holder) else None
    return store.lead(study.id, this_process(), ttl_s, replaces=replaces)


def forget_stops(store: Store, leadership: Leadership) -> None:
    """Requests to stop were for a leader that is gone, not for this one."""
    for request in store.pending_requests(leadership.study.id):
        if request.kind.is_stop:
            leadership.finish_request(request.id)
