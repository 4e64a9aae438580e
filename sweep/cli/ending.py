"""The ending of a run on stdout: the best configuration, and where to look next."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from sweep.cli.studies import study_flag
from sweep.records import Snapshot, TrialState
from sweep.spec.study import StudySpec
from sweep.store.url import default_url, hide_password
from sweep.views.best import best, why_none
from sweep.views.display import one_line, show_count, show_metric, show_param
from sweep.views.rows import TrialRow


def ending_text(snapshot: Snapshot, storage: str | None) -> str:
    """What was found, and the commands that show more; `storage` is the flag, if given."""
    study = study_flag(snapshot.study.name)
    place = place_of(storage)
    found = best(snapshot)
    if found:
        lines = [*_best_lines(found[0], snapshot), "", *_next_lines(snapshot, study, place)]
    else:
        lines = [f"{_why_none(snapshot)}: there is no best one"]
        lines += _why_lines(snapshot, study, place)
    lines += _waiting_lines(snapshot)
    return "".join(f"{line}\n" for line in lines)


def _why_none(snapshot: Snapshot) -> str:
    complete = sum(trial.state is TrialState.COMPLETE for trial in snapshot.trials)
    excluded = sum(trial.excluded for trial in snapshot.trials)
    return why_none(complete, excluded).removesuffix(" yet")


def program() -> str:
    """What to type for this very command: its path where the shell does not find it."""
    typed = sys.argv[0]
    if Path(typed).name != "sweep":
        return "sweep"
    found = shutil.which("sweep")
    is_found = found is not None and Path(found).resolve() == Path(typed).resolve()
    return "sweep" if is_found else shlex.quote(typed)


def place_of(storage: str | None) -> str:
    """The flag that later commands need to find the same database."""
    if storage is None or storage == default_url(os.environ):
        return ""
    return f" --storage {shlex.quote(hide_password(storage))}"


def _best_lines(row: TrialRow, snapshot: Snapshot) -> Iterator[str]:
    metric = snapshot.study.metric
    value = show_metric(metric, row.value)
    yield f"best: trial {row.number}, {one_line(metric)} {value}"
    width = max(map(len, row.trial.params), default=0)
    for name, param in row.trial.params.items():
        yield f"  {one_line(name):<{width}}  {show_param(param)}"


def _next_lines(snapshot: Snapshot, study: str, place: str) -> Iterator[str]:
    by = shlex.quote(_telling_param(snapshot))
    yield f"the best    {program()} best {study}{place}"
    yield f"compare     {program()} export {study}{place} --by {by} --format table"
    yield f"all trials  {program()} export {study}{place} -o trials.csv"
    yield f"a report    {program()} report {study}{place} -o report.html"
    yield f"browse      {program()} dashboard{place}"


def _why_lines(snapshot: Snapshot, study: str, place: str) -> Iterator[str]:
    failed = [trial for trial in snapshot.trials if trial.state is TrialState.FAILED]
    if failed:
        yield ""
        yield f"why         {program()} status {study}{place}"
        yield f"            {program()} logs {study}{place} --trial {failed[-1].number}"
        yield f"try more    {program()} run {study}{place} --add-trials {len(failed)}"
        yield f"start anew  {program()} run {study}{place} --name ANOTHER_NAME"


def _waiting_lines(snapshot: Snapshot) -> Iterator[str]:
    waiting = sum(trial.state is TrialState.WAITING for trial in snapshot.trials)
    if waiting:
        yield ""
        yield f"{show_count(waiting, 'trial')} to go on with: run the same command again"


def _telling_param(snapshot: Snapshot) -> str:
    """The param to compare by: the batch size, else the first of a few values, else the first."""
    space = StudySpec.from_json(snapshot.study.spec).space
    if "batch_size" in space.names:
        return "batch_size"
    few = [
        param.name
        for param in space.params
        if all((each.distribution.num_points or 0) > 1 for each in param.alternatives)
    ]
    return next((name for name in space.names if name in few), space.names[0])
