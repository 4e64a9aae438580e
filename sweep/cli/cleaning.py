"""Cleaning: the command that frees the disk of checkpoints that nothing needs."""

from typing import Annotated, Any

import typer

from sweep.cli.options import RunDirOption, StorageOption, StudyOption
from sweep.cli.values import word
from sweep.spec.kinds import OneOf

LEFT = ("last", "best", "none")


def clean(
    study: StudyOption,
    keep: Annotated[
        Any,
        typer.Option(
            metavar="|".join(LEFT),
            parser=word("--keep", OneOf(LEFT)),
            help="Of each complete trial the last checkpoint, the best trial's alone, or none.",
        ),
    ] = "last",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")
    ] = False,
    storage: StorageOption = None,
    run_dir: RunDirOption = None,
) -> None:
    """Remove checkpoints of finished trials that nothing needs.

    What a trial needs to go on stays, and so does every number.
    """
    from sweep.cli.console import tell
    from sweep.cli.planning import place_of_runs
    from sweep.cli.studies import storage_url, stored, stored_study
    from sweep.coordinator.cleaning import Left, waste_of
    from sweep.coordinator.cleaning import clean as cleaned
    from sweep.coordinator.folders import study_folder
    from sweep.sizes import show_size
    from sweep.views.display import show_count

    with stored(storage) as store:
        found = stored_study(store, study)
        act = waste_of if dry_run else cleaned
        folder = study_folder(place_of_runs(run_dir), found.name, storage_url(storage))
        waste = act(store, found, folder, Left(keep))
    size = f"{show_count(len(waste.files), 'checkpoint')}, {show_size(waste.num_bytes)}"
    tell(f"would remove {size}" if dry_run else f"removed {size}")
