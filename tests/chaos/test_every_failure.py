"""One trial whose n-th SQL statement, or n-th file operation, fails: for every n."""

import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from sweep.coordinator import taking
from sweep.coordinator.holder import this_process
from sweep.coordinator.plan import Plan
from sweep.errors import StorageError
from sweep.records import Checkpoint
from sweep.spec.recipe import RecipeSpec
from sweep.spec.study import StudySpec
from sweep.training.function import load_train_function
from sweep.wire import Action, Assignment, Decision, EpochReport, Failed, Finished, Refusal, Up
from sweep.worker.attempt import run_attempt
from sweep.worker.team import Workplace
from tests.scripted import run_to_end, scripted_plan, scripted_spec, stored

EPOCHS = 3
HERE = Workplace(device="cpu", recipe="")


@contextmanager
def _failing_statement(n: int) -> Iterator[list[str]]:
    """The n-th statement of this thread fails, from one; the statements that were made."""
    made: list[str] = []
    thread = threading.current_thread()

    def execute(cursor: Any, statement: str, parameters: Any, context: Any) -> None:
        if threading.current_thread() is thread:
            made.append(statement)
            if len(made) == n:
                raise sqlite3.OperationalError("disk I/O error")

    event.listen(Engine, "do_execute", execute)
    try:
        yield made
    finally:
        event.remove(Engine, "do_execute", execute)


def test_whichever_sql_statement_fails_the_next_run_ends_as_an_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = replace(this_process(), process_started_at_s=0.0)
    monkeypatch.setattr(taking, "this_process", lambda: dead)  # each run is gone when it ends
    spec = scripted_spec(trials=1, epochs=2)
    used = scripted_plan(tmp_path / "used", replace(spec, study="another"))
    run_to_end(used)  # how the tables are made is tested elsewhere
    reference = _beside(used, tmp_path / "unbroken", spec)
    with _failing_statement(0) as made:
        run_to_end(reference)
    unbroken = _facts(reference)
    num_refused = 0
    for n in range(1, len(made) + 1):
        plan = _beside(used, tmp_path / str(n), spec)
        with _failing_statement(n):
            try:
                run_to_end(plan)
            except StorageError:
                num_refused += 1
        assert run_to_end(plan).exit_code == 0, made[n - 1]
        assert _facts(plan) == unbroken, made[n - 1]
    assert num_refused > len(made) // 2


def _beside(used: Plan, folder: Path, spec: StudySpec) -> Plan:
    """A plan in a copy of a database that is in use."""
    folder.mkdir()
    with closing(sqlite3.connect(used.url.removeprefix("sqlite:///"))) as source:
        source.execute("VACUUM INTO ?", (str(folder / "sweep.db"),))
    return scripted_plan(folder, spec)


def _facts(plan: Plan) -> list[tuple[Any, ...]]:
    """What must be the same in every history: trials, values, and epochs that count once."""
    snapshot = stored(plan)
    trials = [(t.number, t.state, dict(t.params), t.value) for t in snapshot.trials]
    return [*trials, *((e.trial, e.epoch, dict(e.metrics)) for e in snapshot.epochs)]


FILE_OPERATIONS = [(os, "fsync"), (os, "open"), (Path, "open"), (Path, "replace"), (Path, "mkdir")]


def _is_below(file: Path | int | str, folder: Path) -> bool:
    """Whether a path, or the file of a descriptor, is one of the folder's."""
    path = Path(f"/proc/self/fd/{file}").readlink() if isinstance(file, int) else file
    return str(path).startswith(str(folder))


@contextmanager
def _failing_operation(
    monkeypatch: pytest.MonkeyPatch, folder: Path, n: int, code: int
) -> Iterator[list[str]]:
    """The n-th operation on files, from one, fails; the operations that were made."""
    made: list[str] = []

    def failing(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if _is_below(arguments[0], folder):
                made.append(name)
            if len(made) == n and n > 0:
                made.append("no more")
                raise OSError(code, os.strerror(code), str(folder))
            return operation(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for place, name in FILE_OPERATIONS:
            patch.setattr(place, name, failing(name, getattr(place, name)))
        yield made


class _Attempts:
    """Attempts of one trial, each going on from what the last one had on disk."""

    def __init__(self, folder: Path) -> None:
        self._function = load_train_function(RecipeSpec(train="tests.chaos.counting:train"))
        self._folder = folder
        self._number = 0
        self._saved: list[Checkpoint] = []
        self._last_epoch = -1
        self.values: dict[int, float | None] = {}

    def run(self) -> Finished | Failed:
        self._number += 1
        assignment = Assignment(
            trial=0,
            attempt=self._number,
            seed=0,
            params={"quality": 0.7, "epochs": EPOCHS},
            metric="test_accuracy",
            folder=str(self._folder),
            log=str(self._folder / "log"),
            resume=self._saved[::-1],
        )
        return run_attempt(self._function, assignment, HERE, self._take, self._answer)

    def _take(self, message: Up) -> None:
        assert isinstance(message, EpochReport)
        assert message.checkpoint is not None
        self._saved.append(message.checkpoint)
        self._last_epoch = message.epoch
        self.values[message.epoch] = message.metrics["test_accuracy"]

    def _answer(self) -> Decision:
        return Decision(
            trial=0, attempt=self._number, epoch=self._last_epoch, action=Action.CONTINUE
        )


@pytest.mark.parametrize(
    ("code", "refusal"), [(errno.EIO, Refusal.DISK), (errno.ENOSPC, Refusal.FULL_DISK)]
)
def test_whichever_file_operation_fails_the_next_attempt_ends_as_an_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, refusal: Refusal
) -> None:
    unbroken = _Attempts(tmp_path / "unbroken")
    with _failing_operation(monkeypatch, tmp_path, 0, code) as made:
        assert isinstance(unbroken.run(), Finished)
    assert len(made) >= 4 * EPOCHS
    for n in range(1, len(made) + 1):
        folder = tmp_path / str(n)
        attempts = _Attempts(folder)
        with _failing_operation(monkeypatch, folder, n, code):
            failed = attempts.run()
        assert isinstance(failed, Failed), made[n - 1]
        assert failed.refusal is refusal, failed.message
        assert isinstance(attempts.run(), Finished)
        assert attempts.values == unbroken.values
        assert not list(folder.glob("*.partial"))
