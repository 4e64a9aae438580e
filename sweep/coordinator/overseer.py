"""The overseer: looks at all that can end a sweep from outside, and keeps its leadership alive.

Signals, the requests of other commands, the limits of time and money, and the lease.
"""

from collections.abc import Iterable, Iterator

from sweep import clock
from sweep.coordinator.budget import limit_reached, spent
from sweep.coordinator.desk import Desk
from sweep.coordinator.ending import Ending
from sweep.coordinator.events import Event
from sweep.coordinator.signals import Signals
from sweep.records import Attempt
from sweep.requests import RequestKind
from sweep.spec.study import BudgetSpec
from sweep.store.leadership import Leadership
from sweep.store.store import Store

LEASE_S = 60.0
_RENEW_S = 10.0
_LOOK_S = 1.0


class Overseer:
    """`ending` is set once the sweep is to end; `must_kill` once it may not wait any longer."""

    def __init__(
        self,
        *,
        signals: Signals,
        store: Store,
        leadership: Leadership,
        desk: Desk,
        budget: BudgetSpec,
        grace_s: float,
    ) -> None:
        self.ending: Ending | None = None
        self.must_kill = False
        self._signals = signals
        self._store = store
        self._leadership = leadership
        self._desk = desk
        self._budget = budget
        self._grace_s = grace_s
        self._kill_at_s: float | None = None
        self._renew_at_s = clock.monotonic_s() + _RENEW_S
        self._look_at_s = 0.0

    def end(self, ending: Ending) -> None:
        """Start no more trials; the first reason to end is the one that counts."""
        if self.ending is None:
            self.ending = ending
            self._kill_at_s = clock.monotonic_s() + self._grace_s

    def look(self, attempts: Iterable[Attempt]) -> list[Event]:
        """Take in what has happened outside since the last look; what is to be told of it."""
        events: list[Event] = []
        self._heed_signals()
        now = clock.monotonic_s()
        if now >= self._look_at_s:
            self._look_at_s = now + _LOOK_S
            events += self._heed_requests()
            self._heed_budget(attempts)
        if now >= self._renew_at_s:
            self._renew_at_s = now + _RENEW_S
            self._leadership.renew()
        if self._kill_at_s is not None and now >= self._kill_at_s:
            self.must_kill = True
        return events

    def _heed_signals(self) -> None:
        if self._signals.first is not None:
            name = self._signals.first.name
            self.end(Ending(reason=f"stopped by {name}", exit_code=self._signals.exit_code))
        if self._signals.count > 1:
            self.must_kill = True

    def _heed_requests(self) -> Iterator[Event]:
        for request in self._store.pending_requests(self._leadership.study.id):
            if not request.kind.is_stop:
                yield self._desk.carry_out(request)
                continue
            self.end(Ending(reason="stopped by `sweep stop`", exit_code=0))
            self.must_kill = self.must_kill or request.kind is RequestKind.KILL
            self._leadership.finish_request(request.id)

    def _heed_budget(self, attempts: Iterable[Attempt]) -> None:
        if self._budget.timeout_s is None and self._budget.max_cost is None:
            return
        used = spent(attempts, self._budget, clock.utc_now())
        if reason := limit_reached(used, self._budget):
            self.end(Ending(reason=reason, exit_code=0))
