"""Checkpoints kept on disk: which of a trial's files still serve, and the removal of the rest."""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from sweep.records import Checkpoint, Direction, Epoch, Trial, TrialState
from sweep.spec.study import Keep, StudySpec

_RESUMABLE = 2  # the last, and the one before in case the last turns out damaged
_PATTERNS = ("a*-e*.pt", "*.partial")


def resumable(epochs: Iterable[Epoch]) -> list[Checkpoint]:
    """The checkpoints that a trial can go on from, the latest attempt's newest first.

    Those whose files are gone are left out; whether the others are whole, the worker finds out.
    """
    saved = [each.checkpoint for each in _saved(epochs) if each.checkpoint is not None]
    there = [each for each in saved if Path(each.path).is_file()]
    return there[: -_RESUMABLE - 1 : -1]


def kept(spec: StudySpec, state: TrialState, epochs: Iterable[Epoch]) -> list[Checkpoint]:
    """The checkpoints that the study file wants of a trial in that state, by effective epochs.

    Of an open trial those to go on from and the best one; of a complete one the last and the best;
    of others none. With `keep: all`, all of them.
    """
    rule = _Rule(spec.checkpoints.keep, spec.objective.metric, spec.objective.direction)
    return [each.checkpoint for each in rule.kept(state, epochs) if each.checkpoint is not None]


def best_complete(trials: Iterable[Trial], direction: Direction) -> Trial | None:
    """The complete trial with the best value that counts, of equal ones the first."""
    best: Trial | None = None
    for trial in trials:
        if trial.state is not TrialState.COMPLETE or trial.excluded or trial.value is None:
            continue
        if best is None or direction.is_better(trial.value, best.value or 0.0):
            best = trial
    return best


def checkpoint_files(folder: Path) -> list[Path]:
    """The checkpoints in a trial's folder, whole or half written; no link is one."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = (path for pattern in _PATTERNS for path in folder.glob(pattern))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def strays(folder: Path, named: Iterable[Checkpoint]) -> list[Path]:
    """The checkpoints in a trial's folder that are none of those, by their names: a run folder
    may have been moved."""
    names = {Path(each.path).name for each in named}
    return [path for path in checkpoint_files(folder) if path.name not in names]


def remove_file(path: Path) -> None:
    """The file is gone, if that can be: one that stays costs space, nothing else."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


class KeptCheckpoints:
    """The checkpoints of one trial that are still on disk, in its folder."""

    def __init__(
        self,
        keep: Keep,
        metric: str,
        direction: Direction,
        epochs: Sequence[Epoch],
        folder: Path | None = None,
    ) -> None:
        self._rule = _Rule(keep, metric, direction)
        self._folder = folder
        self._epochs = _saved(epochs)

    def begin(self) -> None:
        """An attempt begins: files that no stored epoch names are of one that was cut short."""
        self._remove_strays()

    def add(self, epoch: Epoch) -> None:
        """Take note of a stored epoch's checkpoint and remove those that it replaces."""
        superseded = [each for each in self._epochs if _supersedes(epoch, each)]
        self._remove(superseded)
        if epoch.checkpoint is not None:
            self._epochs.append(epoch)
            self._reduce_to(self._rule.kept(TrialState.RUNNING, self._epochs))

    def finish(self, *, is_complete: bool) -> None:
        """Reduce to what is kept of a finished trial: nothing unless it is complete."""
        state = TrialState.COMPLETE if is_complete else TrialState.FAILED
        self._reduce_to(self._rule.kept(state, self._epochs))
        self._remove_strays()

    def _reduce_to(self, wanted: Sequence[Epoch]) -> None:
        self._remove([each for each in self._epochs if each not in wanted])

    def _remove(self, epochs: Sequence[Epoch]) -> None:
        for epoch in epochs:
            if epoch.checkpoint is not None and self._is_own(Path(epoch.checkpoint.path)):
                remove_file(Path(epoch.checkpoint.path))
        self._epochs = [each for each in self._epochs if each not in epochs]

    def _is_own(self, path: Path) -> bool:
        """Whether a file is in the trial's folder: one elsewhere may serve a copy of the study."""
        return self._folder is None or path.parent == self._folder

    def _remove_strays(self) -> None:
        named = [each.checkpoint for each in self._epochs if each.checkpoint is not None]
        for path in [] if self._folder is None else strays(self._folder, named):
            remove_file(path)


class _Rule:
    """What `checkpoints.keep` wants."""

    def __init__(self, keep: Keep, metric: str, direction: Direction) -> None:
        self._keep = keep
        self._metric = metric
        self._direction = direction

    def kept(self, state: TrialState, epochs: Iterable[Epoch]) -> list[Epoch]:
        saved = _saved(epochs)
        if self._keep == "all":
            return saved
        if state.is_finished and state is not TrialState.COMPLETE:
            return []
        recent = saved[-1:] if state.is_finished else saved[-_RESUMABLE:]
        best = self._best(saved)
        return [each for each in saved if each in recent or each is best]

    def _best(self, epochs: Iterable[Epoch]) -> Epoch | None:
        if self._keep != "best_and_last":
            return None
        best: Epoch | None = None
        for epoch in epochs:
            value = epoch.metrics.get(self._metric)
            if value is None:
                continue
            if best is None or self._direction.is_better(value, best.metrics[self._metric] or 0.0):
                best = epoch
        return best


def _saved(epochs: Iterable[Epoch]) -> list[Epoch]:
    """The epochs with a checkpoint, the newest of the latest attempt last."""
    saved = [epoch for epoch in epochs if epoch.checkpoint is not None]
    return sorted(saved, key=lambda epoch: (epoch.attempt, epoch.epoch))


def _supersedes(epoch: Epoch, other: Epoch) -> bool:
    """Whether a later attempt has come as far as the other one did, or it is the same epoch."""
    return other.attempt < epoch.attempt and other.epoch >= epoch.epoch
