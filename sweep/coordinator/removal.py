"""Removal and copies of a whole study: with its rows, and what follows from them."""

from sweep.coordinator.places import mark_copied, named_folders
from sweep.coordinator.projecting import project_anew, refuse_foreign, unproject
from sweep.coordinator.taking import take_lead
from sweep.progress import Watch, unwatched
from sweep.records import Study
from sweep.store import upkeep
from sweep.store.store import Store

_LEASE_S = 600.0


def remove_study(store: Store, study: Study) -> None:
    """The database knows nothing of the study, nor do Optuna's tables in it; its files stay.

    Raises LedByAnotherError while another leads it.
    """
    with take_lead(store, study, _LEASE_S) as leadership:
        unproject(store, study)
        upkeep.remove_study(leadership)


def copy_study(
    store: Store, study: Study, target: Store, where: str, watch: Watch = unwatched
) -> Study:
    """The study is in the target too, all numbers kept, and in Optuna's tables there.

    Its files stay where they are, for both. `where` names the target to people,
    and `watch` hears of the rows that are written. Raises LedByAnotherError while another leads
    it, UsageError when the name is taken there.
    """
    refuse_foreign(target, study.name)
    with take_lead(store, study, _LEASE_S):
        copied = store.copy_study(study.id, target, watch)
        for folder in named_folders(study.name, store.attempts(study.id)):
            mark_copied(folder, where)
    if target.trials(copied.id):
        project_anew(target, copied)
    return copied
