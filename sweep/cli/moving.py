"""Moving: the commands that delete a stored study, or copy it to another database."""

from typing import Annotated

import typer

from sweep.cli.options import RunDirOption, StorageOption, StudyOption


def delete(
    study: StudyOption,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    storage: StorageOption = None,
    run_dir: RunDirOption = None,
) -> None:
    """Delete a study: what is stored of it, and its folder of checkpoints and logs."""
    from sweep.cli.console import tell
    from sweep.cli.deletion import delete_study, is_sure
    from sweep.cli.studies import stored, stored_study

    with stored(storage) as store:
        found = stored_study(store, study)
        if yes or is_sure(store, found, run_dir):
            delete_study(store, found, run_dir)
        else:
            tell("nothing was deleted")


def copy(
    study: StudyOption,
    to: Annotated[str, typer.Option(metavar="URL", help="The database to copy it to.")],
    storage: StorageOption = None,
) -> None:
    """Copy a study to another database, all its numbers kept.

    Checkpoints and logs stay where they are, for both.
    """
    from sweep.cli.console import tell
    from sweep.cli.deletion import copied_text
    from sweep.cli.progress import shown_progress
    from sweep.cli.studies import stored, stored_study
    from sweep.coordinator.removal import copy_study
    from sweep.coordinator.sharing import files_of_ones_own
    from sweep.store.store import open_store
    from sweep.store.url import hide_password
    from sweep.views.display import one_line

    with files_of_ones_own(for_group=False), stored(storage) as store:
        found = stored_study(store, study)
        with (
            open_store(to, create=True) as target,
            shown_progress(f"copying {one_line(study)}") as watch,
        ):
            copied = copy_study(store, found, target, hide_password(to), watch)
            told = copied_text(target, copied, hide_password(to))
        tell(told)
