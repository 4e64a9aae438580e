"""Filled Optuna tables: the projection of a made-up study, written as a run would write it."""

from sweep.records import Snapshot
from sweep.spec.study import StudySpec
from sweep.tuner.optuna_tables import OptunaTables


def fill_optuna(url: str, snapshot: Snapshot) -> None:
    """Optuna's tables hold the study of the snapshot."""
    spec = StudySpec.from_json(snapshot.study.spec)
    values: dict[int, dict[int, float]] = {}
    for epoch in snapshot.epochs:
        value = epoch.metrics[spec.objective.metric]
        assert value is not None
        values.setdefault(epoch.trial, {})[epoch.epoch] = value
    tables = OptunaTables(url, spec.study, {1: spec.space}, spec.objective.direction)
    tables.write({trial.number: trial for trial in snapshot.trials}, values)
    tables.close()
