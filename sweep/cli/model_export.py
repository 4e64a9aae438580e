"""The export of a trained model: the best trial's checkpoint as a file that stands alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sweep.cli.console import tell
from sweep.cli.files import check_place, write_whole
from sweep.errors import DamagedCheckpointError, UnusableError, UsageError
from sweep.records import Checkpoint, Snapshot
from sweep.spec.study import StudySpec
from sweep.spec.training import settle_precision
from sweep.views.display import one_line, show_metric
from sweep.views.rows import TrialRow, last_epoch


def check_export(output: str | None, top: int) -> Path | None:
    """Where to write; None for nowhere. Raises UsageError, and for a bad place as files do."""
    if output is None:
        return None
    if top != 1:
        raise UsageError("--export writes one model; leave out --top")
    check_place(Path(output))
    return Path(output)


def export_model(snapshot: Snapshot, rows: Sequence[TrialRow], path: Path) -> None:
    """The first trial of the rows is in the file, as it was judged.

    Raises UnusableError when its last checkpoint is not there, or not as it was saved.
    """
    from sweep.training.export import exported

    row = rows[0]
    spec = StudySpec.from_json(snapshot.study.spec)
    checkpoint = _checkpoint(snapshot, row, spec)
    try:
        data, _ = exported(checkpoint, spec.recipe, _facts(snapshot, row, spec))
    except DamagedCheckpointError as error:
        raise UnusableError(f"trial {row.number} cannot be exported: {error}") from error
    write_whole(path, data)
    metric = snapshot.study.metric
    tell(
        f"wrote {path}: trial {row.number} of {one_line(snapshot.study.name)}, "
        f"{one_line(metric)} {show_metric(metric, row.value)}"
    )


def _checkpoint(snapshot: Snapshot, row: TrialRow, spec: StudySpec) -> Checkpoint:
    """That of the epoch whose value is the trial's."""
    last = last_epoch([each for each in snapshot.epochs if each.trial == row.number])
    if last is not None and last.checkpoint is not None:
        return last.checkpoint
    if spec.checkpoints.keep == "none":
        why, what = "the study keeps no checkpoints (checkpoints.keep: none)", "keep them and "
    elif spec.recipe.train is not None:
        why = "its training function yielded no state at its last epoch, or it was cleaned"
        what = "yield (metrics, state) and "
    else:
        why, what = "its last checkpoint was cleaned", ""
    raise UnusableError(f"trial {row.number} cannot be exported: {why}; {what}train it again")


def _facts(snapshot: Snapshot, row: TrialRow, spec: StudySpec) -> dict[str, Any]:
    study = snapshot.study
    params = spec.flat_params(row.trial.params)
    if spec.recipe.train is None and row.device is not None:
        params = settle_precision(params, study.versions, row.device)
    return {
        "study": study.name,
        "trial": row.number,
        "metric": study.metric,
        "value": row.value,
        "params": params,
        "seed": row.trial.seed,
        "device": row.device,
        "versions": dict(study.versions),
    }
