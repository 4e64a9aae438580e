"""Holders of leases: this process, and whether another one is known to be dead."""

import os
import platform

from sweep.records import Holder, Lease, Study
from sweep.store.store import Store
from sweep.strays import pid_namespace, started_at_s

_FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO in the kernel's proc_ns.h


def this_process() -> Holder:
    """This process, as it signs a lease."""
    began_at_s = started_at_s(os.getpid())
    assert began_at_s is not None, "this process is running"
    return Holder(host=_host(), pid=os.getpid(), process_started_at_s=began_at_s)


def is_known_dead(holder: Holder) -> bool:
    """Whether the holder ran on this host and is gone. Of another host nothing is known."""
    if holder.host != _host():
        return False
    return started_at_s(holder.pid) != holder.process_started_at_s


def living_lease(store: Store, study: Study) -> Lease | None:
    """The lease of whoever leads the study; None when nobody does, or its holder is dead."""
    lease = store.leader(study.id)
    if lease is None or not lease.is_current or is_known_dead(lease.holder):
        return None
    return lease


def _host() -> str:
    """Where process numbers mean what they mean here: the host, or a container of that name."""
    namespace = pid_namespace()
    return platform.node() if namespace == _FIRST_NAMESPACE else f"{platform.node()} {namespace}"
