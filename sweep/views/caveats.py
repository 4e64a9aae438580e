"""Caveat: why a study's numbers may say less than they seem to; each is one line."""

from collections.abc import Iterable, Sequence
from math import ceil

from sweep.records import Snapshot
from sweep.spec.study import StudySpec
from sweep.views.comparison import num_values, value_key
from sweep.views.display import one_line, show_count, show_list
from sweep.views.plan import plan_of
from sweep.views.rows import TrialRow, compared
from sweep.views.sharing import unequal_sharing
from sweep.views.summary import Summary

FEW_TRIALS = 10


def caveats(snapshot: Snapshot, rows: Sequence[TrialRow], summary: Summary) -> list[str]:
    """What a reader must know before believing the numbers, the gravest first."""
    kept = compared(rows)
    complete = [row for row in kept if row.is_complete]
    found = (
        _unfinished(summary),
        _excluded(rows),
        _selected_on_test(snapshot, len(complete)),
        _few(len(complete)),
        _uncontrolled(snapshot, kept),
        _single_seeds(complete),
        _several_devices(kept),
        unequal_sharing(kept),
        _short_of_memory(snapshot, kept),
    )
    return [caveat for caveat in found if caveat is not None]


def _unfinished(summary: Summary) -> str | None:
    if summary.is_finished:
        return None
    planned = "" if summary.planned_trials is None else f" of {summary.planned_trials} planned"
    return (
        f"The study is not finished: {show_count(summary.num_finished, 'finished trial')}"
        f"{planned}. The numbers will change."
    )


def _excluded(rows: Iterable[TrialRow]) -> str | None:
    numbers = [str(row.number) for row in rows if row.trial.excluded]
    if not numbers:
        return None
    trials = f"Trial{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
    return f"{trials} {'were' if len(numbers) > 1 else 'was'} set apart by hand and not compared."


def _selected_on_test(snapshot: Snapshot, num_complete: int) -> str | None:
    metric = snapshot.study.metric
    if not metric.startswith("test_") or num_complete < 2:
        return None
    return (
        f"The best of {num_complete} complete trials was chosen by {one_line(metric)}, on the "
        "same data that it is judged by: expect it to be a little worse on new data. With "
        "data.val_size and val_accuracy as the objective, the test data stays unseen to the end."
    )


def _few(num_complete: int) -> str | None:
    if num_complete == 0 or num_complete >= FEW_TRIALS:
        return None
    return (
        f"Only {show_count(num_complete, 'complete trial')}: too few to tell which params matter."
    )


def _uncontrolled(snapshot: Snapshot, rows: Iterable[TrialRow]) -> str | None:
    finished = [row.trial for row in rows if row.state.is_finished]
    differing = [
        one_line(name) for name in plan_of(snapshot).params if num_values(finished, name) > 1
    ]
    if len(differing) < 2:
        return None
    return (
        f"{show_list(differing)} vary together: a table or figure by one of them compares trials "
        "that differ in the others too, and is no controlled comparison."
    )


def _single_seeds(complete: Iterable[TrialRow]) -> str | None:
    points = [
        frozenset((name, value_key(value)) for name, value in row.trial.params.items())
        for row in complete
    ]
    if len(points) < 2 or len(set(points)) < len(points):
        return None
    return (
        "Each set of params was trained once, with one seed: a small difference between two "
        "trials may be chance."
    )


def _several_devices(rows: Iterable[TrialRow]) -> str | None:
    kinds = {_kind_of(row.device) for row in rows if row.device is not None}
    if len(kinds) < 2:
        return None
    names = ", ".join(one_line(kind) for kind in sorted(kinds))
    return f"Trials ran on different kinds of devices ({names}): their times do not compare."


def _kind_of(device: str) -> str:
    """A GPU is named by its UUID, several by theirs; the CPU by its own word."""
    return "GPU" if device.startswith(("GPU-", "MIG-")) else device.split(":")[0]


def _short_of_memory(snapshot: Snapshot, rows: Iterable[TrialRow]) -> str | None:
    spec = StudySpec.from_json(dict(snapshot.study.spec))
    if spec.recipe.train is not None:
        return None
    split = [
        row.number
        for row in rows
        if row.micro_batch is not None and row.micro_batch < _asked_at_once(spec, row)
    ]
    if not split:
        return None
    trials = f"trial{'s' if len(split) > 1 else ''} {', '.join(map(str, split))}"
    return (
        f"Memory had no room for the whole batches of {trials}: they went through in smaller "
        "parts (micro_batch), for BatchNorm another training than with whole batches."
    )


def _asked_at_once(spec: StudySpec, row: TrialRow) -> int:
    """How many images a trial's own params would put through one of its devices at once."""
    params = spec.flat_params(row.trial.params)
    num_devices = max(1, int(row.num_devices or 1))
    return ceil(ceil(int(params["batch_size"]) / num_devices) / int(params["accumulate"]))
