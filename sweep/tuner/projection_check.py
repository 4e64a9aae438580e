"""The projection looked at: what Optuna's tables tell otherwise than our records; its removal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial

from sweep.records import Trial
from sweep.space.space import Space
from sweep.tuner.optuna_engine import ExistingTables
from sweep.tuner.optuna_mark import is_foreign
from sweep.tuner.optuna_rows import inner_params
from sweep.tuner.optuna_tables import optuna_name
from sweep.tuner.projected import as_optuna, projected_params

Values = Mapping[int, Mapping[int, float]]


def projection_differences(
    url: str,
    study: str,
    spaces: Mapping[int, Space],
    trials: Sequence[Trial],
    values: Values,
) -> list[tuple[int, str]]:
    """The trials that Optuna's tables lack or tell otherwise, each with how; nothing is written.

    The tables must be there: Optuna writes as soon as it looks where there are none.
    `values` is the objective by trial and epoch.
    """
    found: list[tuple[int, str]] = []
    with _storage(url) as storage:
        for version, space in spaces.items():
            ours = [trial for trial in trials if trial.space_version == version]
            theirs = _stored(storage, optuna_name(study, version))
            found += _differences(ours, theirs, values, space)
    return sorted(found)


def remove_projection(url: str, study: str, versions: Iterable[int]) -> None:
    """Optuna's tables, which must be there, hold no study by that name, in any version."""
    with _storage(url) as storage:
        names = _names(storage)
        for version in versions:
            if optuna_name(study, version) in names:
                optuna.delete_study(storage=storage, study_name=optuna_name(study, version))


@contextmanager
def _storage(url: str) -> Iterator[RDBStorage]:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = ExistingTables(url)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _names(storage: RDBStorage) -> dict[str, int]:
    """The studies in Optuna's tables with their ids, less those that somebody else has made."""
    return {
        study.study_name: study._study_id
        for study in storage.get_all_studies()
        if not is_foreign(storage, study.study_name)
    }


def _stored(storage: RDBStorage, name: str) -> list[FrozenTrial]:
    study_id = _names(storage).get(name)
    return [] if study_id is None else storage.get_all_trials(study_id, deepcopy=False)


def _differences(
    ours: Sequence[Trial], theirs: Sequence[FrozenTrial], values: Values, space: Space
) -> Iterator[tuple[int, str]]:
    projected = projected_params(space)
    for index, trial in enumerate(ours):
        wanted = as_optuna(trial, values.get(trial.number, {}), projected)
        if index >= len(theirs):
            yield trial.number, "is not in Optuna's tables"
        elif what := _what_differs(wanted, theirs[index]):
            yield trial.number, f"has another {what} in Optuna's tables"
    if len(theirs) > len(ours):
        count = len(theirs) - len(ours)
        yield len(ours), f"is followed by {count} more in Optuna's tables than there are"


def _what_differs(wanted: FrozenTrial, stored: FrozenTrial) -> str | None:
    pairs = {
        "state": (wanted.state, stored.state),
        "value": (wanted.value, None if not wanted.state.is_finished() else stored.value),
        "set of params": (inner_params(wanted), inner_params(stored)),
        "course of epochs": (wanted.intermediate_values, stored.intermediate_values),
    }
    return next((name for name, (ours, theirs) in pairs.items() if ours != theirs), None)
