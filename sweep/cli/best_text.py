"""The best trials as a table, JSON, or YAML that a study file can take."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sweep import clock
from sweep.cli.studies import study_flag
from sweep.errors import SweepError
from sweep.records import Snapshot, TrialState
from sweep.spec.resources import GPUS_PER_TRIAL
from sweep.spec.study import StudySpec
from sweep.views.caveats import caveats
from sweep.views.display import one_line, show_metric
from sweep.views.ranking import Rank, ranked_by
from sweep.views.rows import TrialRow, trial_rows
from sweep.views.summary import summarize

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*")
_OTHER_WORDS = ("true", "false", "null", "yes", "no", "on", "off")


class NoneCompleteError(SweepError):
    """A study has no complete trial, so that there is no best one."""

    exit_code = 1


def found_best(snapshot: Snapshot, rank: str, top: int) -> list[TrialRow]:
    """The best trials. Raises NoneCompleteError, and UsageError for a rank that tells nothing."""
    rows = ranked_by(snapshot, Rank(rank))[:top]
    if not rows:
        name = one_line(snapshot.study.name)
        raise NoneCompleteError(
            f"study {name} has {_none(snapshot)}; look with: sweep status "
            f"{study_flag(snapshot.study.name)}"
        )
    return rows


def _none(snapshot: Snapshot) -> str:
    is_any = any(trial.state is TrialState.COMPLETE for trial in snapshot.trials)
    return "no complete trial that counts" if is_any else "no complete trial yet"


def notes(snapshot: Snapshot) -> list[str]:
    """What to know before believing the best value, a line each."""
    is_running = any(trial.state is TrialState.RUNNING for trial in snapshot.trials)
    summary = summarize(snapshot, clock.utc_now() if is_running else None)
    return caveats(snapshot, trial_rows(snapshot), summary)


def best_text(snapshot: Snapshot, rows: Sequence[TrialRow], form: str, width: int) -> str:
    """The rows in the format."""
    if form == "yaml":
        return "---\n".join(_yaml(snapshot, row) for row in rows)
    from sweep.views.formats import to_json
    from sweep.views.tables import param_names, rows_table, shown_kinds
    from sweep.views.text_table import to_text

    frame = rows_table(rows, param_names([snapshot]))
    if form == "json":
        return to_json(frame)
    return to_text(frame.drop(columns="state"), width, shown_kinds([snapshot]))


def _yaml(snapshot: Snapshot, row: TrialRow) -> str:
    study = snapshot.study
    values = {**StudySpec.from_json(study.spec).training, **row.trial.params}
    devices = values.pop(GPUS_PER_TRIAL, None)
    value = show_metric(study.metric, row.value)
    heads = [f"# trial {row.number} of {one_line(study.name)}: {one_line(study.metric)} {value}"]
    if devices is not None:  # searched as the training keys are, but no training key
        heads.append(f"# resources: {{{GPUS_PER_TRIAL}: {_scalar(devices)}}}")
    return "".join(f"  {line}\n" for line in (*heads, *_yaml_lines(values)))


def _yaml_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_scalar(key)}: {_scalar(value)}" for key, value in values.items()]


def _scalar(value: Any) -> str:
    """A value as YAML 1.2 reads it back: a JSON text, or a word without quotes."""
    is_word = isinstance(value, str) and _PLAIN.fullmatch(value)
    if is_word and value.casefold() not in _OTHER_WORDS:
        return str(value)
    return json.dumps(value, ensure_ascii=False)
