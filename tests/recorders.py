"""Recorders that stand in for a GPU's: they replay by doing the work again on the same memory."""

from collections.abc import Callable


class Replay:
    """A recording that is the work itself."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.is_reset = False
        self._work = work

    def replay(self) -> None:
        assert not self.is_reset, "a replay after its memory was given back"
        self._work()

    def reset(self) -> None:
        self.is_reset = True


class PlainRecorder:
    """Records anything. `recordings` holds what it has recorded so far."""

    def __init__(self) -> None:
        self.num_warm_ups = 0
        self.recordings: list[Replay] = []

    def warm_up(self, work: Callable[[], None]) -> None:
        self.num_warm_ups += 1
        work()

    def record(self, work: Callable[[], None]) -> Replay:
        self.recordings.append(Replay(work))
        return self.recordings[-1]

    @property
    def num_live(self) -> int:
        """How many recordings still hold memory."""
        return sum(not recording.is_reset for recording in self.recordings)


class StubbornRecorder(PlainRecorder):
    """Can record nothing."""

    def record(self, work: Callable[[], None]) -> Replay:
        self.recordings.append(Replay(work))
        self.recordings[-1].reset()
        raise RuntimeError("operation not permitted when stream is capturing\nand so on")


class CarelessRecorder(PlainRecorder):
    """Its recordings do the work twice, so that their gradients are twice too large."""

    def record(self, work: Callable[[], None]) -> Replay:
        def twice() -> None:
            work()
            work()

        return super().record(twice)
