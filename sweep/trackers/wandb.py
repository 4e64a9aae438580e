"""W&B: a project for the study with a run for each trial, offline unless WANDB_MODE says else."""

import os
from pathlib import Path
from typing import Any

import wandb

from sweep.trackers.entries import Begun, Ended, Entry, Measured


class Wandb:
    """The runs of one study, offline in a folder until `wandb sync` sends them."""

    def __init__(self, study: str, metric: str, folder: Path) -> None:
        self._study = study
        self._metric = metric
        self._folder = folder
        self._runs: dict[int, Any] = {}

    def put(self, entry: Entry) -> None:
        match entry:
            case Begun(trial=trial, params=params):
                self._finish(trial)
                self._runs[trial] = self._begin(trial, params)
            case Measured(trial=trial, epoch=epoch, metrics=metrics) if trial in self._runs:
                self._runs[trial].log({**metrics, "epoch": epoch}, step=epoch)
            case Ended(trial=trial) if trial in self._runs:
                run = self._runs[trial]
                run.summary["state"] = entry.state
                if entry.value is not None:
                    run.summary[f"final/{self._metric}"] = entry.value
                self._finish(trial)

    def close(self) -> None:
        for trial in list(self._runs):
            self._finish(trial)

    def _begin(self, trial: int, params: Any) -> Any:
        self._folder.mkdir(parents=True, exist_ok=True)
        mode: Any = os.environ.get("WANDB_MODE", "offline")
        return wandb.init(
            project=self._study,
            id=f"trial-{trial}",
            resume="allow",
            name=f"trial {trial}",
            config=dict(params),
            dir=str(self._folder),
            mode=mode,
            reinit="create_new",
            settings=wandb.Settings(silent=True, console="off"),
        )

    def _finish(self, trial: int) -> None:
        run = self._runs.pop(trial, None)
        if run is not None:
            run.finish()
