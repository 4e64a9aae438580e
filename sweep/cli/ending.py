"""The ending of a run on stdout: the best configuration, and where to look next."""

import os
import shlex
from collections.abc import Iterator

from sweep.records import Snapshot
from sweep.spec.study import StudySpec
from sweep.store.url import default_url, hide_password
from sweep.views.best import best
from sweep.views.display import one_line, show_metric, show_param


def ending_text(snapshot: Snapshot, storage: str | None) -> str:
    """What was found, and the commands that show more; `storage` is the flag, if given."""
    lines = [*_best_lines(snapshot), "", *_next_lines(snapshot, storage)]
    return "".join(f"{line}\n" for line in lines)


def _best_lines(snapshot: Snapshot) -> Iterator[str]:
    found = best(snapshot)
    if not found:
        yield "no trial is complete: there is no best configuration"
        return
    row, metric = found[0], snapshot.study.metric
    value = show_metric(metric, row.value)
    yield f"best: trial {row.number}, {one_line(metric)} {value}"
    width = max(map(len, row.trial.params), default=0)
    for name, param in row.trial.params.items():
        yield f"  {one_line(name):<{width}}  {show_param(param)}"


def _next_lines(snapshot: Snapshot, storage: str | None) -> Iterator[str]:
    name = snapshot.study.name
    is_default = storage is None or storage == default_url(os.environ)
    place = "" if is_default else f" --storage {shlex.quote(hide_password(str(storage)))}"
    flags = f"--study {shlex.quote(one_line(name))}{place}"
    by = _telling_param(snapshot)
    yield f"the best    sweep best {flags}"
    yield f"compare     sweep export {flags} --by {shlex.quote(by)} --format table"
    yield f"all trials  sweep export {flags} -o trials.csv"
    yield f"a report    sweep report {flags} -o report.html"
    yield f"browse      sweep dashboard{place}"


def _telling_param(snapshot: Snapshot) -> str:
    """The param to compare by: the batch size where it is searched, else the first."""
    names = StudySpec.from_json(snapshot.study.spec).space.names
    return "batch_size" if "batch_size" in names else names[0]
