"""The mark on the Optuna studies that are ours: no other is ever changed."""

from optuna.storages import RDBStorage

from sweep.tuner.optuna_engine import ExistingTables

_MARK = ("made by", "sweep")


class ForeignStudyError(Exception):
    """Optuna's tables have a study of that name that was not made here; it is never changed."""


def has_foreign_study(url: str, study: str) -> bool:
    """Whether Optuna's tables have a study of that name that was not made here.

    Where they are absent they stay so.
    """
    try:
        storage = ExistingTables(url)
    except Exception:  # no tables of this Optuna's, so no study
        return False
    try:
        return is_foreign(storage, study)
    except Exception:  # no such study, or no tables
        return False
    finally:
        storage.remove_session()
        storage.engine.dispose()


def is_foreign(storage: RDBStorage, study: str) -> bool:
    """Whether a study lacks our mark; one without any trial nobody will miss."""
    study_id = storage.get_study_id_from_name(study)
    name, value = _MARK
    is_marked = storage.get_study_user_attrs(study_id).get(name) == value
    return not is_marked and storage.get_n_trials(study_id) > 0


def mark(storage: RDBStorage, study: str) -> None:
    """The study is marked as ours. Raises ForeignStudyError for one that is somebody else's."""
    if is_foreign(storage, study):
        raise ForeignStudyError(f"the study {study!r} there was not made by sweep")
    storage.set_study_user_attr(storage.get_study_id_from_name(study), *_MARK)
