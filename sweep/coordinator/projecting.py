"""Projecting: a stored study in Optuna's tables: kept up to date, compared, made anew, removed."""

from collections.abc import Mapping

from sweep.errors import UsageError
from sweep.records import Study, Trial
from sweep.space.space import Space
from sweep.spec.study import StudySpec
from sweep.store.store import Store
from sweep.tuner.optuna_mark import has_foreign_study
from sweep.tuner.optuna_rows import TRIALS
from sweep.tuner.optuna_tables import OptunaTables
from sweep.tuner.projection import Projection
from sweep.tuner.projection_check import projection_differences, remove_projection


def projection_of(store: Store, study: Study) -> Projection:
    """The projection of a study, to be entered while it is led."""
    return Projection(
        url=store.connection_string,
        study=study.name,
        spaces=_spaces(store, study),
        direction=study.direction,
        metric=study.metric,
        schema_lock=store.schema_lock,
    )


def refuse_foreign(store: Store, study: str) -> None:
    """Returns unless Optuna's tables have a study of that name that was not made here."""
    if has_foreign_study(store.connection_string, study):
        raise UsageError(
            f"Optuna has a study {study} of its own in that database, which stays as it is: use "
            "another database"
        )


def project_anew(store: Store, study: Study) -> None:
    """Optuna's tables say what ours say of the study, now.

    Raises UsageError where they have another one of that name.
    """
    refuse_foreign(store, study.name)
    trials = {trial.number: trial for trial in store.trials(study.id)}
    with store.schema_lock():
        tables = OptunaTables(
            store.connection_string, study.name, _spaces(store, study), study.direction
        )
    try:
        tables.write(trials, store.values(study.id, study.metric))
    finally:
        tables.close()


def differences(store: Store, study: Study, trials: tuple[Trial, ...]) -> list[tuple[int, str]]:
    """The trials that Optuna's tables tell otherwise, each with how, in one line."""
    if not store.has_table(TRIALS.name):
        return [(trial.number, "is not in Optuna's tables") for trial in trials]
    return projection_differences(
        store.connection_string,
        study.name,
        _spaces(store, study),
        trials,
        store.values(study.id, study.metric),
    )


def unproject(store: Store, study: Study) -> None:
    """Optuna's tables know nothing of the study, in any version of its space."""
    if store.has_table(TRIALS.name):
        remove_projection(store.connection_string, study.name, store.specs(study.id))


def _spaces(store: Store, study: Study) -> Mapping[int, Space]:
    specs = store.specs(study.id).items()
    return {version: StudySpec.from_json(each).space for version, each in specs}
