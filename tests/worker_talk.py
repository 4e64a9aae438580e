"""A conversation with the real worker, one trial after the other, as a coordinator leads it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from sweep.fleet.local import Ended, LocalFleet, Received
from sweep.fleet.slots import cpu_slots, num_cores
from sweep.spec.recipe import RecipeSpec
from sweep.spec.training import resolve_training
from sweep.wire import (
    Action,
    Assignment,
    Decision,
    EpochReport,
    Failed,
    Finished,
    Message,
    OnOom,
    Ready,
)

PATIENCE_S = 120.0


@dataclass(kw_only=True, slots=True)
class Told:
    """What a worker said of one attempt."""

    reports: list[EpochReport] = field(default_factory=list)
    end: Finished | Failed
    log: str


class Talk:
    """A worker that is ready, on one CPU slot."""

    def __init__(self, fleet: LocalFleet, folder: Path) -> None:
        self._fleet = fleet
        self._folder = folder
        self._inbox: list[Message] = []
        (self._slot,) = fleet.slots
        fleet.start(self._slot)
        assert isinstance(self._receive(), Ready)

    @property
    def pid(self) -> int:
        """The process id of the worker."""
        return self._fleet.pid(self._slot)

    def trial(
        self,
        number: int,
        training: Mapping[str, Any],
        answer: Callable[[EpochReport], Action] = lambda report: Action.CONTINUE,
        **told: Any,
    ) -> Told:
        """Have the worker try a trial of the built-in training; `answer` decides each epoch."""
        values = resolve_training(training)
        log = self._folder / f"trial-{number}.log"
        assignment = Assignment(
            **{
                "trial": number,
                "attempt": 1,
                "seed": number,
                "params": values.as_params(),
                "metric": "test_accuracy",
                "folder": str(self._folder / f"trial-{number}"),
                "log": str(log),
                "on_oom": OnOom(values.on_oom),
                **told,
            }
        )
        self._fleet.send(self._slot, assignment)
        reports = []
        while isinstance(message := self._receive(), EpochReport):
            reports.append(message)
            self._fleet.send(
                self._slot,
                Decision(trial=number, attempt=1, epoch=message.epoch, action=answer(message)),
            )
        assert isinstance(message, Finished | Failed)
        return Told(reports=reports, end=message, log=log.read_text())

    def _receive(self) -> Message:
        deadline = monotonic() + PATIENCE_S
        while not self._inbox:
            left = deadline - monotonic()
            assert left > 0, "the worker says nothing"
            for event in self._fleet.wait(left):
                assert not isinstance(event, Ended), f"the worker {event.how}: {event.last_words}"
                assert isinstance(event, Received)
                self._inbox.append(event.message)
        return self._inbox.pop(0)


@contextmanager
def talk(recipe: RecipeSpec, folder: Path) -> Iterator[Talk]:
    """A conversation with a worker of the recipe, which is gone at the end."""
    # one thread: those of several test processes fight for the cores
    with LocalFleet(cpu_slots(num_cores())[:1], recipe.model_dump_json()) as fleet:
        yield Talk(fleet, folder)
