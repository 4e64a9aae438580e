"""MLflow: an experiment for the study with a run for each trial.

Where MLFLOW_TRACKING_URI is set they go there, else into a folder.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from sweep.errors import UnusableError
from sweep.trackers.entries import Begun, Ended, Entry, Measured

_STATES = {"complete": "FINISHED", "pruned": "KILLED", "failed": "FAILED"}
_TRIAL = "sweep.trial"
_SETTINGS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
"""What holds where the environment does not say: a server that is away is told of in seconds, and
not after the quarter of an hour that MLflow would try."""


class Mlflow:
    """The runs of one study; a trial that goes on keeps its run."""

    def __init__(self, study: str, metric: str, folder: Path) -> None:
        self._metric = metric
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        uri = os.environ.get("MLFLOW_TRACKING_URI")
        if uri is None:
            # The store of files is all that needs no database; MLflow wants to be told so.
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
            uri = folder.absolute().as_uri()
        self._client = MlflowClient(tracking_uri=uri)
        self._experiment = self._found_experiment(study, uri)
        self._runs: dict[int, str] = {}

    def put(self, entry: Entry) -> None:
        match entry:
            case Begun(trial=trial):
                self._runs[trial] = self._begin(entry)
            case Measured(trial=trial, epoch=epoch, metrics=metrics) if trial in self._runs:
                rows = [Metric(name, value, _ms(entry), epoch) for name, value in metrics.items()]
                self._client.log_batch(self._runs[trial], metrics=rows)
            case Ended(trial=trial) if trial in self._runs:
                run = self._runs.pop(trial)
                if entry.value is not None:
                    final = f"final/{self._metric}"
                    self._client.log_metric(run, final, entry.value, timestamp=_ms(entry))
                self._client.set_tag(run, "sweep.state", entry.state)
                self._client.set_terminated(run, _STATES[entry.state], _ms(entry))

    def _found_experiment(self, study: str, uri: str) -> str:
        """The study's experiment, made where there is none. Raises UnusableError where a server
        does not let it; its address is told without what opens it."""
        try:
            found = self._client.get_experiment_by_name(study)
            return found.experiment_id if found else self._client.create_experiment(study)
        except MlflowException as error:
            host = urlsplit(uri).hostname
            if host is None:
                raise
            port = urlsplit(uri).port
            place = host if port is None else f"{host}:{port}"
            raise UnusableError(
                f"the MLflow server at {place} does not do what is asked of it; look there, or "
                "correct MLFLOW_TRACKING_URI"
            ) from error

    def close(self) -> None:
        """Every entry is written already."""

    def _begin(self, entry: Begun) -> str:
        trial = entry.trial
        found = self._client.search_runs(
            [self._experiment], filter_string=f"tags.`{_TRIAL}` = '{trial}'", max_results=1
        )
        if found:
            return str(found[0].info.run_id)
        run = self._client.create_run(
            self._experiment,
            start_time=_ms(entry),
            tags={_TRIAL: str(trial)},
            run_name=f"trial {trial}",
        )
        rows = [Param(name, str(value)) for name, value in entry.params.items()]
        self._client.log_batch(run.info.run_id, params=rows)
        return str(run.info.run_id)


def _ms(entry: Entry) -> int:
    return round(entry.at_s * 1000)
