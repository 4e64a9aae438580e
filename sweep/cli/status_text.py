"""Status as text and JSON: where a study stands, and all of them at a glance."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sweep.cli.grid import facts_text, grid
from sweep.cli.studies import Standing
from sweep.records import Lease, Trial, TrialState
from sweep.views.best import why_none
from sweep.views.display import (
    one_line,
    shorten,
    show_cost,
    show_device,
    show_duration,
    show_metric,
    show_params,
)
from sweep.views.sparkline import Span, sparkline
from sweep.views.summary import Failures, RunningTrial, Summary, summary_of

_CURVE = 12


def status_text(standing: Standing, now: datetime, width: int) -> str:
    """One study: a line for each thing that there is to tell."""
    summary = _summary(standing, now)
    return facts_text(_facts(summary, standing.lease), width)


def overview_text(standings: Sequence[Standing], now: datetime, width: int) -> str:
    """All studies, a line each."""
    if not standings:
        return "no study is stored yet; start one with: sweep run --study quickstart\n"
    header = ["study", "state", "trials", "complete", "pruned", "failed", "elapsed", "best"]
    rows = [_overview_row(_summary(each, now), each.lease) for each in standings]
    return "".join(f"{line}\n" for line in grid([header, *rows], width, left=(0, 1)))


def status_json(standings: Sequence[Standing], now: datetime, *, is_list: bool) -> str:
    """The same as JSON: one object, or a list of them for all studies."""
    objects = [_object(_summary(each, now), each.lease) for each in standings]
    document = objects if is_list else objects[0]
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _summary(standing: Standing, now: datetime) -> Summary:
    return summary_of(standing.outline, None if standing.lease is None else now)


def _facts(summary: Summary, lease: Lease | None) -> Iterator[tuple[str, str]]:
    metric = one_line(summary.metric)
    yield "study", one_line(summary.study)
    yield "state", _state(summary, lease, with_holder=True)
    yield "trials", f"{_finished(summary)} finished: {_counts(summary, lease)}"
    yield "elapsed", _spent(summary)
    if summary.best is None:
        complete = summary.counts[TrialState.COMPLETE]
        yield "best", why_none(complete, len(summary.excluded))
    else:
        value = show_metric(summary.metric, summary.best.value)
        yield "best", f"trial {summary.best.number}, {metric} {value}"
        yield "", show_params(summary.best.params)
    title = "running"
    span = Span.of(value for trial in summary.running for value in trial.values)
    for trial in summary.running if lease is not None else ():
        yield title, _running(trial, summary, span)
        title = ""
    yield "excluded", ", ".join(f"trial {number}" for number in summary.excluded)
    title = "failed"
    for failures in summary.failures:
        yield title, _failed(failures)
        title = ""


def _overview_row(summary: Summary, lease: Lease | None) -> list[str]:
    best = summary.best
    return [
        shorten(one_line(summary.study), 24),
        _state(summary, lease, with_holder=False),
        _finished(summary),
        str(summary.counts[TrialState.COMPLETE]),
        str(summary.counts[TrialState.PRUNED]),
        str(summary.counts[TrialState.FAILED]),
        show_duration(summary.elapsed_s),
        "" if best is None else show_metric(summary.metric, best.value),
    ]


def _state(summary: Summary, lease: Lease | None, *, with_holder: bool) -> str:
    if lease is not None:
        holder = f", led by pid {lease.holder.pid} on {one_line(lease.holder.host)}"
        return f"running{holder if with_holder else ''}"
    if summary.is_finished:
        return "finished"
    return f"not running{'; run it again to go on' if with_holder else ''}"


def _finished(summary: Summary) -> str:
    planned = summary.planned_trials
    return str(summary.num_finished) if planned is None else f"{summary.num_finished}/{planned}"


def _counts(summary: Summary, lease: Lease | None) -> str:
    """How many are in each state; what nobody leads any more was cut short, and waits."""
    order = ("complete", "pruned", "failed", "running", "waiting")
    numbers = {state: summary.counts[TrialState(state)] for state in order}
    if lease is None and numbers["running"]:
        numbers["cut short"] = numbers.pop("running")
    return ", ".join(f"{number} {state}" for state, number in numbers.items())


def _spent(summary: Summary) -> str:
    cost = "" if summary.cost is None else f", {show_cost(summary.cost, summary.currency)}"
    saved = "" if not summary.epochs_saved else f", {summary.epochs_saved} epochs saved by pruning"
    return f"{show_duration(summary.elapsed_s)}{cost}{saved}"


def _running(trial: RunningTrial, summary: Summary, span: Span) -> str:
    done = 0 if trial.epoch is None else trial.epoch + 1
    whole = "" if summary.epochs_per_trial is None else f" of {summary.epochs_per_trial}"
    value = "" if trial.value is None else f", {show_metric(summary.metric, trial.value)}"
    curve = sparkline(trial.values, span, _CURVE).strip()
    where = "" if trial.device is None else f" on {show_device(trial.device)}"
    done_so_far = f"epoch {done}{whole}{value}{' ' if curve else ''}{curve}"
    return f"trial {trial.number}{where}, {done_so_far}: {show_params(trial.params)}"


def _failed(failures: Failures) -> str:
    cause = "no cause" if failures.cause is None else failures.cause.value
    message = one_line(failures.message or "")
    return f"{failures.count} by {cause}, the first is trial {failures.first_trial}: {message}"


def _object(summary: Summary, lease: Lease | None) -> dict[str, Any]:
    return {
        "study": summary.study,
        "state": _state(summary, lease, with_holder=False),
        "leader": None if lease is None else {"host": lease.holder.host, "pid": lease.holder.pid},
        "metric": summary.metric,
        "direction": summary.direction.value,
        "planned_trials": summary.planned_trials,
        **{state.value: count for state, count in summary.counts.items()},
        "elapsed_s": round(summary.elapsed_s, 3),
        "slot_hours": round(summary.slot_hours, 6),
        "cost": summary.cost,
        "currency": summary.currency if summary.cost is not None else None,
        "best": None if summary.best is None else _best_object(summary.best),
        "excluded_trials": list(summary.excluded),
        "running_trials": [_running_object(trial) for trial in summary.running],
    }


def _best_object(best: Trial) -> dict[str, Any]:
    return {"trial": best.number, "value": best.value, "params": dict(best.params)}


def _running_object(trial: RunningTrial) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "attempt": trial.attempt,
        "device": trial.device,
        "epoch": trial.epoch,
        "value": trial.value,
        "params": dict(trial.params),
    }
