"""What Optuna itself reads in a database, its connections closed afterwards."""

import optuna


def optuna_trials(url: str, study: str) -> list[optuna.trial.FrozenTrial]:
    """The trials of a study; an empty list where Optuna knows none of that name."""
    storage = optuna.storages.RDBStorage(url)
    try:
        names = {each.study_name for each in storage.get_all_studies()}
        known = study in names
        return optuna.load_study(study_name=study, storage=storage).trials if known else []
    finally:
        storage.remove_session()
        storage.engine.dispose()
