"""The team of one attempt: further ranks, each a process on a device of its own.

They are in this worker's process group, so that everything dies with it. When one of them dies or
fails, the attempt ends within seconds and says why, also where this process hangs in a call that
waits for the others.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sweep.records import Cause
from sweep.training.faults import is_out_of_memory
from sweep.training.ranks import Ranks, joined, open_meeting
from sweep.wire import Action, Assignment, Decision, Failed, Shutdown
from sweep.worker.rank_process import RankProcess
from sweep.worker.report import failure_of

SETTLE_S = 2.0
"""How long the ranks may take to end once one has failed: the first cause may come last."""
STUCK_S = 5.0
"""How long this process may take to notice that a rank has failed."""
_END_S = 10.0
"""How long the group of a team that has failed may take to end, and so may each of its ranks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workplace:
    """Where this worker trains: its own device, by torch's name, and what all its ranks share.

    `memory_limit_bytes` is what each of them may use of its GPU.
    """

    device: str
    recipe: str
    memory_limit_bytes: int | None = None


class RankFault(Exception):
    """A further rank has failed or is gone."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message)
        self.failed = failed


class Team:
    """The further ranks of an attempt, none where it has one device; gone when it is left.

    While entered, this process is rank 0 of them all. Raises RankFault, on entering and in place
    of what else went wrong, when another rank was the first to fail. `tell` is called with the
    failure when this process does not notice it by itself.
    """

    def __init__(
        self, assignment: Assignment, workplace: Workplace, tell: Callable[[Failed], None]
    ) -> None:
        self._assignment = assignment
        self._workplace = workplace
        self._tell = tell
        self._ranks: list[RankProcess] = []
        self._changed = threading.Condition()
        self._is_ending = False
        self._is_over = False
        self._failure: Failed | None = None
        self._group = ExitStack()

    def __enter__(self) -> Self:
        devices = self._assignment.other_devices
        if not devices:
            return self
        count = 1 + len(devices)
        try:
            meeting = open_meeting(count)
            for rank, device in enumerate(devices, start=1):
                self._ranks.append(self._start(rank, count, device, meeting.port))
            threading.Thread(target=self._stand_by, daemon=True).start()
            self._wait(lambda: all(rank.is_ready for rank in self._ranks))
            here = Ranks(rank=0, count=count)
            self._group.enter_context(joined(meeting, here, self._workplace.device))
        except BaseException as error:
            self._end(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._ranks:
            return
        fault = None
        if error is None:
            fault = self._ended()
        # What a rank's end causes here is an error of torch's, and never memory that ran out.
        elif isinstance(error, RuntimeError) and not is_out_of_memory(error):
            fault = self._fault()
        if fault is None:
            self._end(error)
            return
        cause = RankFault(fault)
        self._end(cause)
        raise cause from error

    def check(self) -> None:
        """Raises RankFault where a rank is known to have failed: the epoch is not theirs all."""
        if self._first_fault() is not None:
            fault = self._fault()
            assert fault is not None
            raise RankFault(fault)

    def go_on(self, epoch: int) -> None:
        """Every rank begins the epoch after this one."""
        self._decide(epoch, Action.CONTINUE)

    def stop(self, epoch: int) -> None:
        """Every rank ends after this epoch."""
        self._decide(epoch, Action.STOP)

    def _decide(self, epoch: int, action: Action) -> None:
        told = self._assignment
        for rank in self._ranks:
            rank.send(Decision(trial=told.trial, attempt=told.attempt, epoch=epoch, action=action))

    def _start(self, rank: int, count: int, device: str, port: int) -> RankProcess:
        process = RankProcess(
            rank=rank,
            device=device,
            arguments={
                "device": self._workplace.device,
                "recipe": self._workplace.recipe,
                "memory-limit-bytes": self._workplace.memory_limit_bytes,
                "rank": rank,
                "count": count,
                "port": port,
            },
            assignment=self._assignment,
        )
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()
        return process

    def _watch(self, process: RankProcess) -> None:
        """Take in what a rank says until it is gone."""
        for _ in process.heard():
            with self._changed:
                self._changed.notify_all()
        with self._changed:
            process.is_gone = True
            self._changed.notify_all()

    def _stand_by(self) -> None:
        """Speak up where this process hangs: over a rank's failure, or on its way out."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ending or self._first_fault() is not None)
            if not self._changed.wait_for(lambda: self._is_ending, STUCK_S):
                failure = self._fault()
            elif not self._changed.wait_for(lambda: self._is_over, _END_S):
                failure = self._failure
            else:
                failure = None
        if failure is not None:
            self._tell(failure)

    def _wait(self, until: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: until() or any(rank.fault for rank in self._ranks))
        if fault := self._first_fault():
            raise RankFault(self._fault() or fault)

    def _ended(self) -> Failed | None:
        """Wait until each rank has said that it is done; what failed in its last steps, if any.

        There is no deadline: whoever watches for epochs that do not come watches this too.
        """
        for rank in self._ranks:
            rank.send(Shutdown())  # no epoch follows, also where a rank would have one more
        with self._changed:
            self._changed.wait_for(
                lambda: all(rank.has_finished or rank.fault for rank in self._ranks)
            )
        return None if self._first_fault() is None else self._fault()

    def _fault(self) -> Failed | None:
        """The failure that caused the others, once the ranks have had the time to tell theirs."""
        with self._changed:
            self._changed.wait_for(lambda: all(rank.is_gone for rank in self._ranks), SETTLE_S)
        return self._first_fault()

    def _first_fault(self) -> Failed | None:
        faults = [rank.fault for rank in self._ranks if rank.fault is not None]
        return min(faults, key=lambda fault: _ORDER.get(fault.cause, len(_ORDER)), default=None)

    def _end(self, cause: BaseException | None) -> None:
        """Leave the group and reap the ranks; without a cause they end by themselves, with it they
        are killed."""
        self._note(_failure_of(self._assignment, cause))
        try:
            if cause is None:
                self._group.close()
            else:
                self._group.__exit__(type(cause), cause, cause.__traceback__)
        finally:
            for rank in self._ranks:
                if cause is not None:
                    rank.kill()
                rank.end(_END_S)
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _note(self, failure: Failed | None) -> None:
        with self._changed:
            self._failure = failure
            self._is_ending = True
            self._changed.notify_all()


def _failure_of(assignment: Assignment, cause: BaseException | None) -> Failed | None:
    """What is to be said of an end; nothing where it is orderly, or the coordinator's wish."""
    if isinstance(cause, RankFault):
        return cause.failed
    return failure_of(assignment, cause) if isinstance(cause, Exception | SystemExit) else None


_ORDER = {Cause.LOST: 0, Cause.OUT_OF_MEMORY: 1}
"""Which failure of several was the first: what dies or has no room takes the others with it."""
