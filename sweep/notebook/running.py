"""Running from Python: a study file, or a mapping like one, run to its end in this process."""

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from sweep.cli.console import tell
from sweep.cli.places import Places
from sweep.cli.planning import Changes, planned
from sweep.cli.watch import watch
from sweep.coordinator.events import SweepEnded
from sweep.coordinator.session import run_study
from sweep.coordinator.sharing import files_of_ones_own
from sweep.errors import StudyFileError, UnusableError, UsageError
from sweep.notebook.arguments import described, given, of_type, path_text, plain
from sweep.notebook.study import LoadedStudy, load, storage_text
from sweep.spec.key_kinds import Duration, StudyName
from sweep.spec.kinds import Number, Whole
from sweep.views.display import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from tempfile import _TemporaryFileWrapper

    from sweep.coordinator.plan import Plan

_GRACE_S = 30.0
_AT_LEAST_1 = Whole(1)
_KEYED = 'values by their dotted keys, as in {"training.epochs": 3}'


def run(
    study: str | Path | Mapping[str, Any],
    *,
    gpus: str | int | Sequence[int | str] | None = None,
    cpu: int | None = None,
    trials: int | None = None,
    add_trials: int | None = None,
    timeout: str | None = None,
    max_cost: float | None = None,
    seed: int | None = None,
    name: str | None = None,
    changes: Mapping[str, Any] | None = None,
    storage: str | None = None,
    run_dir: str | Path | None = None,
) -> LoadedStudy:
    """Run a study to its end, as `sweep run` does with flags of these names; the study then.

    `study` is a name, a file, or a mapping with the keys of one, whose paths are relative to the
    current folder. `gpus` are numbers as nvidia-smi's or UUIDs ([0, 1]), or "all"; `changes`
    are values by their dotted keys ({"training.epochs": 3}). An interrupt lets each running trial
    end its epoch, a second one ends them at once; called again, the study goes on.

    Raises a SweepError when it cannot be run, and KeyboardInterrupt when it was interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("sweep.run wants Python's main thread, which an interrupt reaches")
    asked = _changes(name, trials, timeout, max_cost, seed, changes)
    more = given("add_trials", add_trials, _AT_LEAST_1)
    places = _places(gpus, cpu, storage, run_dir)
    with _study_file(study) as file, _named(file, study):
        plan = planned(file, asked, places, add_trials=more, grace_s=_GRACE_S)
    return _run(plan, storage)


def _run(plan: "Plan", storage: str | None) -> LoadedStudy:
    ended: SweepEnded | None = None
    with (
        files_of_ones_own(for_group=plan.is_for_group),
        watch() as watcher,
        closing(run_study(plan)) as events,
    ):
        for event in events:
            watcher.show(event)
            ended = event if isinstance(event, SweepEnded) else ended
    assert ended is not None, "a run says last that it ended"
    tell(one_line(ended.reason))
    if ended.exit_code > 128:
        raise KeyboardInterrupt(ended.reason)
    return load(plan.spec.study, storage)


def _changes(
    name: str | None,
    trials: int | None,
    timeout: str | None,
    max_cost: float | None,
    seed: int | None,
    others: Mapping[str, Any] | None,
) -> Changes:
    values = {} if others is None else of_type("changes", others, Mapping, _KEYED)  # type: ignore[type-abstract]
    settings = plain(values, "changes")
    return Changes(
        name=given("name", name, StudyName()),
        trials=_text(given("trials", trials, _AT_LEAST_1)),
        timeout=_as_written(given("timeout", timeout, Duration()), timeout),
        max_cost=_text(given("max_cost", max_cost, Number(0, above=True))),
        seed=_text(given("seed", seed, Whole(0))),
        settings=[f"{key}={json.dumps(value)}" for key, value in settings.items()],
    )


def _places(
    gpus: str | int | Sequence[int | str] | None,
    cpu: int | None,
    storage: str | None,
    run_dir: str | Path | None,
) -> Places:
    return Places(
        gpus=_gpus(gpus),
        cpu=given("cpu", cpu, _AT_LEAST_1),
        memory_limit=None,
        shares_busy=False,
        storage=storage_text(storage),
        run_dir=None if run_dir is None else path_text("run_dir", run_dir, "a folder"),
    )


def _as_written(fits: float | None, value: str | None) -> str | None:
    """A time as it was written, once it is known to be one."""
    return None if fits is None else value


def _text(value: float | None) -> str | None:
    return None if value is None else str(value)


def _gpus(gpus: str | int | Sequence[int | str] | None) -> str | None:
    if gpus is None or isinstance(gpus, str):
        return gpus
    chosen = [gpus] if isinstance(gpus, int) else gpus
    is_list = isinstance(chosen, Sequence)
    if not is_list or not all(_is_gpu(each) for each in chosen):
        raise UsageError(
            f"gpus is {described(gpus)}; it takes numbers as nvidia-smi's or UUIDs in a list, as "
            'in [0, 1], or "all"'
        )
    return ",".join(map(str, chosen))


def _is_gpu(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


@contextmanager
def _study_file(study: str | Path | Mapping[str, Any]) -> "Iterator[str]":
    """The study as a file, a mapping's for as long as it takes to read it."""
    if not isinstance(study, Mapping):
        yield path_text("study", study, "a study's name, its file, or a mapping with its keys")
        return
    if "study" not in study:
        raise UsageError("the mapping has no key 'study'; give the study a name under it")
    content = plain(study, "the mapping")
    with _written(json.dumps(content, ensure_ascii=False)) as file:
        yield f"./{Path(file.name).name}"


def _written(content: str) -> "_TemporaryFileWrapper[str]":
    """A file in the current folder, which the mapping's paths are relative to."""
    try:
        file = NamedTemporaryFile(  # noqa: SIM115 - the caller closes it
            "w", encoding="utf-8", dir=Path.cwd(), prefix=".sweep-", suffix=".yaml"
        )
        file.write(content)
        file.flush()
    except OSError as error:
        raise UnusableError(
            "a mapping is read as a study file, which cannot be written in the current folder: "
            f"{error}; change to a folder that can be written"
        ) from error
    return file


@contextmanager
def _named(file: str, study: str | Path | Mapping[str, Any]) -> "Iterator[None]":
    """A problem in a mapping is not told of the file that it was in for a moment."""
    try:
        yield
    except StudyFileError as error:
        if not isinstance(study, Mapping):
            raise
        name = Path(file).name
        problems = [
            replace(each, source="the mapping", line=None) if name in each.source else each
            for each in error.problems
        ]
        raise StudyFileError(problems) from None
