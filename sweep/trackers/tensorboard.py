"""TensorBoard: a folder with a run for each trial, its params among the hparams.

Written with tensorboardX, which needs protobuf alone; TensorBoard's own writer brings gRPC, and
torch's brings torch.
"""

from pathlib import Path
from typing import Any

from tensorboardX import SummaryWriter
from tensorboardX.summary import hparams

from sweep.trackers.entries import Begun, Ended, Entry, Measured


class TensorBoard:
    """The runs of one study in a folder; a trial that goes on replaces what it repeats."""

    def __init__(self, study: str, metric: str, folder: Path) -> None:
        self._metric = metric
        self._folder = folder
        self._writers: dict[int, Any] = {}

    def put(self, entry: Entry) -> None:
        match entry:
            case Begun(trial=trial, first_epoch=first):
                self._close(trial)
                self._open(trial, purge_step=first)
            case Measured(trial=trial, epoch=epoch, metrics=metrics, at_s=at_s):
                writer = self._writers.get(trial) or self._open(trial)
                for name, value in metrics.items():
                    writer.add_scalar(name, value, epoch, walltime=at_s)
                writer.flush()
            case Ended():
                self._end(entry)

    def close(self) -> None:
        for trial in list(self._writers):
            self._close(trial)

    def _open(self, trial: int, purge_step: int | None = None) -> Any:
        folder = self._folder / f"trial-{trial:05d}"
        # Nothing was logged from step 0 on where a trial is new, so there is nothing to purge.
        is_new = not folder.exists()
        writer = SummaryWriter(str(folder), purge_step=None if is_new else purge_step)
        self._writers[trial] = writer
        return writer

    def _end(self, entry: Ended) -> None:
        """The params and the objective, for the page of hparams."""
        writer = self._writers.get(entry.trial) or self._open(entry.trial)
        value = {} if entry.value is None else {f"final/{self._metric}": entry.value}
        params = {**entry.params, "state": entry.state}
        for summary in hparams(params, value):
            writer.file_writer.add_summary(summary, walltime=entry.at_s)
        for name, number in value.items():
            writer.add_scalar(name, number, 0, walltime=entry.at_s)
        self._close(entry.trial)

    def _close(self, trial: int) -> None:
        writer = self._writers.pop(trial, None)
        if writer is not None:
            writer.close()
