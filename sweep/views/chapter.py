"""Chapter: what a report says about one study, before it is written as HTML or Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from sweep.records import Snapshot, TrialState
from sweep.views.best import ranked, why_none
from sweep.views.by_table import by_columns, groups_table
from sweep.views.caveats import caveats
from sweep.views.columns import Kind
from sweep.views.comparison import controlled
from sweep.views.display import (
    one_line,
    show_cost,
    show_count,
    show_duration,
    show_metric,
    show_param,
)
from sweep.views.plan import plan_of
from sweep.views.ranges import groups_by_range
from sweep.views.recipe_facts import Facts, origin_facts, recipe_facts, space_facts
from sweep.views.rows import TrialRow, trial_rows
from sweep.views.series.subject import Subject, subject_of
from sweep.views.summary import Failures, Summary, summarize
from sweep.views.tables import rows_table, shown_kinds
from sweep.views.unfinished import unfinished

TOP = 10
MAX_LISTED = 200
_NOT_LISTED = ("study", "seed", "started_at", "finished_at")
_NOT_FOR_LEADERS = ("state", "cause", "best_epoch", "device", "attempts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table of a report: its title, one line on what it is worth, and its cells.

    `param` is what its rows are grouped by; None where a row is a trial.
    """

    title: str
    note: str
    frame: pd.DataFrame
    param: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Chapter:
    """One study in a report; `kinds` tells how the columns of params and objective are shown."""

    name: str
    description: str
    state: str
    headline: str
    facts: Facts
    best: Facts
    unfinished: list[str]
    caveats: list[str]
    leaders: Table | None
    by_param: list[Table]
    trials: Table | None
    failures: tuple[Failures, ...]
    recipe: Facts
    space: Facts
    origin: Facts
    kinds: Mapping[str, Kind]
    subject: Subject


def chapter_of(snapshot: Snapshot) -> Chapter:
    """All that a report says about a study."""
    rows = trial_rows(snapshot)
    subject = subject_of(snapshot, rows=rows)
    summary = summarize(snapshot, None)
    return Chapter(
        name=snapshot.study.name,
        description=str(snapshot.study.spec.get("description") or ""),
        state=_state(summary),
        headline=headline(summary),
        facts=study_facts(summary),
        best=best_facts(summary),
        unfinished=unfinished(snapshot, summary),
        caveats=caveats(snapshot, rows, summary),
        leaders=_leaders(snapshot, rows),
        by_param=tables_by_param(subject),
        trials=_trials(snapshot, rows),
        failures=summary.failures,
        recipe=recipe_facts(snapshot),
        space=space_facts(snapshot),
        origin=origin_facts(snapshot),
        kinds=shown_kinds([snapshot]),
        subject=subject,
    )


def _state(summary: Summary) -> str:
    if summary.is_finished:
        return "finished"
    if summary.running:
        return f"{show_count(len(summary.running), 'trial')} running"
    return "not finished"


def headline(summary: Summary) -> str:
    """The answer in one sentence."""
    best = summary.best
    if best is None:
        why = why_none(summary.counts[TrialState.COMPLETE], len(summary.excluded))
        return f"{why[0].upper()}{why[1:]}, so there is no best one."
    metric = one_line(summary.metric)
    return f"Best {metric}: {show_metric(summary.metric, best.value)}, by trial {best.number}."


def study_facts(summary: Summary) -> Facts:
    """How far the study is, and what it took."""
    facts = [
        ("trials", _trial_counts(summary)),
        ("elapsed", show_duration(summary.elapsed_s)),
        ("slot time", show_duration(summary.slot_hours * 3600)),
        ("epochs", _epochs(summary)),
    ]
    if summary.cost is not None:
        facts.append(("cost", show_cost(summary.cost, summary.currency)))
    return facts


def _trial_counts(summary: Summary) -> str:
    states = [f"{count} {state}" for state, count in summary.counts.items() if count]
    planned = "" if summary.planned_trials is None else f" of {summary.planned_trials}"
    return f"{summary.num_finished}{planned} finished ({', '.join(states) or 'none yet'})"


def _epochs(summary: Summary) -> str:
    saved = f", {summary.epochs_saved} saved by pruning" if summary.epochs_saved else ""
    return f"{summary.epochs_run} run{saved}"


def best_facts(summary: Summary) -> Facts:
    """The params of the best trial, as shown."""
    if summary.best is None:
        return []
    return [(name, show_param(value)) for name, value in summary.best.params.items()]


def _leaders(snapshot: Snapshot, rows: Sequence[TrialRow]) -> Table | None:
    best = ranked(rows, snapshot.study.direction)[:TOP]
    if not best:
        return None
    return Table(
        title="The best trials",
        note="By the objective at the last epoch, complete trials only.",
        frame=listed(rows_table(best, plan_of(snapshot).params)).drop(
            columns=list(_NOT_FOR_LEADERS), errors="ignore"
        ),
    )


def tables_by_param(subject: Subject) -> list[Table]:
    """A table for each param that has more than one value."""
    snapshot, tables = subject.snapshot, []
    for param in subject.params:
        is_linear = subject.is_log(param) is False
        groups = groups_by_range(subject.rows, param, snapshot.study, is_linear=is_linear)
        if len(groups) < 2:
            continue
        frame = groups_table(groups, param, by_columns([snapshot]))
        note = controlled(snapshot, param).sentence
        tables.append(
            Table(
                title=f"By {one_line(param)}",
                note=_sentence(note),
                frame=_filled(frame),
                param=param,
            )
        )
    return tables


def _trials(snapshot: Snapshot, rows: Sequence[TrialRow]) -> Table | None:
    if not rows:
        return None
    shown = rows[:MAX_LISTED]
    more = f"The first {MAX_LISTED} of {len(rows)}. " if len(rows) > MAX_LISTED else ""
    return Table(
        title="All trials" if not more else "Trials",
        note=f"{more}The exact numbers and every column: sweep export.",
        frame=listed(rows_table(shown, plan_of(snapshot).params)),
    )


def listed(frame: pd.DataFrame) -> pd.DataFrame:
    """Without what is the same for all or not for a reader, and without empty columns."""
    kept = frame.drop(columns=list(_NOT_LISTED))
    if kept["value"].equals(kept["test_accuracy"]):
        kept = kept.drop(columns="value")
    return _filled(kept)


def _filled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.loc[:, frame.notna().any()]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def failure_line(failures: Failures) -> str:
    """One cause of failures with how often it struck and what the first one said."""
    cause = failures.cause.value.replace("_", " ") if failures.cause else "no cause given"
    said = one_line(failures.message) if failures.message else "no message"
    count = show_count(failures.count, "trial")
    return f"{cause}: {count}; the first, trial {failures.first_trial}: {said}"
